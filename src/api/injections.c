/* How sources for injection are drawn:
 *
 * 1. Trials are planned: at most one source in 400 areas of its FWHM, so that sources do not
 *    disturb each other, and at most 64 trials, which all widths share.
 * 2. The S/N of each source is drawn, with the same probability in each interval of its logarithm.
 * 3. Positions are drawn evenly over the image, until the pixel there has a value and an rms in
 *    both images. Rounds have 4 tries a source, then 4, 8, 16 ... more, up to 512 in all.
 *
 * Every random number depends on seed, source and try alone (common/random.h): sources are the same
 * for any number of threads, and more sources do not change the first ones.
 * Each round reads the pixels of its tries, at most 2^20 or one a source, once from each image. */
#include "api/injections.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "common/random.h"
#include "input/blanks.h"

enum { MOST_TRIALS = 64 };

/* Tries at a position for a source. Each round of tries reads the image. The first round has a few
 * tries for each source, the next ones as many as all before, or as many as memory allows. */
enum { FIRST_TRIES = 4, MOST_TRIES = 512, MOST_A_ROUND = 1 << 20 };

/* The uses of random numbers. */
enum { RANDOM_SNR, RANDOM_X, RANDOM_Y };

/* The first number of a source of each width; it does not depend on how many sources there are. */
static const uint64_t NUMBERS_A_WIDTH = (uint64_t)1 << 32;

void injections_plan(const struct injections *list, double n_pixels, double beam_pixels,
                     struct injection_plan *plans) {
    int64_t n_left = MOST_TRIALS;
    for (int i = 0; i < list->n_widths; i++) {
        const double area = list->widths[i] * list->widths[i] * beam_pixels;
        const double room = floor(n_pixels / (INJECTION_AREAS * area));
        const int64_t n_a_trial = (int64_t)fmin(fmax(room, 1), (double)list->n_a_width);
        const int64_t n_wanted = (list->n_a_width + n_a_trial - 1) / n_a_trial;
        const int64_t n_share = n_left / (list->n_widths - i);
        const int64_t n_trials = n_wanted < n_share ? n_wanted : n_share;
        const int64_t n = n_trials * n_a_trial;
        plans[i] =
            (struct injection_plan){n_trials, n_a_trial, n < list->n_a_width ? n : list->n_a_width};
        n_left -= n_trials;
    }
}

/* --- positions --- */

/* A position that is tried for a source. */
struct try_at {
    int64_t source;
    struct injection_position position;
};

struct draw {
    const struct injection_field *field;
    struct injections *list;
    struct injection_position *positions;
    bool are_given; /* the positions; else they are drawn */
    struct threads *threads;
    struct error *error;
    int64_t *waiting; /* sources that have no position yet */
    int64_t n_waiting;
};

static uint64_t number_of(const struct injections *list, int64_t source) {
    return (uint64_t)(source / list->n_a_width) * NUMBERS_A_WIDTH +
           (uint64_t)(source % list->n_a_width);
}

/* A position along an axis of n pixels, by a random number. */
static double position_on_axis(double random, int64_t n) {
    return random * (double)n - 0.5;
}

static int32_t pixel_of(double x, int64_t n) {
    const int64_t pixel = (int64_t)floor(x + 0.5);
    return (int32_t)(pixel < n ? pixel : n - 1);
}

static struct injection_position draw_position(const struct draw *d, int64_t source, int64_t try) {
    const struct injection_field *f = d->field;
    const uint64_t number = number_of(d->list, source);
    const double x = random_number(f->seed, number, (uint64_t)try, RANDOM_X);
    const double y = random_number(f->seed, number, (uint64_t)try, RANDOM_Y);
    return (struct injection_position){.x = position_on_axis(x, f->width),
                                       .y = position_on_axis(y, f->height)};
}

/* Reads the pixels of n tries in an image. */
static enum srcfind_status read_positions(const struct draw *d, const struct run_source *from,
                                          const struct try_at *tries, int64_t n,
                                          struct run_pixels *pixels) {
    struct run *runs = arrays_allocate(n, sizeof *runs);
    struct run_set *sets = arrays_allocate(n, sizeof *sets);
    enum srcfind_status status = SRCFIND_OK;
    *pixels = (struct run_pixels){0};
    for (int64_t i = 0; runs && sets && i < n; i++) {
        const int32_t x = pixel_of(tries[i].position.x, d->field->width);
        runs[i] = (struct run){pixel_of(tries[i].position.y, d->field->height), x, x};
        sets[i] = (struct run_set){&runs[i], 1, i};
    }
    if (runs && sets)
        status = run_pixels_read(from, sets, n, n, d->threads, pixels, d->error);
    else
        status = error_memory(d->error, "adding sources to an image");
    free(runs);
    free(sets);
    return status;
}

static bool is_usable(const struct run_pixels *pixels, int64_t i) {
    return isfinite(pixels->value[i]) && isfinite(pixels->rms[i]) && pixels->rms[i] > 0;
}

/* Whether the pixel of a try is searched. */
static bool is_searched(const struct draw *d, const struct try_at *try) {
    const struct injection_field *f = d->field;
    const int64_t x = pixel_of(try->position.x, f->width);
    const int64_t y = pixel_of(try->position.y, f->height);
    return !f->unsearched || !blanks_has_any(f->unsearched, y * f->width + x, 1);
}

