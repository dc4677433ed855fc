#include "api/pixels.h"

#include <math.h>
#include <string.h>

enum srcfind_status pixels_read(const struct srcfind_pixels *given, struct srcfind_pixels *p,
                                struct error *error) {
    *p = (struct srcfind_pixels){0};
    memcpy(p, given, given->size < sizeof *p ? given->size : sizeof *p);
    if (p->row_stride == 0)
        p->row_stride = p->width;
    if (p->width >= 1 && p->height >= 1 && p->width <= INT32_MAX && p->height <= INT32_MAX &&
        p->row_stride >= p->width && p->row_stride <= INT64_MAX / 8 / p->height)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "pixels in memory: a shape of %lld x %lld with rows %lld apart cannot be",
                     (long long)p->width, (long long)p->height, (long long)p->row_stride);
}

void host_pixels_make(struct host_pixels *host, const struct srcfind_pixels *p, double blank) {
    host->memory =
        (struct memory){(const uint32_t *)(const void *)p->values, p->width, p->row_stride};
    host->source = memory_source(&host->memory, p->height, p->swapped);
    if (!isnan(blank))
        host->source = changed_source(&host->blanked, &host->source,
                                      pixel_change_make(blank, false, p->swapped));
}
