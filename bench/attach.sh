#!/bin/sh
# What it costs a program that `griddep audit`, `off` and `on` watch its launches: nanoseconds a
# launch, of the driver's own function and of the one in front of it. Both are called by one process,
# in batches that take turns, so that what differs between processes does not show.
#
#     bench/attach.sh [DRIVER]
#
# DRIVER: the path of a libcuda.so.1; without it one that does nothing, so that the difference is all
# that there is. GRIDDEP: the command (build/griddep); PAIRS of batches (1001); LAUNCHES of a batch
# (200); CC.
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
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *), cuStreamCreate(void **, unsigned);
int cuLaunchKernelEx(const void *, void *, void **, void **);
static const char text[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry k0() { griddepcontrol.wait; ret; }\n.visible .entry k1() { griddepcontrol.wait; ret; }\n"
    ".visible .entry k2() { griddepcontrol.wait; ret; }\n.visible .entry k3() { griddepcontrol.wait; ret; }\n";
typedef int launch_function(const void *, void *, void **, void **);
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * time.tv_sec + time.tv_nsec;
}
static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}
static double median(double *list, int count)
{
    qsort(list, count, sizeof *list, compare);
    return list[count / 2];
}
int main(int count, char **words)
{
    static const char *const names[] = {"k0", "k1", "k2", "k3"};
    struct { int id, pad, value, rest[15]; } attribute = {.id = 6, .value = 1};
    struct { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; } config = {{1, 1, 1}, {1, 1, 1}, 0, NULL, &attribute, 1};
    void *context, *module, *functions[4], *next = dlopen("libgriddep-next.so", RTLD_NOW | RTLD_NOLOAD);
    int device, pairs = atoi(words[1]), launches = atoi(words[2]);
    double *times[3] = {calloc(pairs, sizeof(double)), calloc(pairs, sizeof(double)), calloc(pairs, sizeof(double))};
    launch_function *ways[2] = {next ? (launch_function *)dlsym(next, "cuLaunchKernelEx") : NULL, cuLaunchKernelEx};
    if (!ways[0] || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) || cuModuleLoadData(&module, text) || cuStreamCreate(&config.stream, 1))
        return 1;
    for (int i = 0; i < 4; i++)
        if (cuModuleGetFunction(&functions[i], module, names[i]) || cuLaunchKernelEx(&config, functions[i], NULL, NULL))
            return 1;
    for (int i = 0; i < pairs; i++) {
        for (int k = 0; k < 2; k++) {
            int way = (i + k) % 2;
            cuCtxSynchronize();
            double begin = now();
            for (int j = 0; j < launches; j++)
                ways[way](&config, functions[j & 3], NULL, NULL);
            times[way][i] = (now() - begin) / launches;
        }
        times[2][i] = times[1][i] - times[0][i];
    }
    double more = median(times[2], pairs), alone = median(times[0], pairs);
    printf("alone %.1f ns a launch, attached %.1f more (%.2f %%): medians of %d pairs of %d launches\n", alone, more, 100 * more / alone, pairs, launches);
    return 0;
}
TEXT
cc=${CC:-cc}
$cc -w -O2 -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" "$work/driver.c"
$cc -w -O2 -o "$work/loop" "$work/loop.c" "$work/libcuda.so.1" -ldl
driver=${1:-$work/libcuda.so.1}
folder=$(cd "$(dirname "$driver")" && pwd)
driver=$folder/$(basename "$driver")
for way in audit off on; do
    printf '%-5s  ' "$way"
    "$griddep" "$way" --driver "$driver" --report "$work/report" -- "$work/loop" "${PAIRS:-1001}" "${LAUNCHES:-200}"
done
