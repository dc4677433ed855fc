/* How amplitudes and their errors follow from the sums of a group of places.
 *
 * 1. amplitudes_factorise: members that cannot be told from an earlier one (correlation of weights
 *    above 1 - 5e-6) share its amplitude; N = L U, in place. N is not symmetric: its rows have the
 *    weights of a member, its columns the shape. A shape that is a sum of others' has no pivot, and
 *    is not fitted.
 * 2. amplitudes_solve: N a = b less the cross sums times the amplitudes of the others of the
 *    cluster, which the sweeps of places.c repeat.
 *    With --at-positive a group whose solution has an amplitude below 0 is solved by sweeps over
 *    its members instead (settle), which end where none changes by a ten thousandth of its error.
 * 3. amplitudes_errors: integrals of products of two Gaussians in closed form give N, and B those
 *    of weights and the correlation of the noise between them (place_noise.h); errors are the roots
 *    of the diagonal of N^-1 B N^-T, and at least those of independent pixels. The same matrices
 *    give the variance of sums of a source's amplitudes.
 *
 * Always: an amplitude that is not fitted is 0, and is subtracted from nothing.
 *
 * Cost: 2 n^3 / 3 for a group of n places, at most 64, and 4 n^3 for its errors; 128 KiB of stack.
 */
#include "measure/amplitudes.h"

#include <string.h>

#include "measure/lu.h"

/* The least sum of a shape, of peak 1, times its weights, over the pixels at a position. */
static const double LEAST_MODEL = 1e-6;

/* The least correlation of the weights of two places that cannot be told apart. */
static const double SAME = 1 - 5e-6;

/* The change of an amplitude, in units of its error, at which sweeps over a group end; and the most
 * sweeps, which places at a fifth of a beam from each other need. */
static const double SETTLED = 1e-4;
enum { MOST_SWEEPS = 1000 };

/* An amplitude is uncertain if its error is larger than this times that of a lone place of its
 * shape. */
static const double MOST_ERROR = 100;

/* --- amplitudes --- */

/* The earlier member that member i cannot be told from; else i, or LU_LEFT_OUT. */
static int same_as(const struct place_group *group, const struct place_sums *sums,
                   const struct place_pixels *known, const int *same, int i) {
    const int n = group->n;
    const struct place_pixels *pixels = &known[group->members[i]];
    const double *const row = sums->squares + (int64_t)i * n;
    if (!isfinite(pixels->above) || !(pixels->noise.rms > 0) ||
        sums->normal[(int64_t)i * n + i] < LEAST_MODEL)
        return LU_LEFT_OUT;
    for (int k = 0; k < i; k++)
        if (same[k] == k && row[k] > SAME * sqrt(row[i] * sums->squares[(int64_t)k * n + k]))
            return k;
    return i;
}

struct amplitude_system amplitudes_factorise(const struct place_group *group,
                                             const struct place_sums *sums,
                                             const struct place_pixels *known) {
    struct amplitude_system s = {.n = group->n, .factors = sums->normal, .squares = sums->squares};
    for (int i = 0; i < s.n; i++)
        s.diagonal[i] = sums->normal[(int64_t)i * s.n + i];
    for (int i = 0; i < s.n; i++)
        s.same[i] = same_as(group, sums, known, s.same, i);
    lu_factorise(s.n, s.factors, s.same);
    return s;
}

void amplitudes_hold_positive(struct amplitude_system *s, struct place_sums *sums) {
    const int n = s->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = j >= i ? s->factors[(int64_t)i * n + j] : 0;
            for (int k = 0; k < i && k <= j; k++)
                sum += s->factors[(int64_t)i * n + k] * s->factors[(int64_t)k * n + j];
            sums->squares[(int64_t)i * n + j] = sum;
        }
    s->normal = sums->squares;
    s->squares = NULL;
}

/* The error of an amplitude. */
static double error_of(const struct place_pixels *known, const struct amplitude *amplitudes,
                       int64_t place) {
    return amplitudes[place].per_rms * known[place].noise.rms;
}

/* Solves N x = b for x of at least 0, from the last amplitudes on: one x after the other gets the
 * value that its equation asks for, or 0 (Gauss and Seidel, projected). */
