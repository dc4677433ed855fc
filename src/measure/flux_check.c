#include "measure/flux_check.h"

#include <stdlib.h>
#include <string.h>

static const double LEAST_ERRORS = 10; /* errors: an island with more flux is checked */
static const double MOST_FLUX = 1.5; /* most flux of the Gaussians / corrected flux of the island */
static const double BESIDE = 1.5;    /* pixels, from a centre to that of an island's pixel */

/* Starts of the second fit. With these numbers no island of 944 with rings, discs, arcs, jets,
 * exponentials, bubbles and haloes stays without a fit, and residuals are a tenth lower than those
 * of the first fits. Peaks 1.5 beams apart are fainter, take the shape of the beam, and leave more.
 */
static const double APART = 2;    /* beams between peaks, */
static const double AN_AREA = 16; /* or more: an island has at most so many squares of this size */
static const double WIDEST = 1.5; /* most width of a Gaussian / the distance between peaks */

/* --- the check --- */

static void count_pixel(void *context, int64_t i, double value) {
    int64_t *const n = context;
    (void)i;
    (void)value;
    ++*n;
}

/* A Gaussian that reaches the pixels within `radius` pixels of (x, y). */
static struct gaussian circle_around(double x, double y, double radius) {
    const double form = GAUSSIAN_REACH / (radius * radius);
    return (struct gaussian){1, x, y, {form, form, 0}};
}

/* Whether a component that was added is on the island's pixels, or beside them. */
static bool is_supported(const struct island_fit *fit, const struct fit_frame *frame,
                         const double *c) {
    const struct gaussian g = gaussian_of_fit(frame, c, 1, 0, 0);
    const struct gaussian circle = circle_around(g.x, g.y, BESIDE);
    int64_t n = 0;
    island_fit_for_each_pixel(&circle, fit->pixels, fit->n_inside, count_pixel, &n);
    return n > 0;
}

/* Copies component `from` of a job to `to`. */
static void copy_component(struct fit_job *job, int from, int to) {
    struct fit_set *const set = &job->set;
    memmove(set->value[to], set->value[from], sizeof set->value[to]);
    set->is_free[to] = set->is_free[from];
    set->source[to] = set->source[from];
    job->before[to] = job->before[from];
}

bool flux_check_drop_unsupported(const struct island_fit *fit, const struct fit_frame *frame,
                                 struct fit_job *jobs) {
    bool is_any = false;
    for (int64_t k = 0; k < fit->parts.n; k++) {
        struct fit_set *set = &jobs[k].set;
        const int n = jobs[k].is_fitted ? set->n : 0;
        int n_kept = 0;
        for (int i = 0; i < n; i++) {
            if (island_fit_divided(fit, &fit->parts.part[k], set->source[i]) < 0 &&
                !is_supported(fit, frame, set->value[i]))
                continue;
            copy_component(&jobs[k], i, n_kept++);
        }
        is_any = is_any || n_kept < n;
        if (n > 0)
            set->n = n_kept;
    }
    return is_any;
}

/* The sum over the island's own pixels, in units of the rms, as that of the Gaussians is. */
static double sum_of_pixels(const struct island_fit *fit) {
    double sum = 0;
    for (int64_t i = 0; i < fit->n_inside; i++)
        sum += fit->pixels[i].value;
    return sum;
}

static double sum_of_gaussians(const struct island_fit *fit, const struct fit_frame *frame,
                               const struct fit_job *jobs) {
    const double beam = 2 * M_PI / (frame->ux * frame->vy);
    double sum = 0;
    for (int64_t k = 0; k < fit->parts.n; k++) {
        for (int i = 0; i < jobs[k].set.n && jobs[k].is_fitted; i++) {
            const double *const c = jobs[k].set.value[i];
            sum += c[FIT_PEAK] * beam / sqrt(c[FIT_P] * c[FIT_R] - c[FIT_Q] * c[FIT_Q]);
        }
    }
    return sum;
}

