/* The shelf, through the public API alone: every kernel against its reference with random and
 * extreme inputs, with guard bands around every array, and in chains whose four modes must agree to
 * the bit. Exits 77 where there is no GPU, unless GRIDDEP_REQUIRE_GPU=1; GRIDDEP_DRIVER=emulated
 * runs the same cases, with smaller shapes, on the emulated driver. An argument is what the names
 * of the kernels to test begin with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../sanitized.h"
#include "shelf.h"

static const shelf_case *const case_lists[] = {attention_cases, elementwise_cases, embedding_cases,
                                               gemm_cases,      linear_cases,      norm_cases,
                                               sampling_cases,  softmax_cases,     test_cases};
static const shelf_link *const link_lists[] = {attention_links, elementwise_links, embedding_links,
                                               gemm_links,      linear_links,      norm_links,
                                               sampling_links,  softmax_links,     test_links};

enum { LISTS = sizeof case_lists / sizeof case_lists[0] };

static const char *wanted = ""; /* what the kernels' names begin with that are tested */

static bool is_wanted(const char *kernel)
{
    return strncmp(kernel, wanted, strlen(wanted)) == 0;
}

/* The index-th of all lists; NULL behind the last. */
static const shelf_case *case_at(int index)
{
    for (int list = 0; list < LISTS; list++) {
        for (const shelf_case *item = case_lists[list]; item->kernel != NULL; item++) {
            if (is_wanted(item->kernel) && index-- == 0)
                return item;
        }
    }
    return NULL;
}

static const shelf_link *link_at(int index)
{
    for (int list = 0; list < LISTS; list++) {
        for (const shelf_link *item = link_lists[list]; item->kernel != NULL; item++) {
            if (is_wanted(item->kernel) && index-- == 0)
                return item;
        }
    }
    return NULL;
}

START_TEST(test_launch)
{
    const shelf_case *test = case_at(_i);
    /* Chains run every kernel, and kernels that differ by a type stand together. */
    if (!round_takes_place(_i, 3, 9))
        return;
    shelf_random_state = 1 + (uint64_t)_i;
    shelf_kernel kernel = shelf_load(test->kernel, test->capability);
    test->run(&kernel);
    griddep_module_unload(kernel.module);
}
END_TEST

START_TEST(test_chain)
{
    shelf_random_state = 100 + (uint64_t)_i;
    shelf_check_chain(link_at(_i), 0);
}
END_TEST

/* What older chips get, and newer ones. */
START_TEST(test_chain_of_others)
{
    static const int32_t capabilities[] = {80, 100};
    shelf_random_state = 200 + (uint64_t)_i;
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++) {
        if (shelf_has_variant(link_at(_i)->kernel, capabilities[i]))
            shelf_check_chain(link_at(_i), capabilities[i]);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels");
    TCase *launches = tcase_create("launch");
    TCase *chains = tcase_create("chain");
    int cases = 0, links = 0;
    while (case_at(cases) != NULL)
        cases += 1;
    while (link_at(links) != NULL)
        links += 1;
    tcase_add_loop_test(launches, test_launch, 0, cases);
    tcase_add_loop_test(chains, test_chain, 0, links);
    tcase_add_loop_test(chains, test_chain_of_others, 0, links);
    suite_add_tcase(suite, launches);
    suite_add_tcase(suite, chains);
    return suite;
}

/* Opens a GPU that has every kernel of the shelf, or says why not. */
static bool open_gpu(void)
{
    griddep_runtime_info info = {.size = sizeof info};
    griddep_error_init(&shelf_error);
    if (griddep_runtime_open(NULL, &shelf_runtime, &shelf_error) != GRIDDEP_OK ||
        griddep_runtime_get_info(shelf_runtime, &info, &shelf_error) != GRIDDEP_OK) {
        printf("skipped: no GPU: %s\n", shelf_error.text);
        return false;
    }
    if ((info.features & GRIDDEP_FEATURE_PDL) == 0 || info.pdl_disabled != 0) {
        printf("skipped: no GPU of dependent launch: %s, or GRIDDEP_PDL switched it off\n",
               info.device_name);
        griddep_runtime_close(shelf_runtime);
        return false;
    }
    shelf_on_gpu = info.emulated == 0;
    printf("test_kernels: on %s\n", info.device_name);
    return true;
}

int main(int count, char **arguments)
{
    wanted = count > 1 ? arguments[1] : "";
    const char *required = getenv("GRIDDEP_REQUIRE_GPU");
    setenv("GRIDDEP_DRIVER", "nvidia", 0); /* the emulated driver is not to take a GPU's place */
    if (!open_gpu())
        return required != NULL && strcmp(required, "1") == 0 ? EXIT_FAILURE : 77;
    SRunner *runner = srunner_create(make_suite());
    srunner_set_fork_status(runner, CK_NOFORK); /* a CUDA context does not survive fork */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    griddep_runtime_close(shelf_runtime);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
