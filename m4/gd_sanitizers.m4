# GD_SANITIZERS: --enable-sanitizers[=LIST] builds library, command and tests with these sanitizers
# (default list: address,undefined). AM conditional SANITIZED tells the tests. The undefined of clang,
# with which bootstrap builds, has pointer-overflow, and finds sums past the end of memory by it that
# gcc's does not.
AC_DEFUN([GD_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [build with sanitizers (address,undefined)])],
    [], [enable_sanitizers=no])
  AS_CASE([$enable_sanitizers], [yes], [gd_sanitizers=address,undefined], [gd_sanitizers=$enable_sanitizers])
  SANITIZER_CFLAGS=
  AS_IF([test "x$gd_sanitizers" != xno],
    [SANITIZER_CFLAGS="-fsanitize=$gd_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"])
  AC_SUBST([SANITIZER_CFLAGS])
  AM_CONDITIONAL([SANITIZED], [test "x$gd_sanitizers" != xno])
])
