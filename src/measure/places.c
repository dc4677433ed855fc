/* How amplitudes of fixed shapes are fitted at places, in one pass over the image or two.
 *
 * 1. place_crowds.c leaves out most places of a crowd; place_groups.c links close places to
 *    clusters and halves large ones into parts.
 * 2. take_groups reads groups batch by batch, 16384 groups or 4 million pixels; fit_group makes the
 *    sums of a group, and fits it at once unless it is a part of a cluster, whose sums are kept.
 * 3. fit_parts: parts are fitted one after the other, each less the amplitudes of the others so
 *    far, in sweeps until no amplitude changes by more than a thousandth of its error; 50 sweeps at
 *    most (Gauss and Seidel).
 * 4. If residuals are wanted, the pixels of parts are read again.
 *
 * Always: places are sorted, so results do not depend on the order in the user's table. An
 * amplitude that still changes by a tenth of its error after the last sweep is uncertain.
 *
 * Cost: a read of the image; the sums of parts, some 512 n + n^2 numbers for a part of n places. */
#include "measure/places.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/place_crowds.h"

/* Most groups and pixels in memory at a time; one group may have more pixels. */
enum { MOST_GROUPS = 16384, MOST_PIXELS = 1 << 22 };

/* The most pixels on each side of a place. */
static const double MOST_REACH = 256;

/* The least FWHM of a beam, in pixels, for weights. */
static const double LEAST_FWHM = 2;

static const char MEASURING[] = "measuring at given positions";

/* --- places --- */

bool place_beam_is_too_wide(const struct tensor *beam, int64_t width, int64_t height) {
    return !(FIT_FWHM * sqrt(tensor_axes(beam).major) <= hypot((double)width, (double)height));
}

double place_widest(const struct tensor *beam, int64_t width, int64_t height) {
    return hypot(hypot((double)width, (double)height), FIT_FWHM * sqrt(tensor_axes(beam).major));
}

struct place place_make(double x, double y, const struct tensor *moments, double widest,
                        int64_t row) {
    struct place p = {.x = x, .y = y, .moments = {NAN, NAN, NAN}, .row = row, .source = row};
    if (!moments) {
        p.is_sampled = true;
        p.reach_x = p.reach_y = PLACE_SAMPLE_REACH;
        return p;
    }
    if (!(FIT_FWHM * sqrt(tensor_axes(moments).major) <= widest) ||
        !(tensor_determinant(moments) > 0)) { /* a line, but for rounding */
        place_leave_out(&p);
        return p;
    }
    p.moments = *moments;
    p.form = tensor_inverse(&p.moments);
    const double reach = FIT_FWHM * (1 + 1e-6); /* a pixel at just one FWHM is used */
    const double reach_x = reach * sqrt(p.moments.xx), reach_y = reach * sqrt(p.moments.yy);
    const double part = fmin(1, MOST_REACH / fmax(reach_x, reach_y));
    p.square = reach * reach * part * part;
    p.reach_x = reach_x * part;
    p.reach_y = reach_y * part;
    return p;
}

bool place_is_cut(const struct place *p, int64_t width, int64_t height) {
    if (p->is_sampled) /* pixels at offsets of less than a pixel more are no part of it */
        return p->x - p->reach_x <= -1 || p->y - p->reach_y <= -1 ||
               p->x + p->reach_x >= (double)width || p->y + p->reach_y >= (double)height;
    return p->square > 0 &&
           (p->x < p->reach_x || p->y < p->reach_y || p->x > (double)width - 1 - p->reach_x ||
            p->y > (double)height - 1 - p->reach_y);
}

/* Compares positions and shapes of two places. */
static int compare_measured(const struct place *a, const struct place *b) {
    const double left[] = {a->y, a->x, a->moments.xx, a->moments.yy, a->moments.xy};
    const double right[] = {b->y, b->x, b->moments.xx, b->moments.yy, b->moments.xy};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] < right[i] || left[i] > right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int compare_places(const void *a, const void *b) {
    const struct place *left = a, *right = b;
    const int order = compare_measured(left, right);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

void places_sort(struct place *places, int64_t n, bool has_shapes) {
    qsort(places, (size_t)n, sizeof *places, compare_places);
    for (int64_t i = 0; i < n; i++) {
        struct place *p = &places[i];
        p->twin = i > 0 && has_shapes && compare_measured(p - 1, p) == 0 ? p[-1].twin : i;
    }
}

/* --- groups --- */

struct group_fits {
    const struct places_setting *setting;
    struct place_noise noise;
    const struct place *places;
    int64_t n;
    struct place_groups groups;
    struct place_sums *sums;      /* of each group, while they are needed */
    struct place_pixels *known;   /* of each place */
    struct amplitude *amplitudes; /* of each place */
    /* Takes the pixels of a group. */
    enum srcfind_status (*take)(const struct group_fits *f, int64_t group,
                                const struct run_set *set, struct error *error);
    bool parts_only;                 /* only parts of clusters get pixels */
    int64_t first_group;             /* of the batch */
    const struct place_runs *runs;   /* of the batch */
    const struct run_pixels *pixels; /* of the batch */
};

enum { GROUPS_A_SHARE = 64 };

static enum srcfind_status take_share(void *context, int share, struct error *error) {
    const struct group_fits *f = context;
    const int64_t first = (int64_t)share * GROUPS_A_SHARE;
    const int64_t end = first + GROUPS_A_SHARE < f->runs->n ? first + GROUPS_A_SHARE : f->runs->n;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t k = first; status == SRCFIND_OK && k < end; k++)
        status = f->take(f, f->first_group + k, &f->runs->sets[k], error);
    return status;
}

