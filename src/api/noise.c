#include "api/noise.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

/* Boxes of 10 to 15 beams gave the fewest detections in the negated images of 23 real maps. */
enum { BEAMS_A_STEP = 5, LEAST_BOX = 48 };

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

/* Whether both rms and background are given, as values or maps: nothing is to be measured. */
static bool is_given(const struct detection *d) {
    return (d->rms > 0 || d->maps.rms) && (!isnan(d->background) || d->maps.background);
}

void noise_choose_box(const struct noise_choice *choice, const struct srcfind_image *image,
                      struct detection *detection) {
    detection->box = detection->step = 0;
    if (is_given(detection))
        return;
    if (choice->rms_box.size > 0) {
        detection->box = choice->rms_box.size;
        detection->step = choice->rms_box.step;
    } else if (choice->local) {
        detection->box = default_box(image);
        detection->step = detection->box / STEPS_A_BOX;
    }
}

double noise_beam_squared(const struct srcfind_image *image) {
    const double squared = image->beam.major * image->beam.minor / image->pixel_area;
    return !isfinite(squared) ? 0 : squared > 4 ? squared : 4;
}

/* The value of a rank among n values, whose order changes: quickselect (Hoare 1961, CACM 4, 321),
 * with a pivot from the middle. A sort of a million nodes would take as long as all boxes on a GPU.
 */
static double value_of_rank(double *values, int64_t n, int64_t rank) {
    int64_t first = 0, last = n - 1;
    while (first < last) {
        const double pivot = values[first + (last - first) / 2];
        int64_t i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                const double value = values[i];
                values[i++] = values[j];
                values[j--] = value;
            }
        }
        if (rank > j && rank < i)
            return pivot;
        if (rank <= j)
            last = j;
        else
            first = i;
    }
    return values[first];
}

/* A rank of the background or the rms of the nodes, and then its value; is_known is false where
 * memory ran out. */
struct rank {
    bool is_rms;
    int64_t rank;
    double value;
    bool is_known;
};

struct ranks {
    const struct noise_map *map;
    struct rank of[3];
};

static void find_rank(void *context, int i) {
    struct ranks *r = context;
    const struct noise_map *map = r->map;
    const int64_t n = map->n_x * map->n_y;
    double *values = arrays_allocate(n, sizeof *values);
    for (int64_t k = 0; values && k < n; k++)
        values[k] = r->of[i].is_rms ? map->nodes[k].rms : map->nodes[k].background;
    r->of[i].is_known = values;
    if (values)
        r->of[i].value = value_of_rank(values, n, r->of[i].rank);
    free(values);
}

bool noise_describe(const struct detection *detection, const struct noise_map *map,
                    struct threads *threads, struct srcfind_background *background,
                    struct srcfind_quality *quality) {
    const int64_t n = map->n_x * map->n_y;
    struct ranks r = {.map = map,
                      .of = {{.is_rms = true, .rank = (n - 1) / 2},
                             {.rank = (n - 1) / 10},
                             {.rank = (n - 1) * 9 / 10}}};
    quality->background_p10 = quality->background_p90 = NAN;
    if (!map->nodes)
        return true;
    background->box = detection->box;
    background->step = detection->step;
    background->rms_least = INFINITY;
    background->rms_most = 0;
    for (int64_t i = 0; i < n; i++) {
        const double rms = map->nodes[i].rms;
        background->rms_least = rms < background->rms_least ? rms : background->rms_least;
        background->rms_most = rms > background->rms_most ? rms : background->rms_most;
    }
    threads_run(threads, 3, find_rank, &r);
    background->rms_median = r.of[0].value;
    quality->background_p10 = r.of[1].value;
    quality->background_p90 = r.of[2].value;
    return r.of[0].is_known && r.of[1].is_known && r.of[2].is_known;
}

bool noise_describe_correlation(const struct correlation *c,
                                struct srcfind_correlation *described) {
    const struct lags *l = &c->lags;
    const int n_x = 2 * l->half_x + 1, n_y = 2 * l->half_y + 1;
    double *values = malloc((size_t)n_x * (size_t)n_y * sizeof *values);
    const double beam_area = 2 * M_PI / (c->beam.ux * c->beam.vy);
    for (int j = 0; values && j < n_y; j++)
        memcpy(values + (ptrdiff_t)j * n_x, l->value[j], (size_t)n_x * sizeof *values);
    *described = (struct srcfind_correlation){.measured = c->is_measured,
                                              .n_pixels = c->n_pixels,
                                              .area = correlation_area(c),
                                              .beam_area = c->beam.has_beam ? beam_area : 1,
                                              .step_x = l->step_x,
                                              .step_y = l->step_y,
                                              .n_x = n_x,
                                              .n_y = n_y,
                                              .values = values};
    return values;
}
