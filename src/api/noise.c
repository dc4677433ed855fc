#include "api/noise.h"

#include "common/arrays.h"

/* Boxes of 10 to 15 beams gave the fewest detections in the negated images of 23 real maps. */
enum { BEAMS_A_STEP = 5, STEPS_A_BOX = 3, LEAST_BOX = 48 };

double noise_wanted_box(const struct srcfind_image *image) {
    const double beam = image->beam.major / sqrt(image->pixel_area); /* in pixels */
    const double step = ceil(BEAMS_A_STEP * beam - 1e-6);            /* 1e-6: a header's rounding */
    return step * STEPS_A_BOX > LEAST_BOX ? step * STEPS_A_BOX : LEAST_BOX;
}

/* A multiple of STEPS_A_BOX. */
static int64_t default_box(const struct srcfind_image *image) {
    const double wanted = noise_wanted_box(image);
    const int64_t shorter = image->width < image->height ? image->width : image->height;
    const int64_t most = shorter / 2 / STEPS_A_BOX * STEPS_A_BOX;
    const int64_t box = wanted < (double)most ? (int64_t)wanted : most;
    return box < LEAST_BOX ? 0 : box;
}

bool noise_is_given(const struct options *options) {
    return (options->rms > 0 || *options->rms_map) &&
           (!isnan(options->background) || *options->background_map);
}

void noise_choose_box(const struct options *options, const struct srcfind_image *image,
                      struct detection *detection) {
    detection->box = detection->step = 0;
    if (noise_is_given(options))
        return;
    if (options->rms_box.size > 0) {
        detection->box = options->rms_box.size;
        detection->step = options->rms_box.step;
    } else if (options->local) {
        detection->box = default_box(image);
        detection->step = detection->box / STEPS_A_BOX;
    }
}

bool noise_describe(const struct detection *detection, const struct noise_map *map,
                    struct srcfind_background *background) {
    const size_t n = (size_t)(map->n_x * map->n_y);
    double *rms = map->nodes ? malloc(n * sizeof *rms) : NULL;
    if (!rms)
        return !map->nodes;
    for (size_t i = 0; i < n; i++)
        rms[i] = map->nodes[i].rms;
    qsort(rms, n, sizeof *rms, arrays_compare_doubles);
    background->box = detection->box;
    background->step = detection->step;
    background->rms_least = rms[0];
    background->rms_median = rms[(n - 1) / 2];
    background->rms_most = rms[n - 1];
    free(rms);
    return true;
}
