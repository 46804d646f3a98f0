#!/bin/sh
# What it costs a program that `griddep audit` and `griddep off` watch its launches: nanoseconds a
# launch of processor time, by pairs of runs in turns, alone and attached.
#
#     bench/attach.sh [DRIVER]
#
# DRIVER: the path of a libcuda.so.1; without it one that does nothing, so that the difference is all
# that there is. GRIDDEP: the command (build/griddep); PAIRS (7); LAUNCHES (2000000); CC.
set -eu

griddep=${GRIDDEP:-build/griddep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/driver.c" <<'TEXT'
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)8; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxGetCurrent(void **context) { *context = (void *)8; return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuModuleLoadData(void **module, const void *image) { *module = (void *)16; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { *function = (void *)name; return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = (void *)4096; return 0; }
int cuStreamGetFlags(void *stream, unsigned *flags) { *flags = 1; return 0; }
int cuLaunchKernelEx(const void *config, void *function, void **parameters, void **extra) { return 0; }
TEXT
cat >"$work/loop.c" <<'TEXT'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *), cuStreamCreate(void **, unsigned);
int cuLaunchKernelEx(const void *, void *, void **, void **);
static const char text[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k0() { griddepcontrol.wait; ret; }\n.visible .entry k1() { griddepcontrol.wait; ret; }\n"
    ".visible .entry k2() { griddepcontrol.wait; ret; }\n.visible .entry k3() { griddepcontrol.wait; ret; }\n";
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * time.tv_sec + time.tv_nsec;
}
int main(int count, char **words)
{
    static const char *const names[] = {"k0", "k1", "k2", "k3"};
    struct { int id, pad, value, rest[15]; } attribute = {.id = 6, .value = 1};
    struct { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; } config = {{1, 1, 1}, {1, 1, 1}, 0, NULL, &attribute, 1};
    void *context, *module, *functions[4];
    int device, launches = atoi(words[1]);
    if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) || cuModuleLoadData(&module, text) || cuStreamCreate(&config.stream, 1))
        return 1;
    for (int i = 0; i < 4; i++)
        if (cuModuleGetFunction(&functions[i], module, names[i]) || cuLaunchKernelEx(&config, functions[i], NULL, NULL))
            return 1;
    cuCtxSynchronize();
    double begin = now();
    for (int i = 0; i < launches; i++)
        cuLaunchKernelEx(&config, functions[i & 3], NULL, NULL);
    printf("%.2f\n", (now() - begin) / launches);
    return cuCtxSynchronize();
}
TEXT
cc=${CC:-cc}
$cc -w -O2 -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" "$work/driver.c"
$cc -w -O2 -o "$work/loop" "$work/loop.c" "$work/libcuda.so.1"
driver=${1:-$work/libcuda.so.1}
folder=$(cd "$(dirname "$driver")" && pwd)
driver=$folder/$(basename "$driver")
launches=${LAUNCHES:-2000000}
for way in audit off; do
    pair=0
    while [ "$pair" -lt "${PAIRS:-7}" ]; do
        alone=$(LD_LIBRARY_PATH=$folder "$work/loop" "$launches")
        attached=$("$griddep" "$way" --driver "$driver" --report "$work/report" -- "$work/loop" "$launches")
        echo "$alone $attached"
        pair=$((pair + 1))
    done | awk -v way="$way" '
        { alone[NR] = $1; more[NR] = $2 - $1; ratio[NR] = $2 / $1 }
        function median(list, n,    i, j, t) {
            for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
            return list[int((n + 1) / 2)]
        }
        END { printf "%-5s  alone %.1f ns a launch, attached %.1f more (median of %d pairs; ratio %.3f)\n", way, median(alone, NR), median(more, NR), NR, median(ratio, NR) }'
done
