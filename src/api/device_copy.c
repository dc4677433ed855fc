#include "api/device_copy.h"

#include <stdlib.h>

static enum srcfind_status copy_values(struct gpu *gpu, const struct device_pixels *pixels,
                                       float *values, struct error *error) {
    struct gpu_context *context;
    enum srcfind_status status = gpu_take(gpu, GPU_WAIT_FIRST, &context, error);
    if (status != SRCFIND_OK)
        return status;
    status = gpu_copy_pixels(gpu, context, pixels, values, error);
    gpu_give(gpu, context);
    return status;
}

enum srcfind_status device_copy_make(struct device_copy *copy, struct gpu *gpu,
                                     const struct device_pixels *pixels, struct error *error) {
    const size_t n = (size_t)pixels->width * (size_t)pixels->height;
    *copy = (struct device_copy){.values = malloc(n * sizeof *copy->values)};
    if (!copy->values)
        return error_memory(error, "copying pixels from a device");
    copy->memory =
        (struct memory){(const uint32_t *)(const void *)copy->values, pixels->width, pixels->width};
    copy->source = memory_source(&copy->memory, pixels->height, pixels->swapped);
    if (pixels->has_blank)
        copy->source = blanked_source(&copy->blanked, &copy->source, (double)pixels->blank);
    if (pixels->negated)
        copy->source = negated_source(&copy->negated, &copy->source);
    return copy_values(gpu, pixels, copy->values, error);
}

void device_copy_clear(struct device_copy *copy) {
    free(copy->values);
    copy->values = NULL;
}
