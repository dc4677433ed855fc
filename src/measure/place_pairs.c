/* How pairs of correlated amplitudes are found.
 *
 * 1. Places are grouped as for their fit (place_groups.h). A group that is a part of a cluster gets
 *    the nearest places of other parts, at most 64, since what it shares with them is at its
 * border.
 * 2. add_group: N and B of the group (amplitudes.h), in closed form; the rows of N^-1 give the
 *    covariance of each two amplitudes. Pairs of two members are taken, and those of a member and a
 *    neighbour of another part that is behind it, so that each pair is taken once.
 *
 * Always: pairs depend on the places and the noise alone, and are in the order of the groups.
 *
 * Cost: some 5 n^3 for a group of n places, at most 128. */
#include "measure/place_pairs.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "measure/lu.h"
#include "measure/place_groups.h"
#include "measure/places.h"

enum { MOST_NEAR = PLACES_A_GROUP, MOST = PLACES_A_GROUP + MOST_NEAR };

static const double LEAST_CORRELATION = 0.1;

/* A place of another part, and the least square of its distance from a member. */
struct near_place {
    double square;
    int64_t place;
};

/* The places of a group: its members, and those that are near. */
struct pair_group {
    const struct place *places;
    const struct place_noise *noise;
    int n_members, n;
    int64_t place[MOST];
    int same[MOST];
    double normal[MOST * MOST];     /* factorised */
    double of_noise[MOST * MOST];   /* B */
    double rows[MOST * MOST];       /* of N^-1 */
    double covariance[MOST * MOST]; /* of the members with all */
};

static int compare_near(const void *a, const void *b) {
    const struct near_place *left = a, *right = b;
    if (left->square < right->square || left->square > right->square)
        return left->square < right->square ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* Lists the members, and the places of other parts that are nearest to one of them. */
static bool list_places(const struct place_group *group, struct pair_group *g) {
    struct near_place *others = arrays_allocate(group->n_others, sizeof *others);
    if (!others)
        return false;
    for (int k = 0; k < group->n_others; k++) {
        const struct place *other = &g->places[group->others[k]];
        others[k] = (struct near_place){INFINITY, group->others[k]};
        for (int i = 0; i < group->n; i++) {
            const struct place *p = &g->places[group->members[i]];
            const double dx = other->x - p->x, dy = other->y - p->y;
            others[k].square = fmin(others[k].square, dx * dx + dy * dy);
        }
    }
    qsort(others, (size_t)group->n_others, sizeof *others, compare_near);
    g->n_members = g->n = group->n;
    for (int i = 0; i < group->n; i++)
        g->place[i] = group->members[i];
    for (int k = 0; k < group->n_others && k < MOST_NEAR; k++)
        g->place[g->n++] = others[k].place;
    free(others);
    return true;
}

/* Sets N, factorised, and B. */
static void integrate(struct pair_group *g) {
    for (int i = 0; i < g->n; i++) {
        const struct place weights = place_weights(&g->places[g->place[i]]);
        g->same[i] = i;
        for (int k = 0; k < g->n; k++) {
            const struct place *other = &g->places[g->place[k]];
            const struct place of_other = place_weights(other);
            g->normal[i * g->n + k] = place_product(&weights, other);
            if (k <= i)
                g->of_noise[i * g->n + k] = g->of_noise[k * g->n + i] =
                    place_noise_between(g->noise, &weights, &of_other);
        }
    }
    lu_factorise(g->n, g->normal, g->same);
}

static double product_of(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Sets the covariances of all amplitudes, per product of their rms. */
static void find_covariances(struct pair_group *g) {
    const int n = g->n;
    for (int i = 0; i < n; i++) {
        double *row = &g->rows[i * n];
        for (int k = 0; k < n; k++)
            row[k] = k == i;
        lu_solve_transposed(n, g->normal, g->same, row);
    }
    for (int i = 0; i < n; i++) {
        double of_row[MOST];
        for (int k = 0; k < n; k++)
            of_row[k] = product_of(n, &g->of_noise[k * n], &g->rows[i * n]);
        for (int k = 0; k < n; k++)
            g->covariance[i * n + k] = product_of(n, &g->rows[k * n], of_row);
    }
}

static bool add_pair(struct place_pairs *pairs, int64_t first, int64_t second, double correlation) {
    if (!GROW(pairs->all, pairs->capacity, pairs->n + 1))
        return false;
    pairs->all[pairs->n++] = (struct place_pair){first, second, correlation};
    return true;
}

/* Adds the pairs of a group. */
static bool add_group(const struct place_group *group, struct pair_group *g,
                      struct place_pairs *pairs) {
    if (group->n + group->n_others < 2)
        return true;
    if (!list_places(group, g))
        return false;
    integrate(g);
    find_covariances(g);
    bool ok = true;
    for (int i = 0; ok && i < g->n_members; i++)
        for (int k = i + 1; ok && k < g->n; k++) {
            const double *c = g->covariance;
            const double correlation =
                c[i * g->n + k] / sqrt(c[i * (g->n + 1)] * c[k * (g->n + 1)]);
            if (fabs(correlation) > LEAST_CORRELATION && g->place[k] > g->place[i])
                ok = add_pair(pairs, g->place[i], g->place[k], correlation);
        }
    return ok;
}

static bool add_groups(const struct place *places, const struct place_noise *noise,
                       const struct place_groups *groups, struct place_pairs *pairs) {
    struct pair_group *g = malloc(sizeof *g);
    bool ok = g;
    if (ok) {
        g->places = places;
        g->noise = noise;
    }
    for (int64_t i = 0; ok && i < groups->n; i++)
        ok = add_group(&groups->groups[i], g, pairs);
    free(g);
    return ok;
}

bool place_pairs_find(struct place *places, int64_t n, const struct fit_frame *frame,
                      const struct correlation *noise, struct place_pairs *pairs) {
    struct place_noise of_pairs = {0};
    struct place_groups groups = {0};
    *pairs = (struct place_pairs){0};
    places_sort(places, n, true);
    bool ok = places_weigh(frame, noise, places, n, &of_pairs) &&
              place_groups_make(places, n, frame, &groups) &&
              add_groups(places, &of_pairs, &groups, pairs);
    for (int64_t i = 0; ok && i < n; i++)
        if (places[i].twin != i)
            ok = add_pair(pairs, places[i].twin, i, 1);
    place_noise_clear(&of_pairs);
    place_groups_clear(&groups);
    return ok;
}
