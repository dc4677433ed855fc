#define _GNU_SOURCE /* secure_getenv */
#include "gpu/module.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static const struct cuda_backend *module;
static struct error reason; /* why there is none */
static once_flag once = ONCE_FLAG_INIT;

/* Another module, for tests. */
static const char *other_path(void) {
    return secure_getenv("SRCFIND_CUDA_MODULE");
}

bool gpu_module_exists(void) {
#ifdef HAVE_CUDA
    return true;
#else
    return other_path() != NULL;
#endif
}

/* Where the run path of this library or program leads, or else where it was installed. */
static void *open_module(void) {
    const char *other = other_path();
    if (other)
        return dlopen(other, RTLD_NOW | RTLD_LOCAL);
    void *handle = dlopen(CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
    return handle ? handle : dlopen(CUDA_MODULE_DIRECTORY "/" CUDA_MODULE, RTLD_NOW | RTLD_LOCAL);
}

static void load(void) {
    if (!gpu_module_exists()) {
        error_set(&reason, SRCFIND_ERROR_DEVICE, "built without CUDA");
        return;
    }
    void *handle = open_module();
    if (!handle) {
        error_set(&reason, SRCFIND_ERROR_DEVICE, "the CUDA module cannot be loaded: %s", dlerror());
        return;
    }
    module = dlsym(handle, "srcfind_cuda");
    if (!module || strcmp(module->version, SRCFIND_VERSION) != 0) {
        module = NULL;
        error_set(&reason, SRCFIND_ERROR_DEVICE,
                  "the CUDA module is not that of srcfind " SRCFIND_VERSION);
    }
}

const struct cuda_backend *gpu_module_load(struct error *error) {
    call_once(&once, load);
    if (!module)
        *error = reason;
    return module;
}
