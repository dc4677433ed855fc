/* How a scale gets its samples:
 *
 * 1. The kernel is a round Gaussian whose FWHM is a number of beams (the round beam of equal area).
 *    Kernels wider than half of the shorter side of the image are left out.
 * 2. The effective beam is the beam convolved with the kernel. Samples are as far apart as
 *    smoothing_step chooses for this beam; boxes of local noise are 15 effective beams wide. Both
 *    lie around the middle of the image: mirrored images have mirrored samples and noise.
 * 3. The image less all Gaussians so far is convolved at the samples, by the device that has the
 *    image or by the CPU (measure/smooth.c).
 * 4. With two images, each is smoothed on the device in turn, and its samples are copied to the
 *    host.
 *
 * CPU and device always give the same samples, bit by bit. A scale costs one read of each image,
 * and 4 bytes a sample, in memory or in a file in /tmp (samples.c). */
#include "api/scales.h"

#include <math.h>
#include <stdlib.h>

#include "api/noise.h"
#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/smooth.h"

/* Width of the boxes of local noise: in effective beams, and at least in samples. */
enum { BEAMS_A_BOX = 15, LEAST_SAMPLES = 8 };

/* Chooses boxes of local noise for samples that are `step` pixels apart; none if the image is too
 * small. */
static void choose_box(struct scale *s, double effective, int64_t step, int64_t width,
                       int64_t height) {
    const int64_t shorter = width < height ? width : height;
    const double wanted = BEAMS_A_BOX * effective / (double)step;
    const int64_t most = (shorter + step - 1) / step / 2;
    const int64_t box =
        (wanted < (double)most ? (int64_t)wanted : most) / STEPS_A_BOX * STEPS_A_BOX;
    s->detection.box = box < LEAST_SAMPLES ? 0 : box;
    s->detection.step = s->detection.box / STEPS_A_BOX;
}

/* The first pixel that samples stand for along an axis, the first of which is at `place`. Where
 * half a pixel is left, samples stand for the pixels below. */
static int64_t first_pixel(double place, int64_t step) {
    return (int64_t)floor(place - (double)(step - 1) / 2);
}

bool scale_is_too_wide(double fwhm, const struct tensor *beam,
                       const struct srcfind_image *metadata) {
    const int64_t width = metadata->width, height = metadata->height;
    return fwhm * beam_frame_fwhm(beam) > (double)(width < height ? width : height) / 2;
}

/* Leaves out the samples whose centres are in pixels that are not searched. */
static bool leave_out(struct scale *s, const struct blanks *unsearched) {
    const struct smoothing *m = &s->smoothing;
    if (!unsearched)
        return true;
    if (!(s->unsearched = blanks_create(m->width * m->height)))
        return false;
    for (int64_t j = 0; j < m->height; j++)
        for (int64_t i = 0; i < m->width; i++) {
            const int64_t x = (int64_t)floor((double)(s->grid.step * i) + s->grid.x + 0.5);
            const int64_t y = (int64_t)floor((double)(s->grid.step * j) + s->grid.y + 0.5);
            if (x < 0 || x >= s->grid.width || y < 0 || y >= s->grid.height ||
                blanks_has_any(unsearched, y * s->grid.width + x, 1))
                blanks_add(s->unsearched, j * m->width + i, 1);
        }
    s->detection.unsearched = s->unsearched;
    return true;
}

enum srcfind_status scale_make(struct scale *s, double fwhm, const struct options *options,
                               const struct views *image, struct error *error) {
    struct fit_frame frame;
    const struct srcfind_image *metadata = image->measure.metadata;
    const struct detection *detection = &image->measure.detection;
    const enum srcfind_status status = sources_frame(&image->measure, options, &frame, error);
    *s = (struct scale){.detection = *detection, .n_images = image->are_two ? 2 : 1};
    if (status != SRCFIND_OK)
        return status;
    const int64_t width = metadata->width, height = metadata->height;
    const struct tensor beam = beam_frame_moments(&frame);
    const double kernel = fwhm * beam_frame_fwhm(&beam), sigma = kernel / FIT_FWHM;
    const struct tensor wide = {beam.xx + sigma * sigma, beam.yy + sigma * sigma, beam.xy};
    const double effective = beam_frame_fwhm(&wide);
    s->is_left_out = scale_is_too_wide(fwhm, &beam, metadata);
    if (s->is_left_out)
        return SRCFIND_OK;
    const int64_t step = smoothing_step(effective, width, height), area = step * step;
    choose_box(s, effective, step, width, height);
    const struct smoothing *m = &s->smoothing;
    if (!smoothing_make(&s->smoothing, kernel, step, s->detection.box > 0 ? s->detection.step : 1,
                        width, height))
        return error_memory(error, "smoothing the image");
    s->grid = (struct grid){.scale = fwhm,
                            .step = step,
                            .x = smoothing_centre(m->left, m->n_x),
                            .y = smoothing_centre(m->top, m->n_y),
                            .left = first_pixel(smoothing_centre(m->left, m->n_x), step),
                            .top = first_pixel(smoothing_centre(m->top, m->n_y), step),
                            .variance = sigma * sigma,
                            .width = width,
                            .height = height,
                            .beam = beam};
    if (!leave_out(s, detection->unsearched))
        return error_memory(error, "smoothing the image");
    s->detection.background = NAN;
    s->detection.rms = 0;
    s->detection.maps = (struct noise_sources){NULL, NULL};
    s->detection.keep_runs = true;
    s->detection.min_pixels = (detection->min_pixels + area - 1) / area;
    s->detection.beam_squared = 0;
    return SRCFIND_OK;
}