/* Gives each waiting source the first of its n_each tries that is usable. */
static void take_positions(struct draw *d, const struct try_at *tries, int64_t n_each,
                           const struct run_pixels *measured, const struct run_pixels *detected) {
    int64_t n_waiting = 0;
    for (int64_t k = 0; k < d->n_waiting; k++) {
        const int64_t first = k * n_each;
        int64_t i = first;
        while (i < first + n_each &&
               !(is_usable(measured, i) && is_usable(detected, i) && is_searched(d, &tries[i])))
            i++;
        if (i == first + n_each) {
            d->waiting[n_waiting++] = d->waiting[k];
            continue;
        }
        struct injection_position *position = &d->positions[tries[i].source];
        *position = tries[i].position;
        position->value = (double)measured->value[i];
        position->value_detected = (double)detected->value[i];
        position->rms = measured->rms[i];
        position->rms_detected = detected->rms[i];
        d->list->all[tries[i].source].is_added = true;
    }
    d->n_waiting = n_waiting;
}

/* Tries n_each positions for each waiting source, from try `first` on. */
static enum srcfind_status try_positions(struct draw *d, int64_t first, int64_t n_each) {
    const struct injection_field *field = d->field;
    const bool are_two = field->detect != field->measure;
    const int64_t n = d->n_waiting * n_each;
    struct run_pixels measured = {0}, detected = {0};
    struct try_at *tries = arrays_allocate(n, sizeof *tries);
    if (!tries)
        return error_memory(d->error, "adding sources to an image");
    for (int64_t i = 0; i < n; i++) {
        const int64_t source = d->waiting[i / n_each];
        tries[i] =
            (struct try_at){source, d->are_given ? d->positions[source]
                                                 : draw_position(d, source, first + i % n_each)};
    }
    enum srcfind_status status = read_positions(d, field->measure, tries, n, &measured);
    if (status == SRCFIND_OK && are_two)
        status = read_positions(d, field->detect, tries, n, &detected);
    if (status == SRCFIND_OK)
        take_positions(d, tries, n_each, &measured, are_two ? &detected : &measured);
    run_pixels_clear(&measured);
    run_pixels_clear(&detected);
    free(tries);
    return status;
}

/* The tries of a round for each source, after n_before tries. */
static int64_t count_tries(int64_t n_before, int64_t n_waiting) {
    const int64_t n = n_before < FIRST_TRIES ? FIRST_TRIES : n_before;
    const int64_t most = MOST_A_ROUND / n_waiting;
    return n < most ? n : most < 1 ? 1 : most;
}

/* --- all sources --- */

/* Draws the S/N of the planned sources, and lets them wait for a position in their trials. */
static void begin_sources(struct draw *d, const struct injection_plan *plans) {
    struct injections *list = d->list;
    const double range = log(INJECTION_MOST / INJECTION_LEAST);
    int64_t before[SCALES_MOST + 2] = {0}; /* trials of other widths */
    for (int k = 0; k < list->n_widths; k++)
        before[k + 1] = before[k] + plans[k].n_trials;
    list->n_trials = before[list->n_widths];
    for (int64_t i = 0; i < list->n; i++) {
        const int64_t width = i / list->n_a_width;
        const double random = random_number(d->field->seed, number_of(list, i), 0, RANDOM_SNR);
        list->all[i] = (struct injection){.width = list->widths[width],
                                          .snr = INJECTION_LEAST * exp(range * random),
                                          .weight = 1};
        if (i % list->n_a_width >= plans[width].n)
            continue;
        list->all[i].trial = before[width] + i % list->n_a_width / plans[width].n_a_trial + 1;
        d->waiting[d->n_waiting++] = i;
    }
}

enum srcfind_status injections_draw(struct injections *list, const struct injection_plan *plans,
                                    const struct injection_field *field, struct threads *threads,
                                    struct injection_position **positions, struct error *error) {
    list->n = list->n_a_width * list->n_widths;
    list->all = arrays_allocate(list->n, sizeof *list->all);
    *positions = arrays_allocate(list->n, sizeof **positions);
    struct draw d = {.field = field,
                     .list = list,
                     .positions = *positions,
                     .threads = threads,
                     .error = error,
                     .waiting = arrays_allocate(list->n, sizeof *d.waiting)};
    enum srcfind_status status = SRCFIND_OK;
    if (list->all && *positions && d.waiting)
        begin_sources(&d, plans);
    else
        status = error_memory(error, "adding sources to an image");
    for (int64_t n_before = 0; status == SRCFIND_OK && d.n_waiting > 0 && n_before < MOST_TRIES;) {
        const int64_t n = count_tries(n_before, d.n_waiting);
        status = try_positions(&d, n_before, n);
        n_before += n;
    }
    free(d.waiting);
    return status;
}

enum srcfind_status injections_look(struct injections *list, const struct injection_field *field,
                                    struct threads *threads, struct injection_position *positions,
                                    struct error *error) {
    struct draw d = {.field = field,
                     .list = list,
                     .positions = positions,
                     .are_given = true,
                     .threads = threads,
                     .error = error,
                     .waiting = arrays_allocate(MOST_A_ROUND, sizeof *d.waiting)};
    enum srcfind_status status =
        d.waiting ? SRCFIND_OK : error_memory(error, "adding sources to an image");
    for (int64_t i = 0; status == SRCFIND_OK && i < list->n;) {
        for (d.n_waiting = 0; i < list->n && d.n_waiting < MOST_A_ROUND; i++)
            if (list->all[i].is_added)
                d.waiting[d.n_waiting++] = i;
        for (int64_t k = 0; k < d.n_waiting; k++)
            list->all[d.waiting[k]].is_added = false;
        if (d.n_waiting > 0)
            status = try_positions(&d, 0, 1);
    }
    free(d.waiting);
    return status;
}
