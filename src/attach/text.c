/* Texts that come with a program, rewritten. */
#include "attach/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/image.h"
#include "attach/next.h"
#include "ptx/handle/ptx.h"

/* Of the current device (90 for sm_90); 0: none is. */
static int32_t find_chip(void)
{
    gd_CUdevice device;
    int major = 0, minor = 0;

    if (GD_NEXT(cuCtxGetDevice, &device) ||
        GD_NEXT(cuDeviceGetAttribute, &major, GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                device) ||
        GD_NEXT(cuDeviceGetAttribute, &minor, GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                device))
        return 0;
    return major * 10 + minor;
}

static griddep_ptx *parse(const void *image)
{
    griddep_ptx *ptx = NULL;
    char *text = gd_image_text(image, find_chip());

    if (text && griddep_ptx_parse(text, strlen(text), NULL, &ptx, NULL) != GRIDDEP_OK)
        ptx = NULL;
    free(text);
    return ptx;
}

/* Takes the text over and gives back the one that came of it. The wait stands in front of every
 * access to global memory; the trigger behind it, so that no more than two grids wait at once. */
static griddep_ptx *rewrite_entry(griddep_ptx *ptx, const char *entry)
{
    const griddep_rewrite_options options = {.size = sizeof options,
                                             .entry = entry,
                                             .wait = GRIDDEP_WAIT_INSERT,
                                             .trigger = GRIDDEP_TRIGGER_AFTER_WAIT};
    griddep_ptx *rewritten = NULL;

    if (griddep_ptx_rewrite(ptx, &options, &rewritten, NULL, NULL) != GRIDDEP_OK)
        return ptx;
    griddep_ptx_destroy(ptx);
    return rewritten;
}

char *gd_text_rewrite(const void *image)
{
    griddep_ptx *ptx = parse(image);
    griddep_ptx_entry_info info = {.size = sizeof info};
    bool changed = false;

    for (uint32_t i = 0; ptx && griddep_ptx_get_entry(ptx, i, &info, NULL) == GRIDDEP_OK; i++) {
        char *entry = info.traits & GRIDDEP_TRAIT_WAITS ? NULL : strdup(info.name);
        griddep_ptx *before = ptx;
        if (entry)
            ptx = rewrite_entry(ptx, entry);
        changed |= ptx != before;
        free(entry);
    }
    char *text = changed ? strdup(ptx->module.text) : NULL;
    griddep_ptx_destroy(ptx);
    return text;
}
