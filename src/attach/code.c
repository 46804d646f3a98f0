/* Images are opened late: most modules of a large program launch nothing. By the library's own
 * analysis and rewriter. */
#include "attach/code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/image.h"
#include "attach/next.h"
#include "base/cubin.h"
#include "base/fatbin.h"
#include "griddep.h"
#include "ptx/check/launches.h"
#include "ptx/handle/ptx.h"

struct gd_code {
    char *path;  /* of the file that has the image; NULL: it is here */
    char *image; /* NULL: in a file */
    uint64_t offset, bytes;
    bool opened, parsed, silent; /* silent: its text tells no extents */
    char *cubin;                 /* what the driver takes of it, or the image itself; NULL */
    uint64_t cubin_bytes;
    griddep_ptx *ptx;      /* NULL: nobody has asked, or it has none that can be read */
    gd_check_facts *facts; /* of it; NULL likewise */
};

static char *copy_of(const void *bytes, uint64_t size)
{
    char *made = malloc((size_t)size + 1);

    if (!made)
        return NULL;
    memcpy(made, bytes, (size_t)size);
    made[size] = '\0';
    return made;
}

gd_code *gd_code_keep(const void *image, uint64_t bytes, const gd_place_file *file)
{
    gd_code *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->bytes = bytes;
    made->offset = file ? file->offset : 0;
    made->path = file ? strdup(file->path) : NULL;
    made->image = file ? NULL : copy_of(image, bytes);
    if (made->path || made->image)
        return made;
    free(made);
    return NULL;
}

/* The image: the copy of it, or to free what the file has; NULL. */
static char *read_image(gd_code *code)
{
    char *taken = code->image;
    uint64_t done = 0;
    ssize_t got = 1;

    if (taken)
        return taken;
    const int file = open(code->path, O_RDONLY | O_CLOEXEC);
    taken = file < 0 ? NULL : malloc((size_t)code->bytes + 1);
    while (taken && done < code->bytes && got > 0) {
        got = pread(file, taken + done, (size_t)(code->bytes - done), (off_t)(code->offset + done));
        done += got > 0 ? (uint64_t)got : 0;
    }
    if (file >= 0)
        close(file);
    if (taken && done == code->bytes) {
        taken[done] = '\0';
        return taken;
    }
    free(taken);
    return NULL;
}

/* What the driver takes of a fatbin that was checked, to free; NULL. */
static char *unpack(gd_view fatbin, uint16_t kind, int32_t chip, uint64_t *bytes)
{
    gd_fatbin_entry entry;
    char *data = NULL;

    return gd_fatbin_choose(fatbin, kind, chip, &entry) && !gd_fatbin_unpack(&entry, &data, bytes)
               ? data
               : NULL;
}

static bool has_magic(gd_view image, uint32_t magic)
{
    uint32_t found = 0;

    return gd_view_copy(image, 0, &found, sizeof found) && found == magic;
}

static bool is_elf(gd_view image)
{
    return image.size >= SELFMAG && !memcmp(image.bytes, ELFMAG, SELFMAG);
}

/* PTX in an image, as unpack; what the emulated driver links is PTX. */
static char *find_text(gd_view image, int32_t chip, uint64_t *bytes)
{
    gd_emulated_head head;
    gd_view text = image;

    if (has_magic(image, GD_FATBIN_MAGIC))
        return gd_fatbin_check(image) ? NULL : unpack(image, GD_FATBIN_PTX, chip, bytes);
    if (!gd_emulated_text(image, &head, &text)) {
        if (is_elf(image))
            return NULL;
        text.size = strlen((const char *)image.bytes);
    }
    *bytes = text.size;
    return copy_of(text.bytes, text.size);
}

static griddep_ptx *parse(const char *text, uint64_t bytes)
{
    griddep_ptx *ptx = NULL;

    return griddep_ptx_parse(text, bytes, NULL, &ptx, NULL) == GRIDDEP_OK ? ptx : NULL;
}

