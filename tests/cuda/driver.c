// A CUDA driver that computes nothing: its memory is the processor's, its copies are done at once, its kernels do not run.
//
// Built as libcuda.so.1, it stands before the bindings in place of NVIDIA's, so that the package's calls of the driver are made in earnest.
// The environment says what it is: FAKE_VERSION (13000), FAKE_CAPABILITY (90), FAKE_MEGABYTES (1024), FAKE_CARDS (1), FAKE_REFUSES (the
// name of a function that fails with error 700). FAKE_LOG names a file that gets a line for every launch.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t handle;
enum { OK, OUT_OF_MEMORY = 2, NO_DEVICE = 100, ILLEGAL_ADDRESS = 700, NOT_SUPPORTED = 801 };
#define REFUSABLE if (refused(__func__)) return ILLEGAL_ADDRESS

static size_t used;
static handle made = 1000; // numbers of streams, events and modules

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static int refused(const char *function)
{
    const char *name = getenv("FAKE_REFUSES");
    return name && !strcmp(name, function);
}

static void *with_size(size_t size)
{
    size_t *memory = aligned_alloc(256, (size + 511) / 256 * 256);
    memory[0] = size;
    used += size;
    return (char *)memory + 256;
}

int cuInit(unsigned flags) { return number("FAKE_CARDS", 1) ? OK : NO_DEVICE; }
int cuDriverGetVersion(int *version) { *version = number("FAKE_VERSION", 13000); return OK; }
int cuDeviceGet(int *device, int which) { *device = which; return OK; }
int cuDeviceGetCount(int *count) { *count = number("FAKE_CARDS", 1); return OK; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, length, "Fake card"); return OK; }
int cuDeviceGetAttribute(int *value, int which, int device)
{
    long capability = number("FAKE_CAPABILITY", 90);
    *value = which == 75 ? capability / 10 : which == 76 ? capability % 10 : 0;
    return OK;
}
int cuDevicePrimaryCtxRetain(handle *context, int device) { *context = 1; return OK; }
int cuCtxSetCurrent(handle context) { return OK; }
int cuModuleLoadData(handle *module, const void *image)
{
    REFUSABLE;
    if (memcmp(image, "\177ELF", 4)) return 200;
    *module = made++;
    return OK;
}
int cuModuleGetFunction(handle *function, handle module, const char *name) { *function = (handle)strdup(name); return OK; }
int cuFuncSetAttribute(handle function, int which, int value) { return OK; }
int cuMemAlloc_v2(handle *address, size_t size)
{
    REFUSABLE;
    if (used + size > (size_t)number("FAKE_MEGABYTES", 1024) << 20) return OUT_OF_MEMORY;
    *address = (handle)with_size(size);
    return OK;
}
int cuMemFree_v2(handle address)
{
    size_t *memory = (size_t *)(address - 256);
    used -= memory[0];
    free(memory);
    return OK;
}
int cuMemHostAlloc(void **memory, size_t size, unsigned flags) { *memory = aligned_alloc(256, (size + 255) / 256 * 256); return OK; }
int cuMemFreeHost(void *memory) { free(memory); return OK; }
int cuStreamCreate(handle *stream, unsigned flags) { *stream = made++; return flags == 1 ? OK : 1; } // 1: waits for no other
int cuStreamWaitEvent(handle stream, handle event, unsigned flags) { return OK; }
int cuStreamSynchronize(handle stream) { REFUSABLE; return OK; }
int cuEventCreate(handle *event, unsigned flags) { *event = made++; return OK; }
int cuEventRecord(handle event, handle stream) { return OK; }
int cuEventSynchronize(handle event) { REFUSABLE; return OK; }
int cuEventElapsedTime(float *milliseconds, handle begin, handle end) { *milliseconds = 1.5f; return OK; }
int cuEventElapsedTime_v2(float *milliseconds, handle begin, handle end) { *milliseconds = 1.5f; return OK; }
int cuMemcpyHtoDAsync_v2(handle target, const void *source, size_t size, handle stream) { REFUSABLE; memcpy((void *)target, source, size); return OK; }
int cuMemcpyDtoHAsync_v2(void *target, handle source, size_t size, handle stream)
{
    memset(target, 0, size);
    return OK;
}
int cuPointerGetAttribute(void *value, int which, handle address) { *(int *)value = which == 9 ? 0 : -1; return OK; } // 9: number of the card
int cuLaunchKernel(handle function, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz, unsigned shared, handle stream,
                   void **parameters, void **extra)
{
    REFUSABLE;
    static FILE *log;
    if (getenv("FAKE_LOG")) {
        if (!log) log = fopen(getenv("FAKE_LOG"), "w");
        fprintf(log, "%s %u %u %u %u %u %lu\n", (char *)function, x, y, z, tx * ty * tz, shared, (unsigned long)*(handle *)parameters[0]);
        fflush(log);
    }
    return OK;
}

int cuGetErrorName(int code, const char **text) { *text = "CUDA_ERROR"; return OK; }
int cuGetErrorString(int code, const char **text) { *text = "an error"; return OK; }
static int unsupported(void) { return NOT_SUPPORTED; }

// Where the bindings ask for functions: by name, with the version in its place or not.
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    char newer[128];
    snprintf(newer, sizeof newer, "%s_v2", name);
    *function = dlsym(RTLD_DEFAULT, newer);
    if (!*function) *function = dlsym(RTLD_DEFAULT, name);
    if (!*function) *function = unsupported;
    if (status) *status = 0;
    return OK;
}
int cuGetExportTable(const void **table, const void *which) { *table = 0; return NOT_SUPPORTED; }
