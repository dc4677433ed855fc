#include "gpu/gpu_backend.h"

#define CUDA_ENTRY(function) .function = cuda_##function,
const struct gpu_backend srcfind_cuda = {.version = SRCFIND_VERSION, CUDA_FUNCTIONS(CUDA_ENTRY)};
#undef CUDA_ENTRY
