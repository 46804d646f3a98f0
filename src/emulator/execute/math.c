/* Arithmetic that needs the host's floating-point environment. */
#include <fenv.h>

#include "emulator/execute/math.h"

static int host_rounding(uint32_t flags)
{
    switch (flags & GD_ROUND_MASK) {
    case GD_ROUND_ZERO:
        return FE_TOWARDZERO;
    case GD_ROUND_DOWN:
        return FE_DOWNWARD;
    case GD_ROUND_UP:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

/* Volatile operands keep the operation between the two changes of the environment. */
double gd_directed64(char operation, double a, double b, double c, uint32_t flags)
{
    volatile double x = a, y = b, z = c, result;

    fesetround(host_rounding(flags));
    switch (operation) {
    case '+':
        result = x + y;
        break;
    case '-':
        result = x - y;
        break;
    case '*':
        result = x * y;
        break;
    case '/':
        result = x / y;
        break;
    case 's':
        result = sqrt(x);
        break;
    default:
        result = fma(x, y, z);
        break;
    }
    fesetround(FE_TONEAREST);
    return result;
}
