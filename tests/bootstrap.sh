#!/bin/sh
# ./bootstrap in a small checkout whose configure and make only write down that they ran: what it does
# again, and what it asks to install.
# srcdir: the top of the source tree; builddir: that of the build; MAKE.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

top=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
build=$(cd "${builddir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
command -v bash >/dev/null || {
    echo "skipped: no bash"
    exit 77
}
unset MAKEFLAGS MAKELEVEL MFLAGS CI CFLAGS LDFLAGS
CC=gcc CXX=g++
export CC CXX

mkdir -p "$work/one/include" "$work/bin"
cp "$top/bootstrap" "$work/one/"
cp "$top/include/griddep.h" "$work/one/include/"
cd "$work/one" || exit 99
version=$(sed -n 's/^ *GRIDDEP_VERSION_[A-Z]* = \([0-9]*\),\{0,1\}$/\1/p' include/griddep.h |
    paste -s -d . -)
touch Makefile.am configure.ac Makefile.in config.h.in
mkdir m4 && touch m4/gd_any.m4
# shellcheck disable=SC2016 # for the shell that runs it
printf "#!/bin/sh\nPACKAGE_VERSION='%s'\n%s\n" "$version" \
    'echo "abs_top_builddir = $PWD" >Makefile; echo configured' >configure
chmod +x configure
# Everything is installed, but for what MISSING matches.
cat >"$work/bin/any" <<'END'
#!/bin/sh
case ${0##*/} in
id) echo 1000 ;;
pkg-config) for name; do case $name in ${MISSING:-none}) exit 1 ;; esac; done ;;
dpkg-query) exit 1 ;;
gcc | g++) cat >/dev/null ;; # reads what is piped to it
make) echo "make $*"; touch build/object ;;
esac
END
chmod +x "$work/bin/any"
for name in id pkg-config dpkg-query make m4 gcc g++ autoreconf automake libtoolize; do
    ln -s any "$work/bin/$name"
done
PATH=$work/bin:$PATH
export PATH

says() { # says WORDS COMMAND...
    words=$1
    shift
    "$@" >"$work/out" 2>&1
    cat "$work/out"
    grep -q -- "$words" "$work/out"
}
check "a first build is configured" says 'configure in build  *ok' ./bootstrap build
check "a second one is up to date" says 'configure in build  *up to date' ./bootstrap build
touch "$work/one/build/object"
copied() {
    cp -rp "$work/one" "$work/two" && cd "$work/two" && rm build/make.log || return 1
    says 'configure in build  *ok' ./bootstrap build && [ -f build/configured ] &&
        says 'configure in build  *up to date' ./bootstrap build
}
check "a copied checkout is not up to date" copied
copied_by_hand() {
    cp -rp "$work/one" "$work/three" && cd "$work/three" && rm build/configured || return 1
    says 'configure in build  *ok' ./bootstrap build && [ ! -e build/by_hand ]
}
touch "$work/one/build/by_hand"
check "nor one that was built by hand" copied_by_hand
rm "$work/one/build/by_hand"
cd "$work/one" || exit 99
MISSING='libpcre2-8' check "the build needs no library of the language model" says 'built: ' \
    ./bootstrap build
check "libraries that came later are configured" says 'configure in build  *ok' ./bootstrap llama
check "the language model is made" grep -q examples/llama/llama build/llama.log
for MISSING in libpcre2-8 libutf8proc; do
    export MISSING
    check "the language model's $MISSING" says "missing: ${MISSING%-8}-dev\$" ./bootstrap llama
done
unset MISSING
PATH=${PATH#*:}

# With --all a skip that is not for want of a GPU is a failure.
summed() { # summed REASON
    mkdir -p "$work/sum/tests" && echo ':global-test-result: SKIP' >"$work/sum/tests/one.trs" &&
        echo "skipped: $1" >"$work/sum/tests/one.log" && sh "$top/tests/summary.sh" --all "$work/sum"
}
not_summed() { ! summed "$@"; }
check "a skip for want of a GPU" summed "no GPU: the driver cannot be opened"
check "a skip for want of fish" not_summed "no fish"

other_folder() {
    says 'this folder was configured as /nowhere' "${MAKE:-make}" -n -C "$build" \
        abs_top_builddir=/nowhere all
}
check "make in a build folder that was copied" other_folder
finish
