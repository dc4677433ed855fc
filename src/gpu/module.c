#include "gpu/module.h"

#include <dlfcn.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "common/hook.h"

static const struct gpu_backend *module;
static struct error reason; /* why the module cannot be used */
static once_flag once = ONCE_FLAG_INIT;

/* The path of another module, for tests; else NULL. */
static const char *test_module_path(void) {
    return hook("SRCFIND_CUDA_MODULE");
}

bool gpu_module_exists(void) {
#if defined HAVE_CUDA || defined CUDA_PACKAGE
    return true;
#else
    return test_module_path() != NULL;
#endif
}

/* Looks in the run path of this library or program, then in the directory of the installation,
 * which has the module of the same build. */
static void *open_module(void) {
    const char *other = test_module_path();
    if (other)
        return dlopen(other, RTLD_NOW | RTLD_LOCAL);
    void *handle = dlopen(CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
#ifndef CUDA_PACKAGE
    if (!handle)
        handle = dlopen(CUDA_MODULE_DIRECTORY "/" CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
#endif
    return handle;
}

static void load_module(void) {
    if (!gpu_module_exists()) {
        error_set(&reason, SRCFIND_ERROR_DEVICE, "built without CUDA");
        return;
    }
    void *handle = open_module();
    if (!handle) {
        error_set(&reason, SRCFIND_ERROR_DEVICE,
                  "the CUDA module cannot be loaded (%s): " GPU_MODULE_WAY_OUT
                  ", or use the CPU (--cpu)",
                  dlerror());
        return;
    }
    module = dlsym(handle, "srcfind_cuda");
    if (!module || strcmp(module->version, SRCFIND_VERSION) != 0) {
        module = NULL;
        error_set(&reason, SRCFIND_ERROR_DEVICE,
                  "the CUDA module is not that of srcfind " SRCFIND_VERSION ": " GPU_MODULE_WAY_OUT
                  ", or use the CPU (--cpu)");
    }
}

const struct gpu_backend *gpu_module_load(struct error *error) {
    call_once(&once, load_module);
    if (!module)
        *error = reason;
    return module;
}

bool gpu_driver_exists(void) {
    static const char *const files[] = {"/proc/driver/nvidia/version", "/dev/nvidiactl",
                                        "/dev/dxg", /* Linux in Windows */
                                        "/dev/nvhost-ctrl-gpu", "/dev/nvgpu" /* Jetson */};
    if (test_module_path()) { /* which has no driver */
        struct error error;
        const struct gpu_backend *backend = gpu_module_load(&error);
        return backend && backend->count(&error) > 0;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], F_OK) == 0)
            return true;
    return false;
}
