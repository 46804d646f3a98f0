/* The tests of a program, which are in its suite because they stand in the file. After
 * TEST_GROUP(name, setup, teardown), TEST(name, what_is_so) { ... } is a test of that group, and
 * LOOP_TEST(name, what_is_so, count) { ... } one for each `_i` below count. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

typedef struct test_group {
    const char *name;
    SFun setup, teardown;
    TCase *tests;
} test_group;

typedef struct suite_test {
    const TTest *test;
    test_group *group;
    int count; /* of a loop; 0: none */
    struct suite_test *next;
} suite_test;

static suite_test *suite_tests; /* in the order of the file */

static inline void add_suite_test(suite_test *added)
{
    suite_test **at = &suite_tests;

    while (*at && (*at)->test->line < added->test->line)
        at = &(*at)->next;
    added->next = *at;
    *at = added;
}

#define TEST_GROUP(name, setup, teardown)                                                          \
    static test_group group_of_##name = {#name, setup, teardown, NULL}
#define TEST(group, name) LOOP_TEST(group, name, 0)
#define LOOP_TEST(group, name, count)                                                              \
    static const TTest *name;                                                                      \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        static suite_test added;                                                                   \
        added = (suite_test){name, &group_of_##group, (int)(count), NULL};                         \
        add_suite_test(&added);                                                                    \
    }                                                                                              \
    START_TEST(name)

static inline Suite *make_suite(const char *name)
{
    Suite *suite = suite_create(name);

    for (suite_test *item = suite_tests; item; item = item->next) {
        test_group *group = item->group;
        if (!group->tests) {
            group->tests = tcase_create(group->name);
            tcase_add_checked_fixture(group->tests, group->setup, group->teardown);
            suite_add_tcase(suite, group->tests);
        }
        if (item->count)
            tcase_add_loop_test(group->tests, item->test, 0, item->count);
        else
            tcase_add_test(group->tests, item->test);
    }
    return suite;
}

/* The exit status tells whether all passed. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The last line of a program, or of a file of the conformance suite. */
#define MAIN_OF_SUITE(name)                                                                        \
    int main(void)                                                                                 \
    {                                                                                              \
        return run_suite(make_suite(name));                                                        \
    }
#define SUITE(function, name)                                                                      \
    Suite *function##_suite(void)                                                                  \
    {                                                                                              \
        return make_suite(name);                                                                   \
    }

#endif