/* Reads the pixels of a batch of groups, whose runs are made. */
static enum srcfind_status take_batch(struct group_fits *f, struct place_runs *runs,
                                      struct threads *threads, struct error *error) {
    struct run_pixels pixels = {0};
    place_runs_finish(runs);
    enum srcfind_status status = run_pixels_read(f->setting->pixels, runs->sets, runs->n,
                                                 runs->n_pixels, threads, &pixels, error);
    f->runs = runs;
    f->pixels = &pixels;
    if (status == SRCFIND_OK)
        status = threads_try(threads, (int)((runs->n + GROUPS_A_SHARE - 1) / GROUPS_A_SHARE),
                             take_share, f, error);
    run_pixels_clear(&pixels);
    return status;
}

/* Reads the pixels of all groups, batch by batch. */
static enum srcfind_status take_groups(struct group_fits *f, struct threads *threads,
                                       struct error *error) {
    static const struct place_group none = {0};
    const struct pixel_source *source = f->setting->pixels->source;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < f->groups.n;) {
        struct place_runs runs = {0};
        f->first_group = i;
        for (; status == SRCFIND_OK && i < f->groups.n && runs.n < MOST_GROUPS &&
               runs.n_pixels < MOST_PIXELS;
             i++) {
            const struct place_group *group = &f->groups.groups[i];
            if (!place_runs_add(&runs, f->places, f->parts_only && !group->is_part ? &none : group,
                                source->width, source->height))
                status = error_memory(error, MEASURING);
        }
        if (status == SRCFIND_OK)
            status = take_batch(f, &runs, threads, error);
        place_runs_clear(&runs);
    }
    return status;
}

/* --- amplitudes --- */

static void add_residuals(const struct group_fits *f, int64_t i, const struct run_set *set) {
    place_residuals_add(f->places, &f->groups.groups[i], set, f->pixels, f->amplitudes, f->known);
}

/* Sets the system of a group, whose sums are made, and the errors of its amplitudes. */
static void prepare_group(const struct group_fits *f, int64_t i, struct amplitude_system *system) {
    const struct place_group *group = &f->groups.groups[i];
    *system = amplitudes_factorise(group, &f->sums[i], f->known);
    amplitudes_errors(f->places, group, system, &f->noise, f->known, f->amplitudes);
    if (f->setting->positive)
        amplitudes_hold_positive(system, &f->sums[i]);
}

/* Sums the pixels of a group, and fits it. Sums of a part of a cluster are kept instead. */
static enum srcfind_status fit_group(const struct group_fits *f, int64_t i,
                                     const struct run_set *set, struct error *error) {
    const struct place_group *group = &f->groups.groups[i];
    struct place_sums *sums = &f->sums[i];
    if (!place_sums_make(group, sums))
        return error_memory(error, MEASURING);
    place_sums_add(f->places, group, set, f->pixels, sums, f->known);
    if (group->is_part)
        return SRCFIND_OK;
    if (f->setting->frame) {
        struct amplitude_system s;
        prepare_group(f, i, &s);
        amplitudes_solve(group, &s, sums, f->known, f->amplitudes);
        amplitudes_share(group, &s, f->amplitudes);
    }
    place_sums_free(sums);
    if (f->setting->residuals)
        add_residuals(f, i, set);
    return SRCFIND_OK;
}

/* The groups that are parts of clusters. */
struct parts {
    const struct group_fits *f;
    int64_t *groups;
    struct amplitude_system *systems;
    int64_t n;
};

static void prepare_part(void *context, int i) {
    const struct parts *p = context;
    prepare_group(p->f, p->groups[i], &p->systems[i]);
}

/* Fits all parts, one after the other, each less the others as they are so far. Returns the largest
 * change of an amplitude, in units of its error. */
static double sweep(const struct parts *p) {
    const struct group_fits *f = p->f;
    double largest = 0;
    for (int64_t i = 0; i < p->n; i++)
        largest = fmax(largest, amplitudes_solve(&f->groups.groups[p->groups[i]], &p->systems[i],
                                                 &f->sums[p->groups[i]], f->known, f->amplitudes));
    return largest;
}

/* The largest change of an amplitude by the last sweep, in units of its error, if the sweeps
 * converge. */
static const double MOST_CHANGE = 0.1;