void scale_clear(struct scale *s) {
    smoothing_clear(&s->smoothing);
    blanks_destroy(s->unsearched);
}

enum srcfind_status scale_grid_beside(const struct scale *s, const struct view *other,
                                      const struct options *options, struct grid *grid,
                                      struct error *error) {
    struct fit_frame frame;
    const enum srcfind_status status = sources_frame(other, options, &frame, error);
    *grid = s->grid;
    if (status == SRCFIND_OK)
        grid->beam = beam_frame_moments(&frame);
    return status;
}

struct view scale_view(const struct scale *s, const struct view *image,
                       const struct samples *samples) {
    struct view view = *image;
    view.source = &samples->source;
    view.on_device = samples->on_device.pixels ? &samples->on_device : NULL;
    view.grid = &s->grid;
    view.detection = s->detection;
    view.result = (struct detection_result){0};
    view.has_correlation = false;
    return view;
}

static enum srcfind_status smooth_on_device(const struct scale *s,
                                            const struct backend_calls *calls,
                                            const struct model *model, int64_t n,
                                            struct samples *samples, int64_t *n_samples) {
    const struct gpu_context *c = calls->context;
    const struct smoothing_model less = {model->gaussians, n,          model->first,
                                         model->reaching,  model->n_x, model->n_y,
                                         model->box.cell};
    samples->source =
        (struct pixel_source){.width = s->smoothing.width, .height = s->smoothing.height};
    return c->backend->smooth(c->cuda, &s->smoothing, &less, s->grid.width, s->grid.height,
                              calls->threads, &samples->on_device, n_samples, calls->error);
}

static enum srcfind_status smooth_here(const struct scale *s, const struct view *view,
                                       const struct backend_calls *calls, const struct model *model,
                                       struct samples *samples, int64_t *n_samples) {
    const struct smoothing *m = &s->smoothing;
    const struct smooth_work work = {m, view->source, model, samples_put, samples};
    const enum srcfind_status status =
        samples_make(samples, m->width, m->height, s->n_images, calls->error);
    return status == SRCFIND_OK ? smooth(&work, calls->threads, n_samples, calls->error) : status;
}

enum srcfind_status scale_smooth(const struct scale *s, const struct view *view,
                                 const struct backend_calls *calls, const struct sources *sources,
                                 struct samples *samples, int64_t *n_samples) {
    const struct model_box box = {0, 0, s->grid.width, s->grid.height, MODEL_CELL};
    struct model model;
    enum srcfind_status status;
    if (!model_make(&model, sources->gaussians, sources->n_gaussians, &box))
        status = error_memory(calls->error, "smoothing the image");
    else if (view->result.is_on_device)
        status = smooth_on_device(s, calls, &model, sources->n_gaussians, samples, n_samples);
    else
        status = smooth_here(s, view, calls, &model, samples, n_samples);
    model_clear(&model);
    return status;
}

enum { FETCHED = 1 << 22 }; /* samples that are copied at a time, or one row */

/* Copies n rows of samples, from row y on, from the device. */
static enum srcfind_status fetch_rows(struct backend_calls *calls, struct samples *samples,
                                      int64_t y, int64_t n, struct run *runs, int64_t *first,
                                      float *values) {
    const int64_t width = samples->width;
    for (int64_t k = 0; k < n; k++) {
        runs[k] = (struct run){(int32_t)(y + k), 0, (int32_t)width - 1};
        first[k] = k * width;
    }
    const struct gathered_runs placed = {runs, first, n, n * width};
    const enum srcfind_status status = backend_gather(calls, &placed, values, calls->error);
    return status == SRCFIND_OK ? samples_put(samples, y, n, values, calls->error) : status;
}

/* Copies all samples from the device. */
static enum srcfind_status fetch(const struct scale *s, struct backend_calls *calls,
                                 struct samples *samples) {
    const struct smoothing *m = &s->smoothing;
    const int64_t most = m->width < FETCHED ? FETCHED / m->width : 1;
    struct run *runs = arrays_allocate(most, sizeof *runs);
    int64_t *first = arrays_allocate(most, sizeof *first);
    float *values = arrays_allocate(most * m->width, sizeof *values);
    enum srcfind_status status =
        runs && first && values
            ? samples_make(samples, m->width, m->height, s->n_images, calls->error)
            : error_memory(calls->error, "smoothing the image");
    for (int64_t y = 0; status == SRCFIND_OK && y < m->height; y += most)
        status = fetch_rows(calls, samples, y, m->height - y < most ? m->height - y : most, runs,
                            first, values);
    free(runs);
    free(first);
    free(values);
    return status;
}

enum srcfind_status scale_smooth_kept(const struct scale *s, const struct view *view,
                                      struct backend_calls *calls, const struct sources *sources,
                                      struct samples *samples, int64_t *n_samples) {
    struct view kept = *view;
    enum srcfind_status status = backend_keep(calls, view->source, &kept.result.is_on_device);
    if (status == SRCFIND_OK)
        status = scale_smooth(s, &kept, calls, sources, samples, n_samples);
    return status == SRCFIND_OK && kept.result.is_on_device ? fetch(s, calls, samples) : status;
}
