#include "api/backend_calls.h"

#include "cpu/fit.h"

void backend_give(struct backend_calls *calls, struct gpu *gpu) {
    if (calls->context)
        gpu_give(gpu, calls->context);
    calls->context = NULL;
}

enum srcfind_status backend_detect(const struct backend_calls *calls,
                                   const struct pixel_source *source,
                                   const struct device_pixels *on_device,
                                   const struct detection *detection,
                                   struct detection_result *result) {
    const struct gpu_context *c = calls->context;
    const enum srcfind_status status = threads_check(calls->threads, calls->error);
    if (status != SRCFIND_OK)
        return status;
    if (!c)
        return cpu_detect(source, detection, calls->threads, result, calls->error);
    return on_device ? c->backend->detect_pixels(c->cuda, on_device, detection, calls->threads,
                                                 result, calls->error)
                     : c->backend->detect(c->cuda, source, detection, calls->threads, result,
                                          calls->error);
}

enum srcfind_status backend_keep(const struct backend_calls *calls,
                                 const struct pixel_source *source, bool *is_kept) {
    const struct gpu_context *c = calls->context;
    *is_kept = false;
    return c ? c->backend->keep(c->cuda, source, calls->threads, is_kept, calls->error)
             : SRCFIND_OK;
}

enum srcfind_status backend_gather(void *calls, const struct gathered_runs *runs, float *values,
                                   struct error *error) {
    const struct backend_calls *b = calls;
    const enum srcfind_status status = threads_check(b->threads, error);
    if (status != SRCFIND_OK)
        return status;
    return b->context->backend->gather(b->context->cuda, runs, b->threads, values, error);
}

enum srcfind_status backend_fit(void *calls, const struct fit_pixel *pixels, struct fit_job *jobs,
                                int64_t n, struct threads *threads, struct error *error) {
    const struct gpu_context *c = ((const struct backend_calls *)calls)->context;
    const enum srcfind_status status = threads_check(threads, error);
    if (status != SRCFIND_OK)
        return status;
    return c ? c->backend->fit(c->cuda, pixels, jobs, n, threads, error)
             : cpu_fit(pixels, jobs, n, threads, error);
}