static void settle(const struct place_group *group, const struct amplitude_system *s,
                   const double *b, const struct place_pixels *known,
                   const struct amplitude *amplitudes, double *x) {
    double largest = INFINITY;
    for (int i = 0; i < s->n; i++)
        x[i] = s->same[i] == i ? amplitudes[group->members[i]].value : 0;
    for (int sweep = 0; sweep < MOST_SWEEPS && largest > SETTLED; sweep++) {
        largest = 0;
        for (int i = 0; i < s->n; i++) {
            double left = b[i];
            for (int k = 0; s->same[i] == i && k < s->n; k++)
                left -= s->normal[(int64_t)i * s->n + k] * x[k];
            const double value = s->same[i] == i ? fmax(0, x[i] + left / s->diagonal[i]) : 0;
            if (s->same[i] == i)
                largest = fmax(largest,
                               fabs(value - x[i]) / error_of(known, amplitudes, group->members[i]));
            x[i] = value;
        }
    }
}

/* The solution of N x = b; if the system has its sums, the one of at least 0. */
static void solve_system(const struct place_group *group, const struct amplitude_system *s,
                         const double *b, const struct place_pixels *known,
                         const struct amplitude *amplitudes, double *x) {
    bool is_negative = false;
    memcpy(x, b, (size_t)s->n * sizeof *x);
    lu_solve(s->n, s->factors, s->same, x);
    for (int i = 0; i < s->n; i++)
        is_negative = is_negative || x[i] < 0;
    if (s->normal && is_negative)
        settle(group, s, b, known, amplitudes, x);
}

double amplitudes_solve(const struct place_group *group, const struct amplitude_system *s,
                        const struct place_sums *sums, const struct place_pixels *known,
                        struct amplitude *amplitudes) {
    double b[PLACES_A_GROUP], x[PLACES_A_GROUP], largest = 0;
    memcpy(b, sums->right, (size_t)s->n * sizeof *b);
    for (int other = 0; other < group->n_others; other++)
        for (int i = 0; i < s->n; i++)
            b[i] -= sums->cross[(int64_t)other * s->n + i] * amplitudes[group->others[other]].value;
    solve_system(group, s, b, known, amplitudes, x);
    for (int i = 0; i < s->n; i++) {
        const int64_t place = group->members[i];
        struct amplitude *amplitude = &amplitudes[place];
        if (amplitude->is_fitted)
            amplitude->change = fabs(x[i] - amplitude->value) / error_of(known, amplitudes, place);
        largest = fmax(largest, amplitude->change);
        amplitude->value = x[i];
    }
    return largest;
}

static void share(const struct amplitude *from, struct amplitude *to) {
    to->value = from->value;
    to->per_rms = from->per_rms;
    to->lone = from->lone;
    to->is_fitted = from->is_fitted;
    to->is_uncertain = from->is_uncertain;
    to->taken = from->taken;
    to->is_shared = true;
}

void amplitudes_share(const struct place_group *group, const struct amplitude_system *s,
                      struct amplitude *amplitudes) {
    for (int i = 0; i < s->n; i++)
        if (s->same[i] >= 0 && s->same[i] != i)
            share(&amplitudes[group->members[s->same[i]]], &amplitudes[group->members[i]]);
}

/* --- errors --- */

/* The matrices from which the errors of a group follow. */
struct noise_of_group {
    const struct amplitude_system *system;
    const struct place_noise *of_pairs;
    const struct place *places;
    const struct place_group *group;
    int n, same[PLACES_A_GROUP];
    struct place weights[PLACES_A_GROUP];
    double normal[PLACES_A_GROUP * PLACES_A_GROUP]; /* factorised */
    double of_noise[PLACES_A_GROUP * PLACES_A_GROUP];
};

static const struct place *member(const struct noise_of_group *noise, int i) {
    return &noise->places[noise->group->members[i]];
}

/* Sets the matrices of both integrals. */
static void integrate(struct noise_of_group *noise) {
    const int n = noise->n;
    for (int i = 0; i < n; i++)
        noise->weights[i] = place_weights(member(noise, i));
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            noise->normal[i * n + k] = place_product(&noise->weights[i], member(noise, k));
        for (int k = 0; k <= i; k++)
            noise->of_noise[i * n + k] = noise->of_noise[k * n + i] =
                place_noise_between(noise->of_pairs, &noise->weights[i], &noise->weights[k]);
    }
}

/* x^T a x; a is symmetric, and given on and below the diagonal. */
static double form_of(int n, const double *a, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; x[i] != 0 && k < i; k++)
            sum += 2 * x[i] * a[(int64_t)i * n + k] * x[k];
        sum += x[i] * a[(int64_t)i * n + i] * x[i];
    }
    return sum;
}

