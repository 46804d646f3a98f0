/* From which size on NCCL is faster than our kernels between two devices, in the store. The entry
 * is text:
 *
 *   griddep hops 1
 *   nccl_bytes BYTES
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "run/group/group.h"
#include "run/store.h"

#define FIRST_LINE "griddep hops 1\n"
#define NUMBER "nccl_bytes "

static gd_store_key make_key(const griddep_runtime *runtime)
{
    gd_digest digest;
    gd_store_key key;

    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, FIRST_LINE);
    gd_runtime_add_to_key(runtime, &digest);
    gd_digest_end(&digest, key.digest);
    return key;
}

static void write_entry(gd_text *entry, uint64_t bytes)
{
    gd_text_format(entry, FIRST_LINE NUMBER "%" PRIu64 "\n", bytes);
}

/* The number of an entry that we would write so; 0: we would not. */
static uint64_t read_entry(const char *data, size_t bytes)
{
    const size_t before = sizeof FIRST_LINE NUMBER - 1;
    const uint64_t number = bytes > before ? strtoull(data + before, NULL, 10) : 0;
    gd_text same = {0};

    write_entry(&same, number);
    const bool good = !same.failed && same.bytes == bytes && !memcmp(same.data, data, bytes);
    gd_text_free(&same);
    return good ? number : 0;
}

uint64_t gd_group_recall_crossing(const griddep_runtime *runtime)
{
    const gd_store_key key = make_key(runtime);
    char *data = NULL;
    size_t bytes = 0;

    if (!gd_store_load(runtime->store, &key, &data, &bytes))
        return GD_GROUP_CROSSING;
    const uint64_t number = read_entry(data, bytes);
    free(data);
    if (!number)
        gd_log_write(&runtime->log, GRIDDEP_LOG_WARNING,
                     "what the store remembers of hops cannot be read");
    return number ? number : GD_GROUP_CROSSING;
}

int32_t gd_group_remember_crossing(const griddep_runtime *runtime, uint64_t bytes,
                                   griddep_error *error)
{
    const gd_store_key key = make_key(runtime);
    gd_text entry = {0};

    write_entry(&entry, bytes);
    int32_t status = entry.failed ? gd_error_memory(error) : GRIDDEP_OK;
    if (!status && !gd_store_save(runtime->store, &key, entry.data, entry.bytes))
        status = gd_error_set(error, GRIDDEP_ERROR_FILE, "nccl_bytes is not remembered: %s",
                              runtime->store ? "the store cannot be written"
                                             : "the runtime has no store");
    gd_text_free(&entry);
    return status;
}
