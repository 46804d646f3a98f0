#!/bin/sh
# A program with more rights than who started it takes nothing from the environment: neither a driver to load nor a place to write. Needs root, to make such a
# program. CC; builddir: the build's root.
set -u

build=$(cd "${builddir:-.}" && pwd)
top=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a set-uid program of another user"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
passed=0 failed=0

cat >"$work/program.c" <<'TEXT'
#include <griddep.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(void)
{
    griddep_runtime *runtime;
    griddep_error error;
    griddep_runtime_info info = {.size = sizeof info};

    griddep_error_init(&error);
    if (griddep_runtime_open(NULL, &runtime, &error)) {
        printf("secure %lu: %s: %s\n", getauxval(AT_SECURE), griddep_status_name(error.status), error.text);
        return 1;
    }
    griddep_runtime_get_info(runtime, &info, &error);
    printf("secure %lu: driver %s, %d SMs, store '%s'\n", getauxval(AT_SECURE), info.emulated ? "emulated" : "nvidia", info.multiprocessors,
           info.store_directory);
    griddep_runtime_close(runtime);
    return 0;
}
TEXT
mkdir "$work/lib"
cp "$build"/.libs/libgriddep.so.0 "$build"/.libs/libgriddep-emulator.so.0 "$work/lib/" || exit 99
chmod 755 "$work/lib"/*
# shellcheck disable=SC2086 # a list of words
${CC:-cc} -o "$work/program" "$work/program.c" -I"$top/include" "$work/lib/libgriddep.so.0" -Wl,-rpath,"$work/lib" || exit 99
cp "$work/program" "$work/privileged"
chown daemon "$work/privileged" && chmod 4755 "$work/privileged" || skip "there is no user daemon"
mkdir "$work/home"
chmod 1777 "$work/home"

# says EXPECTED NAME=VALUE... PROGRAM
says() {
    expected=$1
    shift
    said=$(env -u GRIDDEP_DRIVER -u GRIDDEP_STORE -u GRIDDEP_EMULATOR_MULTIPROCESSORS -u GRIDDEP_LOG HOME="$work/home" "$@" 2>&1)
    case $said in
    $expected) passed=$((passed + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "failed: $*: said '$said', expected '$expected'"
        ;;
    esac
}
case $("$work/privileged") in
"secure 1: "*) ;;
*) skip "set-uid programs have no rights here" ;;
esac
says "secure 0: GRIDDEP_ERROR_ENVIRONMENT: *" GRIDDEP_PDL=perhaps "$work/program"
says "secure 1: driver *" GRIDDEP_PDL=perhaps "$work/privileged"
says "secure 0: GRIDDEP_ERROR_NO_DRIVER: *$work/lib/none.so*" GRIDDEP_DRIVER="$work/lib/none.so" "$work/program"
says "secure 1: driver *" GRIDDEP_DRIVER="$work/lib/none.so" "$work/privileged"
case $("$work/privileged") in
*emulated*)
    says "secure 0: driver emulated, 7 SMs, *" GRIDDEP_EMULATOR_MULTIPROCESSORS=7 "$work/program"
    says "secure 1: driver emulated, 4 SMs, *" GRIDDEP_EMULATOR_MULTIPROCESSORS=7 "$work/privileged"
    ;;
esac
says "secure 1: *, store ''" GRIDDEP_STORE="$work/home/cache" GRIDDEP_LOG=debug "$work/privileged"
if [ ! -e "$work/home/cache" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: a privileged program wrote into a folder of the environment"
fi
says "secure 0: *, store '$work/home/cache'" GRIDDEP_STORE="$work/home/cache" "$work/program"
says "secure 0: *, store ''" HOME="$work/nobody" XDG_CACHE_HOME= "$work/program"
if [ ! -e "$work/nobody" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: a home was made that was not there"
fi
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
