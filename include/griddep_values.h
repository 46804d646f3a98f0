/* griddep_values.h - arguments by value, and grids for so many elements, in C11.
 *
 * Optional, and inline alone: the library knows nothing of it. C++ has bindings/cxx/griddep.hpp.
 *
 *     const griddep_argument list[] = {GRIDDEP_VALUE(y), GRIDDEP_VALUE(x), GRIDDEP_VALUE(0.5F),
 *                                      GRIDDEP_VALUE(count)};
 *     const griddep_launch_config config = griddep_config_for(count, 256);
 *
 * A value has the bytes of its type: an address is a uint64_t, a .f32 a float, a .u32 or .s32 an
 * int32_t or uint32_t, an enumerator or a literal such as 7. The library compares them with the
 * kernel's signature: 0.5 in place of 0.5F is refused, with both sizes. */
#ifndef GRIDDEP_VALUES_H
#define GRIDDEP_VALUES_H

#include <string.h>

#include "griddep.h"

#define GRIDDEP_VALUE_OF(name, type)                                                               \
    static inline griddep_argument griddep_value_##name(type value)                                \
    {                                                                                              \
        griddep_argument argument = {.bytes = sizeof value};                                       \
        memcpy(&argument.value, &value, sizeof value);                                             \
        return argument;                                                                           \
    }
GRIDDEP_VALUE_OF(char, signed char)
GRIDDEP_VALUE_OF(uchar, unsigned char)
GRIDDEP_VALUE_OF(short, short)
GRIDDEP_VALUE_OF(ushort, unsigned short)
GRIDDEP_VALUE_OF(int, int)
GRIDDEP_VALUE_OF(uint, unsigned int)
GRIDDEP_VALUE_OF(long, long)
GRIDDEP_VALUE_OF(ulong, unsigned long)
GRIDDEP_VALUE_OF(llong, long long)
GRIDDEP_VALUE_OF(ullong, unsigned long long)
GRIDDEP_VALUE_OF(float, float)
GRIDDEP_VALUE_OF(double, double)
#undef GRIDDEP_VALUE_OF

/* A griddep_argument of a number. */
#define GRIDDEP_VALUE(value)                                                                       \
    _Generic((value),                                                                              \
        signed char: griddep_value_char,                                                           \
        unsigned char: griddep_value_uchar,                                                        \
        short: griddep_value_short,                                                                \
        unsigned short: griddep_value_ushort,                                                      \
        int: griddep_value_int,                                                                    \
        unsigned int: griddep_value_uint,                                                          \
        long: griddep_value_long,                                                                  \
        unsigned long: griddep_value_ulong,                                                        \
        long long: griddep_value_llong,                                                            \
        unsigned long long: griddep_value_ullong,                                                  \
        float: griddep_value_float,                                                                \
        double: griddep_value_double)(value)

/* Blocks of so many threads, in one dimension, as many as it takes for `count` threads. A grid that
 * no device takes, and a block of 0, are refused by the launch. */
static inline griddep_launch_config griddep_config_for(uint64_t count, uint32_t block)
{
    const uint64_t blocks = block ? count / block + (count % block != 0) : 0;
    griddep_launch_config config = {.size = sizeof config, .block = {block}};

    config.grid[0] = blocks <= UINT32_MAX ? (uint32_t)blocks : 0;
    return config;
}

#endif
