#include "api/elsewhere.h"

#include <math.h>

#include "input/user_maps.h"
#include "measure/beam_frame.h"

struct options elsewhere_options(const struct options *options) {
    struct options own = *options;
    own.noise.rms = 0;
    own.rms_map = own.background_map = "";
    own.noise.background = options->noise.background == 0 ? 0 : NAN;
    return own;
}

struct detection elsewhere_detection(const struct options *options, const struct image *image,
                                     const struct srcfind_image *metadata) {
    const struct options own = elsewhere_options(options);
    struct detection detection = finder_detection(&own, image, metadata);
    detection.maps = (struct noise_sources){NULL, NULL};
    detection.keep_runs = true;
    return detection;
}

struct elsewhere elsewhere_make(const struct image *image, const struct srcfind_image *metadata,
                                const struct detection *detection) {
    struct elsewhere e = {.source = user_map_source(image->user_maps, USER_DETECTION),
                          .detection = detection,
                          .grid = &GRID_OF_IMAGE,
                          .image = image,
                          .metadata = metadata};
    if (!e.source)
        return e;
    const struct srcfind_image *own;
    const struct image *other = user_map_image(image->user_maps, USER_DETECTION, &own);
    e.unit = own->unit;
    if (isfinite(own->beam_pixels)) {
        e.image = other;
        e.metadata = own;
    }
    return e;
}

void elsewhere_clear(struct elsewhere *e) {
    detection_result_clear(&e->result);
    e->result = (struct detection_result){0};
    sources_clear(&e->model);
}

enum srcfind_status elsewhere_detect(struct elsewhere *e, const struct backend_calls *calls,
                                     const struct pixel_source *measured,
                                     const struct detection *detection,
                                     struct detection_result *result) {
    const struct detection noise = noise_detection(*detection);
    enum srcfind_status status = backend_detect(calls, measured, NULL, &noise, result);
    segments_clear(&result->segments);
    result->is_on_device = false; /* but the other one, which is searched last */
    if (result->background.empty && !(detection->rms > 0)) /* the image has no noise */
        result->noise.rms = NAN;
    if (status == SRCFIND_OK)
        status = backend_detect(calls, e->source, NULL, e->detection, &e->result);
    result->segments = e->result.segments;
    e->result.segments = (struct segments){0};
    return status;
}

struct run_source elsewhere_pixels(const struct elsewhere *e, struct backend_calls *calls) {
    return (struct run_source){.source = e->source,
                               .noise = &e->result.noise,
                               .gather = e->result.is_on_device ? backend_gather : NULL,
                               .context = calls};
}

enum srcfind_status elsewhere_grid(const struct elsewhere *e, const struct options *options,
                                   const struct grid *measured, struct grid *grid,
                                   struct error *error) {
    struct fit_frame frame;
    const enum srcfind_status status = sources_frame(options, e->image, e->metadata, &frame, error);
    *grid = *measured;
    if (status == SRCFIND_OK)
        grid->beam = beam_frame_moments(&frame);
    return status;
}

enum srcfind_status elsewhere_fit(struct elsewhere *e, struct backend_calls *calls,
                                  const struct options *options, const struct segments *segments) {
    const struct sources_from from = {.options = options,
                                      .pixels = elsewhere_pixels(e, calls),
                                      .image = e->image,
                                      .metadata = e->metadata,
                                      .detection = e->detection,
                                      .grid = e->grid,
                                      .fitter = {backend_fit, calls}};
    struct sources found;
    enum srcfind_status status = sources_fit(&from, segments, calls->threads, &found, calls->error);
    if (status == SRCFIND_OK && !sources_append(&e->model, &found))
        status = error_memory(calls->error, "fitting sources");
    sources_clear(&found);
    return status;
}
