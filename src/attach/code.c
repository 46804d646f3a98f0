/* Images are opened late: most modules of a large program launch nothing. */
#include "attach/code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/image.h"
#include "attach/place.h"
#include "base/cubin.h"
#include "base/fatbin.h"
#include "griddep.h"
#include "ptx/check/launches.h"
#include "ptx/flow/early.h"

struct gd_code {
    char *path;  /* of the file that has the image; NULL: it is here, or was opened */
    char *image; /* NULL: in a file, or was opened */
    uint64_t offset, bytes;
    bool opened;
    char *cubin, *text; /* what the driver takes of it; NULL */
    uint64_t cubin_bytes, text_bytes;
    griddep_ptx *ptx; /* of the text; NULL: not asked yet, or it cannot be read */
    bool parsed;
    gd_check_facts *facts; /* of it; NULL: nobody has asked yet */
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

gd_code *gd_code_keep(const void *image)
{
    gd_code *made = calloc(1, sizeof *made);
    gd_place_file file;

    if (!made)
        return NULL;
    const void *begins = gd_image_measure(image, &made->bytes);
    if (made->bytes && gd_place_find_file(begins, made->bytes, &file)) {
        made->path = strdup(file.path);
        made->offset = file.offset;
    } else if (made->bytes) {
        made->image = copy_of(begins, made->bytes);
    }
    if (made->path || made->image)
        return made;
    free(made);
    return NULL;
}

gd_code *gd_code_keep_file(const char *path)
{
    struct stat told;
    gd_code *made = stat(path, &told) || !S_ISREG(told.st_mode) ? NULL : calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->bytes = (uint64_t)told.st_size;
    made->path = realpath(path, NULL);
    if (made->path)
        return made;
    free(made);
    return NULL;
}

/* The image, to free; NULL. */
static char *read_image(gd_code *code)
{
    char *taken = code->image;
    uint64_t done = 0;
    ssize_t got = 1;

    code->image = NULL;
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

static void open_fatbin(gd_code *code, gd_view fatbin, int32_t chip)
{
    gd_fatbin_entry entry;

    if (gd_fatbin_check(fatbin))
        return;
    if (gd_fatbin_choose(fatbin, GD_FATBIN_CUBIN, chip, &entry))
        gd_fatbin_unpack(&entry, &code->cubin, &code->cubin_bytes);
    if (gd_fatbin_choose(fatbin, GD_FATBIN_PTX, chip, &entry))
        gd_fatbin_unpack(&entry, &code->text, &code->text_bytes);
}

static void open_code(gd_code *code, int32_t chip)
{
    char *image = read_image(code);
    gd_view view = {(const unsigned char *)image, code->bytes}, text;
    gd_emulated_head head;
    uint32_t magic = 0;

    code->opened = true;
    if (!image)
        return;
    gd_view_copy(view, 0, &magic, sizeof magic);
    if (magic == GD_FATBIN_MAGIC) {
        open_fatbin(code, view, chip);
    } else if (gd_emulated_text(view, &head, &text)) { /* what the emulated driver links is PTX */
        code->text_bytes = text.size;
        code->text = copy_of(text.bytes, text.size);
    } else if (!memcmp(&magic, ELFMAG, SELFMAG)) {
        code->cubin_bytes = code->bytes;
        code->cubin = image;
        return;
    } else {
        code->text_bytes = strlen(image);
        code->text = image;
        return;
    }
    free(image);
}

static const griddep_ptx *parse(gd_code *code)
{
    if (!code->parsed && code->text &&
        griddep_ptx_parse(code->text, code->text_bytes, NULL, &code->ptx, NULL) != GRIDDEP_OK)
        code->ptx = NULL;
    code->parsed = true;
    return code->ptx;
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

static bool find_entry(gd_code *code, const char *kernel, uint32_t *traits)
{
    const griddep_ptx *ptx = parse(code);
    griddep_ptx_entry_info info = {.size = sizeof info};

    for (uint32_t i = 0; ptx && griddep_ptx_get_entry(ptx, i, &info, NULL) == GRIDDEP_OK; i++) {
        if (!strcmp(info.name, kernel)) {
            *traits = info.traits;
            return true;
        }
    }
    return false;
}

/* What the PTX says where the machine code says `reason`: threads may leave in front of the wait
 * while others wait, since the grid ends behind its prerequisites then. */
static int32_t reason_of_text(gd_code *code, const char *kernel, int32_t reason)
{
    gd_early_touch touch;
    bool ordered = false;

    if (!code->facts && !(code->facts = gd_check_facts_create()))
        return GRIDDEP_REASON_RACE;
    if (gd_check_touches_early(code->facts, code->ptx, kernel, &touch, &ordered, NULL) !=
        GRIDDEP_OK)
        return GRIDDEP_REASON_RACE;
    if (reason != GRIDDEP_REASON_SET && !ordered)
        return reason;
    return touch == GD_EARLY_TOUCH_NOTHING ? GRIDDEP_REASON_SET : GRIDDEP_REASON_RACE;
}

int32_t gd_code_reason(gd_code *code, const char *kernel, uint32_t chip)
{
    uint32_t of_text = 0;

    if (!code->opened)
        open_code(code, (int32_t)chip);
    const uint32_t machine = traits_of_cubin(code, kernel);
    if (machine && !(machine & GRIDDEP_TRAIT_WAITS))
        return gd_early_kernel(machine);
    const bool is_text = find_entry(code, kernel, &of_text);
    const int32_t reason = gd_early_kernel(machine ? machine : of_text);
    if (is_text && of_text & GRIDDEP_TRAIT_WAITS) /* that for older chips may have none */
        return reason_of_text(code, kernel, reason);
    return reason == GRIDDEP_REASON_SET && machine & GRIDDEP_TRAIT_TOUCHES_EARLY
               ? GRIDDEP_REASON_RACE
               : reason;
}

void gd_code_free(gd_code *code)
{
    if (!code)
        return;
    gd_check_facts_destroy(code->facts);
    griddep_ptx_destroy(code->ptx);
    free(code->path);
    free(code->image);
    free(code->cubin);
    free(code->text);
    free(code);
}