static void mark_unsteady(const struct place_group *group, struct amplitude *amplitudes) {
    for (int i = 0; i < group->n; i++) {
        struct amplitude *amplitude = &amplitudes[group->members[i]];
        amplitude->is_uncertain = amplitude->is_uncertain || !(amplitude->change <= MOST_CHANGE);
    }
}

/* Fits the parts of clusters, until a cluster is as if it were fitted as a whole. Two sweeps are
 * enough where places are two beams apart, not where they are one. */
static void fit_parts(struct parts *p, struct threads *threads) {
    enum { MOST_SWEEPS = 50 };
    static const double least_change = 1e-3; /* of an amplitude, in its errors */
    const struct group_fits *f = p->f;
    for (int64_t i = 0; i < f->groups.n; i++)
        if (f->groups.groups[i].is_part)
            p->groups[p->n++] = i;
    threads_run(threads, (int)p->n, prepare_part, p);
    for (int k = 0; k < MOST_SWEEPS && sweep(p) > least_change; k++)
        ;
    for (int64_t i = 0; i < p->n; i++)
        mark_unsteady(&f->groups.groups[p->groups[i]], f->amplitudes);
    for (int64_t i = 0; i < p->n; i++)
        amplitudes_share(&f->groups.groups[p->groups[i]], &p->systems[i], f->amplitudes);
}

static enum srcfind_status take_residuals(const struct group_fits *f, int64_t i,
                                          const struct run_set *set, struct error *error) {
    (void)error;
    if (f->groups.groups[i].is_part)
        add_residuals(f, i, set);
    return SRCFIND_OK;
}

/* Fits clusters, whose sums are made, and reads their pixels again if residuals are wanted. */
static enum srcfind_status fit_clusters(struct group_fits *f, struct threads *threads,
                                        struct error *error) {
    int64_t n = 0;
    for (int64_t i = 0; i < f->groups.n; i++)
        n += f->groups.groups[i].is_part;
    if (n == 0)
        return SRCFIND_OK;
    struct parts p = {.f = f,
                      .groups = arrays_allocate(n, sizeof *p.groups),
                      .systems = arrays_allocate(n, sizeof *p.systems)};
    const bool ok = p.groups && p.systems;
    if (ok)
        fit_parts(&p, threads);
    free(p.groups);
    free(p.systems);
    if (!ok)
        return error_memory(error, MEASURING);
    f->parts_only = true;
    f->take = take_residuals;
    return f->setting->residuals ? take_groups(f, threads, error) : SRCFIND_OK;
}

/* Points have the power that suits
 * the noise best. In a wider shape, noise is less correlated: as in fits (fit_core_exponent), the
 * power falls with the area in beams to 3/2. A beam of few pixels needs them all. */
bool places_weigh(const struct fit_frame *frame, const struct correlation *noise,
                  struct place *places, int64_t n, struct place_noise *of_pairs) {
    const struct tensor beam = beam_frame_moments(frame);
    const bool is_narrow = FIT_FWHM * sqrt(tensor_axes(&beam).minor) < LEAST_FWHM;
    const double power = is_narrow ? 0 : place_noise_power(noise, &beam);
    for (int64_t i = 0; i < n; i++) {
        const double ratio =
            tensor_determinant(&places[i].moments) / tensor_determinant(&beam); /* of areas^2 */
        places[i].power = ratio > 1 + 1e-9 ? power / pow(ratio, 0.75) : power;
    }
    return place_noise_make(noise, &beam, power, of_pairs);
}

enum srcfind_status places_fit(const struct places_setting *setting, struct place *places,
                               int64_t n, struct threads *threads, struct place_pixels *known,
                               struct amplitude *amplitudes, struct error *error) {
    struct group_fits f = {.setting = setting,
                           .places = places,
                           .n = n,
                           .known = known,
                           .amplitudes = amplitudes,
                           .take = fit_group};
    enum srcfind_status status = SRCFIND_OK;
    const bool has_noise =
        !setting->frame || places_weigh(setting->frame, setting->noise, places, n, &f.noise);
    memset(amplitudes, 0, (size_t)n * sizeof *amplitudes);
    if (!has_noise || (setting->frame && !place_crowds_mark(places, n)) ||
        !place_groups_make(places, n, setting->frame, &f.groups) ||
        !(f.sums = calloc((size_t)f.groups.n + 1, sizeof *f.sums)))
        status = error_memory(error, MEASURING);
    if (status == SRCFIND_OK)
        status = take_groups(&f, threads, error);
    if (status == SRCFIND_OK)
        status = fit_clusters(&f, threads, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i++)
        amplitudes[i].is_uncertain = amplitudes[i].is_uncertain || places[i].is_crowded;
    for (int64_t i = 0; f.sums && i < f.groups.n; i++)
        place_sums_free(&f.sums[i]);
    free(f.sums);
    place_noise_clear(&f.noise);
    place_groups_clear(&f.groups);
    return status;
}
