/* The CUDA backend, loaded when a device is first used. */
#ifndef GPU_MODULE_H
#define GPU_MODULE_H

#include "gpu/gpu_backend.h"

/* Its functions, or NULL with the reason in error. May be called by several threads. */
const struct cuda_backend *gpu_module_load(struct error *error);

/* Whether there is anything to load: nothing where srcfind was built without CUDA. */
bool gpu_module_exists(void);

#endif
