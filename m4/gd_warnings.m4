# GD_WARNINGS: --enable-werror, and WARNING_CFLAGS with the project's warnings. The user's CFLAGS are left alone.
AC_DEFUN([GD_WARNINGS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])], [], [enable_werror=no])
  WARNING_CFLAGS="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes"
  AS_IF([test "x$enable_werror" = xyes], [WARNING_CFLAGS="$WARNING_CFLAGS -Werror"])
  AC_SUBST([WARNING_CFLAGS])
])
