/* What a call of the library gives, for test programs that hand it a griddep_error called `error`.
 * */
#ifndef UNIT_STATUS_H
#define UNIT_STATUS_H

#include <check.h>
#include <string.h>

#include "griddep.h"

#define ck_status(call, expected)                                                                  \
    do {                                                                                           \
        int32_t got_status = (call);                                                               \
        ck_assert_msg(got_status == (expected), "%s: %s, expected %s: %s", #call,                  \
                      griddep_status_name(got_status), griddep_status_name(expected), error.text); \
        if (got_status)                                                                            \
            ck_assert_int_eq(error.status, got_status);                                            \
    } while (0)
#define ck_good(call) ck_status(call, GRIDDEP_OK)
#define ck_says(part)                                                                              \
    ck_assert_msg(strstr(error.text, part), "\"%s\" is not in: %s", part, error.text)

#define ck_refused(call, expected, part)                                                           \
    do {                                                                                           \
        ck_status(call, expected);                                                                 \
        ck_says(part);                                                                             \
    } while (0)

/* Arguments of a launch. */
#define POINTER(address)                                                                           \
    {                                                                                              \
        .bytes = 8, .value = (address)                                                             \
    }
#define WORD(number)                                                                               \
    {                                                                                              \
        .bytes = 4, .value = (number)                                                              \
    }

#endif
