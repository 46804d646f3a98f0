/* Texts that come with a program. */
#include "attach/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/image.h"
#include "ptx/handle/ptx.h"

griddep_ptx *gd_text_parse(const void *image)
{
    griddep_ptx *ptx = NULL;
    char *text = gd_image_text(image);

    if (text && griddep_ptx_parse(text, strlen(text), NULL, &ptx, NULL) != GRIDDEP_OK)
        ptx = NULL;
    free(text);
    return ptx;
}

uint32_t gd_text_traits(const griddep_ptx *ptx, const char *entry)
{
    griddep_ptx_entry_info info = {.size = sizeof info};

    for (uint32_t i = 0; griddep_ptx_get_entry(ptx, i, &info, NULL) == GRIDDEP_OK; i++) {
        if (!strcmp(info.name, entry))
            return info.traits;
    }
    return 0;
}

bool gd_text_touches_early(gd_check_facts *facts, const griddep_ptx *ptx, const char *entry)
{
    gd_early_touch touch;

    return gd_check_touches_early(facts, ptx, entry, &touch, NULL, NULL) != GRIDDEP_OK ||
           touch != GD_EARLY_TOUCH_NOTHING;
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
    griddep_ptx *ptx = gd_text_parse(image);
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
