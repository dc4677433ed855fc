/* Loads the CUDA backend when a device is first used. */
#ifndef MODULE_H
#define MODULE_H

#include "gpu/gpu_backend.h"

/* The way out if the module cannot be loaded: a build of some targets may leave it out.
 * CUDA_PACKAGE names the package that brings the module, where that is another one. */
#ifdef CUDA_PACKAGE
#define GPU_MODULE_WAY_OUT "install " CUDA_PACKAGE " " SRCFIND_VERSION
#else
#define GPU_MODULE_WAY_OUT "build all targets of srcfind, or install it again"
#endif

/* The functions of the backend, loaded by the first call; NULL with the reason in error. Several
 * threads may call this. */
const struct gpu_backend *gpu_module_load(struct error *error);

/* False if srcfind was built without CUDA, and no other package brings the module. */
bool gpu_module_exists(void);

/* Whether a GPU has a driver, by the files of drivers: to ask the driver itself takes about as long
 * as to start it. For messages only, since other systems may have other files. */
bool gpu_driver_exists(void);

#endif
