#include "api/scales.h"

#include <math.h>

#include "api/noise.h"
#include "measure/beam_frame.h"
#include "measure/smooth.h"

/* Boxes of local noise, in effective beams and in samples. */
enum { BEAMS_A_BOX = 15, LEAST_SAMPLES = 8 };

/* FWHM of a round Gaussian with the area of this one, in pixels. */
static double fwhm_of(const struct tensor *t) {
    return FIT_FWHM * sqrt(sqrt(tensor_determinant(t)));
}

/* Local noise in the samples, in boxes that follow the effective beam. */
static void choose_box(struct scale *s, double effective) {
    const struct smoothing *m = &s->smoothing;
    const int64_t shorter = m->width < m->height ? m->width : m->height;
    const double wanted = BEAMS_A_BOX * effective / (double)m->step;
    const int64_t most = shorter / 2, box = wanted < (double)most ? (int64_t)wanted : most;
    if (box < LEAST_SAMPLES)
        return;
    s->detection.box = box;
    s->detection.step = box / STEPS_A_BOX;
}

enum srcfind_status scale_make(struct scale *s, double fwhm, const struct options *options,
                               const struct image *image, const struct srcfind_image *metadata,
                               const struct detection *detection, struct error *error) {
    struct fit_frame frame;
    const enum srcfind_status status = sources_frame(options, image, metadata, &frame, error);
    *s = (struct scale){.detection = *detection};
    if (status != SRCFIND_OK)
        return status;
    const int64_t width = metadata->width, height = metadata->height;
    const struct tensor beam = beam_frame_moments(&frame);
    const double kernel = fwhm * fwhm_of(&beam), sigma = kernel / FIT_FWHM;
    const struct tensor wide = {beam.xx + sigma * sigma, beam.yy + sigma * sigma, beam.xy};
    const double effective = fwhm_of(&wide);
    s->is_left_out = kernel > (double)(width < height ? width : height) / 2;
    if (s->is_left_out)
        return SRCFIND_OK;
    if (!smoothing_make(&s->smoothing, kernel, effective, width, height))
        return error_memory(error, "smoothing the image");
    const int64_t step = s->smoothing.step, area = step * step;
    s->grid = (struct grid){.scale = fwhm,
                            .step = step,
                            .offset = s->smoothing.offset,
                            .variance = sigma * sigma,
                            .width = width,
                            .height = height,
                            .beam = beam};
    s->detection.background = NAN;
    s->detection.rms = 0;
    s->detection.maps = (struct noise_sources){NULL, NULL};
    s->detection.keep_runs = true;
    s->detection.min_pixels = (detection->min_pixels + area - 1) / area;
    s->detection.box = s->detection.step = 0;
    choose_box(s, effective);
    return SRCFIND_OK;
}

void scale_clear(struct scale *s) {
    smoothing_clear(&s->smoothing);
}

static enum srcfind_status smooth_on_device(const struct scale *s,
                                            const struct gpu_context *context,
                                            const struct model *model, int64_t n,
                                            struct threads *threads, struct samples *samples,
                                            int64_t *n_samples, struct error *error) {
    const struct smoothing_model less = {model->gaussians, n,          model->first,
                                         model->reaching,  model->n_x, model->n_y,
                                         model->box.cell};
    return context->backend->smooth(context->cuda, &s->smoothing, &less, s->grid.width,
                                    s->grid.height, threads, &samples->on_device, n_samples, error);
}

enum srcfind_status scale_smooth(const struct scale *s, const struct pixel_source *source,
                                 const struct gpu_context *context, const struct sources *sources,
                                 struct threads *threads, struct samples *samples,
                                 int64_t *n_samples, struct error *error) {
    const struct smoothing *m = &s->smoothing;
    const struct model_box box = {0, 0, s->grid.width, s->grid.height, MODEL_CELL};
    struct model model;
    const struct smooth_work work = {m, source, &model, samples_put, samples};
    enum srcfind_status status = SRCFIND_OK;
    if (!model_make(&model, sources->gaussians, sources->n_gaussians, &box))
        status = error_memory(error, "smoothing the image");
    else if (context)
        status = smooth_on_device(s, context, &model, sources->n_gaussians, threads, samples,
                                  n_samples, error);
    else
        status = samples_make(samples, m->width, m->height, error);
    if (status == SRCFIND_OK && !context)
        status = smooth(&work, threads, n_samples, error);
    model_clear(&model);
    return status;
}
