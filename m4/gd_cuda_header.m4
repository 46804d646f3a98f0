# GD_CUDA_HEADER: looks for a real cuda.h, which only the test of src/cuda/abi.h uses. --with-cuda=DIR names a toolkit,
# --without-cuda leaves the test out.
AC_DEFUN([GD_CUDA_HEADER], [
  AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR], [CUDA toolkit whose cuda.h is compared with the ABI declared here])],
    [], [with_cuda=check])
  gd_cuda_header=none
  CUDA_CPPFLAGS=
  AS_CASE([$with_cuda], [no], [gd_places=], [yes|check], [gd_places="$CUDA_HOME $CUDA_PATH /usr/local/cuda /usr"],
    [gd_places=$with_cuda])
  for gd_place in $gd_places; do
    AS_IF([test -f "$gd_place/include/cuda.h"],
      [gd_cuda_header=$gd_place/include/cuda.h; CUDA_CPPFLAGS="-isystem $gd_place/include"; break])
  done
  AC_SUBST([CUDA_CPPFLAGS])
  AM_CONDITIONAL([HAVE_CUDA_HEADER], [test "$gd_cuda_header" != none])
])
