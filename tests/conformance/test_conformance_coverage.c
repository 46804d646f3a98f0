/* The last suite: that the cases before it have asked for everything. It counts only where all of
 * them ran. */
#include "conformance.h"

static const struct {
    const char *symbol;
    entry_id id;
} entries[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, {#symbol, ENTRY_##symbol}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

/* Whether all suites ran: check's own variables choose parts. */
static bool is_whole_run(void)
{
    return !getenv("CK_RUN_CASE") && !getenv("CK_RUN_SUITE");
}

/* Whether an entry point succeeds with a second device alone, and there is none. */
static bool lacks_device(entry_id id)
{
    int count = 0;

    return (id == ENTRY_cuCtxEnablePeerAccess || id == ENTRY_cuCtxDisablePeerAccess ||
            id == ENTRY_cuDeviceGetP2PAttribute) &&
           !on_emulator && raw(cuDeviceGetCount, (&count)) == GD_CUDA_SUCCESS && count < 2;
}

TEST_GROUP(coverage, setup_driver, teardown_driver);

/* Some errors are undefined on a real driver, so that only the emulator is held to have each. */
TEST(coverage, every_entry_point_has_a_case)
{
    if (!is_whole_run())
        return;
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        if (lacks_device(entries[i].id))
            continue;
        if (!calls_good(entries[i].id) || (on_emulator && !calls_bad(entries[i].id))) {
            char message[128];
            snprintf(message, sizeof message, "no case calls %s %s", entries[i].symbol,
                     calls_good(entries[i].id) ? "with an error" : "with success");
            driver_differs(message, __FILE__, __LINE__);
        }
    }
}

/* Programs that link with the driver find the exported names. */
TEST(coverage, every_entry_point_is_exported)
{
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        if (!is_exported(entries[i].symbol))
            driver_differs(entries[i].symbol, __FILE__, __LINE__);
    }
}

/* A program that was linked with a toolkit's stub does not start where one symbol is missing. */
TEST(coverage, every_symbol_of_a_driver_is_exported)
{
    static const char *const symbols[] = {
#define WITH_NONE(symbol) #symbol
#define WITH_PTDS(symbol) #symbol, #symbol "_ptds"
#define WITH_PTSZ(symbol) #symbol, #symbol "_ptsz"
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments) WITH_##variant(symbol),
#include "cuda/driver.def"
#undef GD_DRIVER
    };

    ck_assert_uint_gt(COUNT_OF(symbols), 600);
    for (size_t i = 0; on_emulator && i < COUNT_OF(symbols); i++) {
        if (!is_exported(symbols[i]))
            driver_differs(symbols[i], __FILE__, __LINE__);
    }
}

static const struct {
    const char *symbol, *name;
    int version;
} unsupported[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_REFUSED(offer, {#symbol, #name, version}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

/* Entry points by name only. They take no arguments there; a real driver's do. */
TEST(coverage, the_rest_is_not_supported)
{
    if (DIFFERS(UNSUPPORTED_ENTRIES))
        return;
    for (size_t i = 0; i < COUNT_OF(unsupported); i++) {
        gd_CUresult (*function)(void) = NULL;
        void *found = NULL;
        gd_CUdriverProcAddressQueryResult status = -1;
        good(cuGetProcAddress_v2,
             (unsupported[i].name, &found, unsupported[i].version, 0, &status));
        ck_assert_msg(found != NULL, "%s of version %d: status %d", unsupported[i].name,
                      unsupported[i].version, status);
        memcpy(&function, &found, sizeof function);
        ck_assert_msg(function() == GD_CUDA_ERROR_NOT_SUPPORTED, "%s", unsupported[i].symbol);
        ck_assert_msg(is_exported(unsupported[i].symbol), "%s is not exported",
                      unsupported[i].symbol);
    }
}

/* Instructions that have no case, because the emulator does not carry them out. */
static const char *const without_case[] = {
#define GD_OP(identifier, name) name,
#include "not_executed.def"
#undef GD_OP
};

static bool is_without_case(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(without_case); i++) {
        if (!strcmp(without_case[i], name))
            return true;
    }
    return false;
}

TEST(coverage, every_instruction_has_a_case)
{
    static const char *const names[] = {
#define GD_OP(identifier, name, control, memory, sync) name,
#include "ptx/text/ops.def"
#undef GD_OP
    };

    if (!is_whole_run())
        return;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (is_instruction_seen((int)i) == is_without_case(names[i]))
            driver_differs(names[i], __FILE__, __LINE__);
    }
}

SUITE(coverage, "coverage")