/* The variance of the sum of amplitudes times weights, per rms^2; x is set to N^-T weights. */
static double variance_of(const struct noise_of_group *noise, const double *weights, double *x) {
    const struct amplitude_system *s = noise->system;
    double independent[PLACES_A_GROUP];
    memcpy(x, weights, (size_t)noise->n * sizeof *x);
    memcpy(independent, weights, (size_t)noise->n * sizeof *x);
    lu_solve_transposed(noise->n, noise->normal, noise->same, x);
    lu_solve_transposed(noise->n, s->factors, s->same, independent);
    return fmax(form_of(noise->n, noise->of_noise, x), form_of(noise->n, s->squares, independent));
}

/* The variance of a sum of the amplitudes of a source, whose first member is number `first`. */
static double variance_of_source(const struct noise_of_group *noise,
                                 const struct place_pixels *known, int first, int sum) {
    double weights[PLACES_A_GROUP] = {0}, x[PLACES_A_GROUP];
    for (int i = first; i < noise->n; i++)
        if (noise->system->same[i] == i && member(noise, i)->source == member(noise, first)->source)
            weights[i] = member(noise, i)->weight[sum] * known[noise->group->members[i]].noise.rms;
    return variance_of(noise, weights, x);
}

/* How much the fit of member i lowers the expected sum of squares: with R the integrals of weights,
 * correlation and shape, and G those of two shapes, the element of the trace of 2 N^-1 R - G N^-1 B
 * N^-T. x is row i of N^-1. The integrals lack a factor of 2 pi, which does not cancel here. */
static double taken_by(const struct noise_of_group *noise, int i, const double *x) {
    const int n = noise->n;
    double covariance[PLACES_A_GROUP] = {0}, sum = 0;
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++)
            covariance[k] += noise->of_noise[k * n + j] * x[j];
        if (x[k] != 0)
            sum += 2 * x[k] *
                   place_noise_between(noise->of_pairs, &noise->weights[k], member(noise, i));
    }
    lu_solve(n, noise->normal, noise->same, covariance);
    for (int k = 0; k < n; k++)
        if (covariance[k] != 0)
            sum -= covariance[k] * place_product(member(noise, k), member(noise, i));
    return 2 * M_PI * sum;
}

/* Whether a member is the first fitted one of its source in the group. */
static bool is_first(const struct place *places, const struct place_group *group, const int *same,
                     int i) {
    for (int k = 0; k < i; k++)
        if (same[k] == k && places[group->members[k]].source == places[group->members[i]].source)
            return false;
    return same[i] == i;
}

/* The error / rms of a member, if it were alone. */
static double lone_error(const struct noise_of_group *noise, int i) {
    const struct amplitude_system *s = noise->system;
    const struct place *weights = &noise->weights[i];
    return fmax(sqrt(place_noise_between(noise->of_pairs, weights, weights)) /
                    place_product(weights, member(noise, i)),
                sqrt(s->squares[i * (s->n + 1)]) / s->diagonal[i]);
}

void amplitudes_errors(const struct place *places, const struct place_group *group,
                       const struct amplitude_system *s, const struct place_noise *of_pairs,
                       const struct place_pixels *known, struct amplitude *amplitudes) {
    struct noise_of_group noise; /* most of it is not used by a small group: it is not cleared */
    noise.system = s;
    noise.of_pairs = of_pairs;
    noise.places = places;
    noise.group = group;
    noise.n = s->n;
    memcpy(noise.same, s->same, sizeof noise.same);
    integrate(&noise);
    lu_factorise(s->n, noise.normal, noise.same);
    for (int i = 0; i < s->n; i++) {
        double weights[PLACES_A_GROUP] = {0}, x[PLACES_A_GROUP];
        struct amplitude *amplitude = &amplitudes[group->members[i]];
        weights[i] = 1;
        amplitude->is_fitted = s->same[i] == i && noise.same[i] == i;
        amplitude->per_rms = sqrt(variance_of(&noise, weights, x));
        amplitude->lone = lone_error(&noise, i);
        amplitude->is_uncertain = !(amplitude->per_rms <= MOST_ERROR * amplitude->lone);
        amplitude->taken = taken_by(&noise, i, x);
        const bool has_sums =
            places[group->members[i]].weight[0] != 0 && is_first(places, group, s->same, i);
        for (int sum = 0; has_sums && sum < 2; sum++)
            amplitude->variance[sum] = variance_of_source(&noise, known, i, sum);
    }
}