static void open_cubin(gd_code *code, int32_t chip)
{
    char *image = read_image(code);
    const gd_view view = {(const unsigned char *)image, image ? code->bytes : 0};

    code->opened = true;
    code->cubin_bytes = view.size;
    if (has_magic(view, GD_FATBIN_MAGIC) && !gd_fatbin_check(view))
        code->cubin = unpack(view, GD_FATBIN_CUBIN, chip, &code->cubin_bytes);
    else if (is_elf(view))
        code->cubin = image;
    if (image != code->image && image != code->cubin)
        free(image);
}

/* `word`: only a text that has it is parsed; NULL: any. */
static void open_text(gd_code *code, int32_t chip, const char *word)
{
    char *image = read_image(code);
    const gd_view view = {(const unsigned char *)image, image ? code->bytes : 0};
    uint64_t bytes = 0;
    char *text = image ? find_text(view, chip, &bytes) : NULL;

    code->silent = word && (!text || !strstr(text, word));
    code->parsed = !code->silent;
    code->ptx = text && !code->silent ? parse(text, bytes) : NULL;
    code->facts = code->ptx ? gd_check_facts_create() : NULL;
    free(text);
    if (image != code->image)
        free(image);
}

static uint32_t traits_of_cubin(const gd_code *code, const char *kernel)
{
    gd_cubin cubin;
    uint32_t traits = 0;

    if (code->cubin &&
        !gd_cubin_open((gd_view){(const unsigned char *)code->cubin, code->cubin_bytes}, &cubin) &&
        gd_cubin_traits(&cubin, kernel, &traits))
        traits = 0;
    return traits;
}

/* Nobody unpacks the text where the machine code has decided. */
int32_t gd_code_reason(gd_code *code, const char *kernel, uint32_t chip)
{
    if (!code->opened)
        open_cubin(code, (int32_t)chip);
    const uint32_t machine = traits_of_cubin(code, kernel);
    if (!gd_early_is_decided(machine) && !code->parsed)
        open_text(code, (int32_t)chip, NULL);
    return gd_early_look(code->facts, machine, code->ptx, kernel).reason;
}

const griddep_ptx *gd_code_extents(gd_code *code, const char *kernel, uint32_t chip,
                                   uint32_t *entry)
{
    if (!code->parsed && !code->silent)
        open_text(code, (int32_t)chip, "extent");
    return code->ptx && gd_ptx_find_entry(code->ptx, kernel, entry) && code->ptx->terms &&
                   code->ptx->terms[*entry].extent_count
               ? code->ptx
               : NULL;
}

void gd_code_free(gd_code *code)
{
    if (!code)
        return;
    gd_check_facts_destroy(code->facts);
    griddep_ptx_destroy(code->ptx);
    free(code->path);
    if (code->cubin != code->image)
        free(code->cubin);
    free(code->image);
    free(code);
}

/* ---- rewritten ---- */

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

/* Without a device, of a fatbin that has no machine code at all. */
static char *text_of_fatbin(gd_view fatbin, int32_t chip)
{
    gd_fatbin_entry text, cubin;
    uint64_t at = 0, bytes;

    if (gd_fatbin_check(fatbin) ||
        !gd_fatbin_choose(fatbin, GD_FATBIN_PTX, chip ? chip : INT32_MAX, &text))
        return NULL;
    while (!chip && gd_fatbin_next(fatbin, &at, &cubin)) {
        if (cubin.kind == GD_FATBIN_CUBIN)
            return NULL;
    }
    if (chip && gd_fatbin_choose(fatbin, GD_FATBIN_CUBIN, chip, &cubin) && cubin.chip != text.chip)
        return NULL;
    return unpack(fatbin, GD_FATBIN_PTX, chip ? chip : INT32_MAX, &bytes);
}

static char *text_for_device(const void *image)
{
    gd_view view = {NULL, 0};

    view.bytes = gd_image_measure(image, &view.size);
    if (has_magic(view, GD_FATBIN_MAGIC))
        return text_of_fatbin(view, find_chip());
    return view.size >= sizeof(uint32_t) && !is_elf(view) ? copy_of(view.bytes, view.size) : NULL;
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

char *gd_code_rewrite(const void *image)
{
    char *given = text_for_device(image);
    griddep_ptx *ptx = given ? parse(given, strlen(given)) : NULL;
    griddep_ptx_entry_info info = {.size = sizeof info};
    bool changed = false;

    free(given);
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
