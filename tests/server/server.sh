#!/bin/sh
# The launch servers of examples/server on the emulated driver: each answer is right, both ways to
# run batches agree, a fault ends the server by its name, and bad options are refused. builddir is
# the build's root; GRIDDEP_DRIVER names another driver.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

builddir=${builddir:-build}
source_root=${srcdir:-$(dirname "$0")/../..}
build_root=$(cd "$builddir" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
. "$source_root/tests/preload.sh"
python=$(make_value PYTHON3)
server=$build_root/examples/server/server
GRIDDEP_DRIVER=${GRIDDEP_DRIVER:-emulated}
GRIDDEP_LIBRARY=$build_root/.libs/libgriddep.so.0
PYTHONPATH=$source_root/bindings/python
PYTHONDONTWRITEBYTECODE=1
export GRIDDEP_DRIVER GRIDDEP_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE GRIDDEP_STORE=off
unset GRIDDEP_PDL GRIDDEP_LOG

# answers COUNT LINES COMMAND...: so many lines tell of that many answers, none of them wrong.
answers() {
    count=$1 lines=$2
    shift 2
    "$@" >"$work/out" || return 1
    cat "$work/out"
    [ "$(grep -c "p99 .* $count answers, 0 wrong\$" "$work/out")" -eq "$lines" ]
}

# races_nowhere COMMAND...: the emulated driver's checks find nothing.
races_nowhere() {
    [ "$GRIDDEP_DRIVER" = emulated ] || return 0
    (
        export GRIDDEP_EMULATOR_CHECK=all GRIDDEP_EMULATOR_REPORT="$work/findings"
        "$@"
    ) && grep -q '"findings":0,' "$work/findings"
}

# faults TEXT COMMAND...: the server ends by itself, with status 1 and the fault's name.
faults() {
    text=$1
    shift
    "$@" 2>"$work/err"
    [ "$?" -eq 1 ] && cat "$work/err" && grep -q "$text" "$work/err"
}

# The command of the README, against the build instead of an installation.
builds() {
    command=$(sed -n 's/^ *cc /cc /p' "$source_root/examples/server/README.md")
    command=$(printf '%s' "$command" | sed "s#[\$](pkg-config[^)]*)#-I$source_root/include \
        -L$build_root/.libs -lgriddep#; s#-o server#-o $work/server#")
    flags=
    [ "${SANITIZED-}" != 1 ] || flags=$(make_value SANITIZER_CFLAGS)
    (cd "$source_root/examples/server" && eval "${CC:-cc} $flags -Wall -Wextra ${command#cc }")
}

refuses() {
    c_server "$@" 2>"$work/err"
    [ "$?" -eq 2 ]
}

c_server() { timeout 1800 "$server" "$@"; }

python_server() {
    # shellcheck disable=SC2086,SC2154 # a list of assignments, set by preload.sh
    env $preload timeout 1800 "$python" "$source_root/examples/server/server.py" "$@"
}

# An address that is not there ends a GPU's context, and with it all that a shared machine may run.
cannot_fault() { [ "$GRIDDEP_DRIVER" != emulated ]; }

check "builds as the README says" builds
check "eight threads" answers 3000 1 c_server --requests 3000
check "eight threads by the driver's calls" answers 3000 1 c_server --requests 3000 --with driver
check "both in turns" answers 2000 2 c_server --requests 500 --rounds 4 --compare
check "both in turns are compared" grep -q "^ratio  *[0-9.]*  *p50  *[0-9.]*  *p99  *[0-9.]*\$" \
    "$work/out"
check "one thread, one client" answers 50 1 c_server --requests 50 --threads 1 --clients 1
check "fewer requests than clients" answers 5 1 c_server --requests 5 --clients 100
check "more threads than clients" answers 100 1 c_server --requests 100 --clients 3 --threads 20
check "small vectors" answers 500 1 c_server --requests 500 --elements 4
check "a time" c_server --seconds 0.2
check "no race" races_nowhere c_server --requests 300
for with in griddep driver; do
    cannot_fault || check "a fault, with $with" faults 700 c_server --requests 3000 \
        --fault-at 1000 --with "$with"
done
for option in "--threads 0" "--threads 65" "--elements 6" "--clients x" "--requests -1" \
    "--seconds 0" "--rounds 102" "--with cuda" "--unknown" "more"; do
    # shellcheck disable=SC2086 # an option and its value
    check "refuses $option" refuses $option
done
check "a driver that is not there" faults NO_DRIVER c_server --driver /nonexistent/libcuda.so.1

if [ -n "$python" ] && "$python" -c 'import ctypes' 2>/dev/null; then
    check "Python" answers 600 1 python_server --requests 300 --rounds 2
    check "Python, one thread" answers 40 1 python_server --requests 40 --rounds 1 --threads 1
    check "Python compares, or tells why not" python_server --requests 40 --rounds 1 --compare
    check "Python, no race" races_nowhere python_server --requests 100 --rounds 1
else
    echo "skipped: no python3 with ctypes"
    skipped=$((skipped + 4))
fi
finish