bool flux_check_holds(const struct flux_check *check, const struct island_fit *fit,
                      const struct fit_frame *frame, const struct fit_job *jobs) {
    if (!(check->island < check->threshold))
        return true;
    const double sum = sum_of_pixels(fit);
    const double kept = 1 - check->island / fit->deblended->island_snr;
    /* The noise that was measured may have faint sources, and no fit depends on it. */
    const double n = (double)fit->n_inside, e_sum = sqrt(n * fmin(n, check->correlated));
    return sum < LEAST_ERRORS * e_sum ||
           sum_of_gaussians(fit, frame, jobs) <= MOST_FLUX * sum / kept;
}

/* --- more peaks --- */

struct ordered_pixel {
    double value;
    int32_t pixel;
};

static int compare_pixels(const void *a, const void *b) {
    const struct ordered_pixel *left = a, *right = b;
    return left->value != right->value
               ? (left->value < right->value) - (left->value > right->value)
               : (left->pixel > right->pixel) - (left->pixel < right->pixel);
}

/* Chooses peaks: each takes the island's pixels around it. */
struct choice {
    const struct island_fit *fit;
    const struct fit_frame *frame;
    double form;    /* of a Gaussian that reaches these pixels */
    bool *is_taken; /* of each own pixel */
    int32_t *peak;
    int32_t n;
};

static void take_pixel(void *context, int64_t i, double value) {
    struct choice *const choice = context;
    (void)value;
    choice->is_taken[i] = true;
}

static void choose(struct choice *choice, int32_t pixel) {
    const struct fit_frame *f = choice->frame;
    const struct fit_pixel *p = &choice->fit->pixels[pixel];
    const double c[FIT_PARAMETERS] = {
        1, f->ux * p->x + f->uy * p->y, f->vy * p->y, choice->form, 0, choice->form};
    const struct gaussian g = gaussian_of_fit(f, c, 1, 0, 0);
    choice->peak[choice->n++] = pixel;
    island_fit_for_each_pixel(&g, choice->fit->pixels, choice->fit->n_inside, take_pixel, choice);
}

/* Chooses the peaks of the island, then the highest of the pixels that these leave, and so on. */
static void choose_all(struct choice *choice, struct ordered_pixel *ordered) {
    const struct island_fit *fit = choice->fit;
    for (int64_t i = 0; i < fit->n_inside; i++)
        ordered[i] = (struct ordered_pixel){fit->pixels[i].value, (int32_t)i};
    qsort(ordered, (size_t)fit->n_inside, sizeof *ordered, compare_pixels);
    for (int32_t i = 0; i < fit->deblended->n; i++)
        choose(choice, fit->deblended->peak[i]);
    for (int64_t i = 0; i < fit->n_inside; i++)
        if (!choice->is_taken[ordered[i].pixel])
            choose(choice, ordered[i].pixel);
}

bool flux_check_add_peaks(const struct island_fit *fit, const struct fit_frame *frame,
                          struct arena *arena, struct deblended *more, double *widest) {
    const size_t n = (size_t)fit->n_inside;
    const double beam = FIT_FWHM * FIT_FWHM / (frame->ux * frame->vy); /* FWHM^2, in pixels */
    const double apart = fmax(APART, sqrt((double)n / AN_AREA / beam));
    struct ordered_pixel *ordered = malloc(n * sizeof *ordered);
    struct choice choice = {fit, frame, GAUSSIAN_REACH / (FIT_FWHM * FIT_FWHM * apart * apart),
                            .is_taken = calloc(n, sizeof *choice.is_taken),
                            .peak = malloc(n * sizeof *choice.peak)};
    const bool ok = ordered && choice.is_taken && choice.peak;
    if (ok)
        choose_all(&choice, ordered);
    *widest = WIDEST * apart;
    *more = *fit->deblended;
    more->peak = arena_take(arena, (size_t)choice.n, sizeof *more->peak);
    more->n_added = choice.n - fit->deblended->n;
    more->n = choice.n;
    if (ok && more->peak)
        memcpy(more->peak, choice.peak, (size_t)choice.n * sizeof *more->peak);
    free(ordered);
    free(choice.is_taken);
    free(choice.peak);
    return ok && more->peak;
}
