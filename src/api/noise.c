#include "api/noise.h"

#include <stdlib.h>
#include <string.h>

#include "common/rank.h"

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

/* A rank of the background or the rms of the nodes, and then its value; is_known is false where
 * memory ran out. */
struct rank {
    bool is_rms;
    int64_t rank;
    double value;
    bool is_known;
};

/* What is found of the nodes, by calls of a loop of its threads. */
enum { OF_RANKS = 3, CALLS = OF_RANKS + 1 };

struct of_nodes {
    const struct noise_map *map;
    int64_t n;
    struct rank ranks[OF_RANKS];
    double rms_least, rms_most;
};

static double value_of_node(const struct of_nodes *nodes, bool is_rms, int64_t k) {
    return is_rms ? nodes->map->nodes[k].rms : nodes->map->nodes[k].background;
}

/* Copies the values of every `step`th node. Returns their number. */
static int64_t copy_values(const struct of_nodes *nodes, bool is_rms, int64_t step,
                           double *values) {
    int64_t n = 0;
    for (int64_t k = 0; k < nodes->n; k += step)
        values[n++] = value_of_node(nodes, is_rms, k);
    return n;
}

/* Values from `low` to `high`. */
struct bracket {
    double low, high;
};

/* Copies the values of nodes that are in a bracket, and counts those below it in *n_below. Returns
 * how many are copied. `values` has room for all. */
static int64_t copy_bracket(const struct of_nodes *nodes, bool is_rms, struct bracket bracket,
                            double *values, int64_t *n_below) {
    int64_t n = 0;
    *n_below = 0;
    for (int64_t k = 0; k < nodes->n; k++) {
        const double v = value_of_node(nodes, is_rms, k);
        values[n] = v;
        n += v >= bracket.low && v <= bracket.high;
        *n_below += v < bracket.low;
    }
    return n;
}

enum { NODES_A_SAMPLE = 31, LEAST_SAMPLE = 4096 };

/* A bracket that has the value of a rank, almost always: around its place in a sample of n nodes,
 * which errs by less than sqrt(n), though boxes overlap. */
static struct bracket guess_bracket(const struct of_nodes *nodes, const struct rank *r,
                                    double *values) {
    const int64_t n = copy_values(nodes, r->is_rms, NODES_A_SAMPLE, values);
    const int64_t beside = 4 * (int64_t)sqrt((double)n);
    const int64_t first = r->rank / NODES_A_SAMPLE - beside, last = first + 2 * beside;
    if (n < LEAST_SAMPLE)
        return (struct bracket){-INFINITY, INFINITY};
    return (struct bracket){first < 0 ? -INFINITY : value_of_rank(values, n, first),
                            last < n ? value_of_rank(values, n, last) : INFINITY};
}

/* Finds the value of a rank. To rank a million nodes would take as long as all boxes on a GPU, so
 * a sample tells which of them need it. */
static void find_rank(const struct of_nodes *nodes, struct rank *r) {
    double *values = malloc(((size_t)nodes->n + 1) * sizeof *values);
    int64_t n_below;
    r->is_known = values;
    if (!values)
        return;
    const struct bracket bracket = guess_bracket(nodes, r, values);
    int64_t n = copy_bracket(nodes, r->is_rms, bracket, values, &n_below);
    if (r->rank < n_below || r->rank >= n_below + n) {
        n = copy_values(nodes, r->is_rms, 1, values);
        n_below = 0;
    }
    r->value = value_of_rank(values, n, r->rank - n_below);
    free(values);
}

static void find_extremes(struct of_nodes *nodes) {
    nodes->rms_least = INFINITY;
    nodes->rms_most = 0;
    for (int64_t k = 0; k < nodes->n; k++) {
        const double rms = nodes->map->nodes[k].rms;
        nodes->rms_least = rms < nodes->rms_least ? rms : nodes->rms_least;
        nodes->rms_most = rms > nodes->rms_most ? rms : nodes->rms_most;
    }
}

static void find_of_nodes(void *context, int call) {
    struct of_nodes *nodes = context;
    if (call < OF_RANKS)
        find_rank(nodes, &nodes->ranks[call]);
    else
        find_extremes(nodes);
}

bool noise_describe(const struct detection *detection, const struct noise_map *map,
                    struct threads *threads, struct srcfind_background *background,
                    struct srcfind_quality *quality) {
    const int64_t n = map->n_x * map->n_y;
    struct of_nodes nodes = {.map = map,
                             .n = n,
                             .ranks = {{.is_rms = true, .rank = (n - 1) / 2},
                                       {.rank = (n - 1) / 10},
                                       {.rank = (n - 1) * 9 / 10}}};
    quality->background_p10 = quality->background_p90 = NAN;
    if (!map->nodes)
        return true;
    threads_run(threads, CALLS, find_of_nodes, &nodes);
    background->box = detection->box;
    background->step = detection->step;
    background->rms_least = nodes.rms_least;
    background->rms_most = nodes.rms_most;
    background->rms_median = nodes.ranks[0].value;
    quality->background_p10 = nodes.ranks[1].value;
    quality->background_p90 = nodes.ranks[2].value;
    return nodes.ranks[0].is_known && nodes.ranks[1].is_known && nodes.ranks[2].is_known;
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
