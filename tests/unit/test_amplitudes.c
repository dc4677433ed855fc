/* Amplitudes of groups against elimination, and their errors against sums over a grid. */
#include <stdlib.h>
#include <string.h>

#include "measure/amplitudes.h"
#include "unit.h"

enum { MOST = 6, SIDE = 60, N_PIXELS = SIDE * SIDE };

static double even(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

static void assert_close(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* --- a group --- */

/* A group of places in a small image, the last of which are others of its cluster. */
struct scene {
    struct place places[MOST];
    struct place_pixels known[MOST];
    struct amplitude found[MOST];
    int64_t members[MOST], others[MOST];
    struct place_group group;
    double normal[MOST * MOST], squares[MOST * MOST], right[MOST], cross[MOST * MOST];
    struct place_sums sums;
    struct amplitude_system system;
};

/* A shape of 1.3 to 2.7 pixels, for which sums over pixels are integrals. */
static struct tensor shape_of(uint64_t *random) {
    const struct axes axes = {1.7 + 1 * even(random), 1.3 + 0.4 * even(random), cos(even(random)),
                              0};
    struct axes turned = axes;
    turned.sine = sqrt(1 - axes.cosine * axes.cosine);
    turned.major *= axes.major;
    turned.minor *= axes.minor;
    return tensor_of_axes(&turned);
}

static void place_at(double x, double y, const struct tensor *moments, int i, struct scene *s) {
    s->places[i] = (struct place){.x = x,
                                  .y = y,
                                  .moments = *moments,
                                  .form = tensor_inverse(moments),
                                  .source = i,
                                  .twin = i};
    s->known[i] = (struct place_pixels){.above = 1, .noise = {.rms = 0.5 + 0.3 * i}};
}

/* The sum over all pixels of the product of two shapes. */
static double product_of(const struct place *a, const struct place *b) {
    double sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            sum += place_shape_at(a, x, y) * place_shape_at(b, x, y);
    return sum;
}

/* The same of the weights of a place and a shape, or of two weights. */
static double weighted_product(const struct place *a, const struct place *b) {
    const struct place weights = place_weights(a);
    return product_of(&weights, b);
}

static double product_of_weights(const struct place *a, const struct place *b) {
    const struct place weights = place_weights(b);
    return weighted_product(a, &weights);
}

/* A group of n places and others, at random. The members are in rising order, but not the first
 * places. */
static void scatter(int n, int n_others, uint64_t *random, struct scene *s) {
    *s = (struct scene){.group = {.n = n, .n_others = n_others}};
    for (int i = 0; i < n + n_others; i++) {
        const struct tensor moments = shape_of(random);
        place_at(25 + 10 * even(random), 25 + 10 * even(random), &moments, i, s);
    }
    for (int i = 0; i < n; i++)
        s->members[i] = i + n_others;
    for (int i = 0; i < n_others; i++) {
        s->others[i] = i;
        s->found[i].value = 2 + i;
    }
    s->group.members = s->members;
    s->group.others = s->others;
}

/* Gives places the weights of a power, each another one. */
static void weigh(double power, struct scene *s) {
    for (int i = 0; i < s->group.n + s->group.n_others; i++)
        s->places[i].power = power / (1 + 0.3 * i);
}

/* Makes the sums. The part of the squares above the diagonal is not to be read. */
static void sum_up(uint64_t *random, struct scene *s) {
    const int n = s->group.n;
    for (int i = 0; i < n; i++) {
        s->right[i] = 10 * even(random) - 3;
        for (int k = 0; k < n; k++) {
            const struct place *a = &s->places[s->members[i]], *b = &s->places[s->members[k]];
            s->normal[i * n + k] = weighted_product(a, b);
            s->squares[i * n + k] = k <= i ? product_of_weights(a, b) : NAN;
        }
        for (int k = 0; k < s->group.n_others; k++)
            s->cross[k * n + i] =
                weighted_product(&s->places[s->members[i]], &s->places[s->others[k]]);
    }
    s->sums = (struct place_sums){
        .normal = s->normal, .squares = s->squares, .right = s->right, .cross = s->cross};
}

static void factorise(struct scene *s) {
    s->system = amplitudes_factorise(&s->group, &s->sums, s->known);
}

/* --- elimination --- */

/* Solves a x = b of those members that are fitted; the others get 0. */
static void eliminate(int n, const bool *is_fitted, const double *matrix, const double *right,
                      double *x) {
    long double a[MOST][MOST + 1];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            a[i][k] = is_fitted[i] && is_fitted[k] ? matrix[i * n + k] : i == k;
        a[i][n] = is_fitted[i] ? right[i] : 0;
    }
    for (int i = 0; i < n; i++)
        for (int row = 0; row < n; row++) {
            const long double factor = row == i ? 0 : a[row][i] / a[i][i];
            for (int k = i; factor != 0 && k <= n; k++)
                a[row][k] -= factor * a[i][k];
        }
    for (int i = 0; i < n; i++)
        x[i] = (double)(a[i][n] / a[i][i]);
}

/* The whole matrix of the sums. */
static void whole_normal(const struct scene *s, double *matrix) {
    const int n = s->group.n;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            matrix[i * n + k] =
                weighted_product(&s->places[s->members[i]], &s->places[s->members[k]]);
}

/* --- amplitudes --- */

/* Solves the group, and compares what was found with elimination. */
static void assert_amplitudes(struct scene *s, const bool *is_fitted) {
    const int n = s->group.n;
    double matrix[MOST * MOST] = {0}, right[MOST] = {0}, expected[MOST] = {0}, largest = 0;
    whole_normal(s, matrix);
    for (int i = 0; i < n; i++) {
        right[i] = s->right[i];
        for (int k = 0; k < s->group.n_others; k++)
            right[i] -= s->cross[k * n + i] * s->found[s->others[k]].value;
    }
    eliminate(n, is_fitted, matrix, right, expected);
    for (int i = 0; i < n; i++) {
        struct amplitude *a = &s->found[s->members[i]];
        *a = (struct amplitude){.value = 0.25 * i, .per_rms = 1.5 + i, .is_fitted = is_fitted[i]};
        if (is_fitted[i])
            largest = fmax(largest, fabs(expected[i] - a->value) /
                                        (a->per_rms * s->known[s->members[i]].noise.rms));
    }
    const double change = amplitudes_solve(&s->group, &s->system, &s->sums, s->known, s->found);
    for (int i = 0; i < n; i++)
        assert_close(s->found[s->members[i]].value, expected[i], 1e-9);
    assert_close(change, largest, 1e-9);
}

static void all_are_fitted(void **state) {
    static const bool all[MOST] = {true, true, true, true, true, true};
    uint64_t random = 3;
    (void)state;
    for (int k = 0; k < 200 / UNIT_FEWER; k++) {
        struct scene s;
        const int n = 1 + k % 4;
        scatter(n, k % 3, &random, &s);
        weigh(k / 3 % 3 * 2, &s);
        sum_up(&random, &s);
        factorise(&s);
        for (int i = 0; i < n; i++)
            assert_int_equal(s.system.same[i], i);
        assert_amplitudes(&s, all);
    }
}

/* Members that have no noise, lie on a blank, or have no pixels: the others are fitted without
 * them, whichever of them it is. */
static void some_are_not_fitted(void **state) {
    uint64_t random = 4;
    (void)state;
    for (int k = 0; k < 60; k++) {
        struct scene s;
        bool is_fitted[MOST] = {true, true, true, true};
        const int none = k % 4;
        scatter(4, k % 2, &random, &s);
        struct place_pixels *known = &s.known[s.members[none]];
        if (k / 4 % 5 == 0)
            known->above = NAN;
        else if (k / 4 % 5 == 1)
            known->noise.rms = 0;
        else if (k / 4 % 5 == 2)
            known->noise.rms = NAN;
        else if (k / 4 % 5 == 3)
            s.places[s.members[none]].x = SIDE + 12; /* 1e-7 of it is on pixels */
        else
            known->above = INFINITY;
        is_fitted[none] = false;
        weigh(k % 5, &s);
        sum_up(&random, &s);
        if (k / 4 % 5 == 3)
            assert_true(s.normal[none * 5] < 1e-6);
        factorise(&s);
        for (int i = 0; i < 4; i++)
            assert_int_equal(s.system.same[i], is_fitted[i] ? i : -1);
        assert_amplitudes(&s, is_fitted);
    }
}

/* The amplitudes of at least 0: the one choice of members above 0 for which these solve their
 * equations, and nothing more is wanted at the others. Returns whether a member is 0. */
static bool solve_positive(int n, const double *matrix, const double *right, double *x) {
    for (int choice = (1 << n) - 1; choice >= 0; choice--) {
        bool is_above[MOST], is_right = true;
        for (int i = 0; i < n; i++)
            is_above[i] = choice >> i & 1;
        eliminate(n, is_above, matrix, right, x);
        for (int i = 0; i < n; i++) {
            double left = right[i];
            for (int k = 0; k < n; k++)
                left -= matrix[i * n + k] * x[k];
            is_right = is_right && (is_above[i] ? x[i] >= 0 : left <= 0);
        }
        if (is_right)
            return choice != (1 << n) - 1;
    }
    fail_msg("there is no solution");
    return false;
}

static void none_below_zero(void **state) {
    uint64_t random = 12;
    int n_held = 0;
    (void)state;
    for (int k = 0; k < 200; k++) {
        struct scene s;
        const int n = 1 + k % 4;
        double matrix[MOST * MOST], right[MOST], expected[MOST];
        scatter(n, k % 3, &random, &s);
        weigh(k / 3 % 3 * 2, &s);
        sum_up(&random, &s);
        factorise(&s);
        amplitudes_hold_positive(&s.system, &s.sums);
        whole_normal(&s, matrix);
        for (int i = 0; i < n; i++) {
            right[i] = s.right[i];
            for (int other = 0; other < s.group.n_others; other++)
                right[i] -= s.cross[other * n + i] * s.found[s.others[other]].value;
            s.found[s.members[i]] = (struct amplitude){.per_rms = 1e-6, .is_fitted = true};
        }
        n_held += solve_positive(n, matrix, right, expected);
        amplitudes_solve(&s.group, &s.system, &s.sums, s.known, s.found);
        for (int i = 0; i < n; i++)
            assert_close(s.found[s.members[i]].value, expected[i], 1e-6);
    }
    assert_in_range(n_held, 80, 180); /* of 200: both kinds were there */
}

/* One that has 1e-5 of its squares on pixels is fitted. */
static void little_on_pixels(void **state) {
    static const bool both[MOST] = {true, true};
    uint64_t random = 9;
    struct scene s;
    (void)state;
    scatter(2, 0, &random, &s);
    const struct tensor round = {3, 3, 0};
    place_at(SIDE + 4.7, 30, &round, 1, &s);
    sum_up(&random, &s);
    assert_true(s.normal[3] > 1e-6 && s.normal[3] < 1e-3);
    factorise(&s);
    assert_int_equal(s.system.same[1], 1);
    assert_amplitudes(&s, both);
}

/* A member that is as good as another one has its result; one that is a hundredth of a beam away,
 * or has another shape, has its own. */
static void twins(void **state) {
    static const bool first[MOST] = {true, false, true}, all[MOST] = {true, true, true};
    uint64_t random = 5;
    (void)state;
    for (int k = 0; k < 4; k++) {
        static const double offsets[] = {0, 1e-4, 2e-2, 0}, wider[] = {1, 1, 1, 1.02};
        struct scene s;
        scatter(3, 0, &random, &s);
        struct tensor moments = s.places[0].moments;
        moments.xx *= wider[k];
        place_at(s.places[0].x + offsets[k], s.places[0].y, &moments, 1, &s);
        place_at(s.places[0].x + 3, s.places[0].y + 1, &s.places[2].moments, 2, &s);
        sum_up(&random, &s);
        factorise(&s);
        assert_int_equal(s.system.same[1], k < 2 ? 0 : 1);
        assert_int_equal(s.system.same[2], 2);
        assert_amplitudes(&s, k < 2 ? first : all);
        s.found[0] = (struct amplitude){
            .value = 3, .per_rms = 4, .is_fitted = true, .variance = {5, 6}, .taken = 7};
        const struct amplitude second = s.found[1];
        amplitudes_share(&s.group, &s.system, s.found);
        const struct amplitude *shared = &s.found[1];
        if (k < 2)
            assert_true(shared->value == 3 && shared->per_rms == 4 && shared->is_fitted &&
                        shared->is_shared && shared->taken == 7 && shared->variance[0] == 0);
        else
            ASSERT_SAME(*shared, second);
        assert_false(s.found[0].is_shared || s.found[2].is_shared);
    }
}

/* A member whose shape is, but for what is rounded, a sum of those before it is not fitted. */
static void sums_of_others(void **state) {
    uint64_t random = 6;
    struct scene s;
    (void)state;
    scatter(4, 0, &random, &s);
    for (int k = 0; k < 2; k++) {
        bool is_fitted[MOST] = {true, true, k == 1, true};
        double matrix[16], expected[4];
        sum_up(&random, &s);
        whole_normal(&s, matrix);
        for (int i = 0; i < 4; i++) /* member 2 is 0.5 times 0 and 0.7 times 1 */
            matrix[2 * 4 + i] = matrix[i * 4 + 2] = 0.5 * matrix[i * 4] + 0.7 * matrix[i * 4 + 1];
        matrix[2 * 4 + 2] = 0.5 * matrix[2 * 4] + 0.7 * matrix[2 * 4 + 1];
        matrix[2 * 4 + 2] *= k == 0 ? 1 + 1e-12 : 1 + 1e-6;
        for (int i = 0; i < 16; i++)
            s.normal[i] = matrix[i];
        factorise(&s);
        for (int i = 0; i < 4; i++)
            assert_int_equal(s.system.same[i], is_fitted[i] ? i : -1);
        eliminate(4, is_fitted, matrix, s.right, expected);
        amplitudes_solve(&s.group, &s.system, &s.sums, s.known, s.found);
        for (int i = 0; i < 4; i++)
            assert_close(s.found[i].value, expected[i], k == 0 ? 1e-9 : 1e-3);
    }
}

/* --- errors --- */

/* Sums over two pixels: of one shape, the correlation of their noise, and another shape. */
static double correlated_product(const struct place *a, const struct place *b,
                                 const struct tensor *beam) {
    enum { REACH = 14 };
    static double convolved[N_PIXELS];
    const struct tensor form = tensor_inverse(beam);
    double sum = 0;
    memset(convolved, 0, sizeof convolved);
    for (int dy = -REACH; dy <= REACH; dy++)
        for (int dx = -REACH; dx <= REACH; dx++) {
            const double square = form.xx * dx * dx + 2 * form.xy * dx * dy + form.yy * dy * dy;
            for (int y = REACH; y < SIDE - REACH; y++)
                for (int x = REACH; x < SIDE - REACH; x++)
                    convolved[y * SIDE + x] += exp(-square / 2) * place_shape_at(b, x + dx, y + dy);
        }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            sum += place_shape_at(a, x, y) * convolved[y * SIDE + x];
    return sum;
}

/* The sums of a group, over pixels. */
struct grid_sums {
    double normal[MOST * MOST], transposed[MOST * MOST], correlated[MOST * MOST],
        squares[MOST * MOST];
    double response[MOST * MOST]; /* of weights, correlation and shape */
    double shapes[MOST * MOST];   /* of two shapes */
};

static void find_sums(const struct scene *s, const struct tensor *beam, struct grid_sums *g) {
    const int n = s->group.n;
    whole_normal(s, g->normal);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const struct place *a = &s->places[s->members[i]], *b = &s->places[s->members[k]];
            const struct place of_a = place_weights(a), of_b = place_weights(b);
            g->transposed[i * n + k] = g->normal[k * n + i];
            g->correlated[i * n + k] = correlated_product(&of_a, &of_b, beam);
            g->squares[i * n + k] = product_of(&of_a, &of_b);
            g->response[i * n + k] = correlated_product(&of_a, b, beam);
            g->shapes[i * n + k] = product_of(a, b);
        }
}

/* w^T N^-1 B N^-T w, or at least what independent pixels give. */
static double variance_of(int n, const bool *is_fitted, const struct grid_sums *g,
                          const double *weights) {
    double x[MOST], sum = 0, independent = 0;
    eliminate(n, is_fitted, g->transposed, weights, x);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            sum += x[i] * g->correlated[i * n + k] * x[k];
            independent += x[i] * g->squares[i * n + k] * x[k];
        }
    return fmax(sum, independent);
}

/* The element of member i of the trace of 2 N^-1 R - G N^-1 B N^-T. */
static double taken_by(int n, const bool *is_fitted, const struct grid_sums *g, int i) {
    double unit[MOST] = {0}, row[MOST], right[MOST] = {0}, covariance[MOST], taken = 0;
    unit[i] = 1;
    eliminate(n, is_fitted, g->transposed, unit, row);
    for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++)
            right[k] += g->correlated[k * n + j] * row[j];
    eliminate(n, is_fitted, g->normal, right, covariance);
    for (int k = 0; k < n; k++)
        taken += 2 * row[k] * g->response[k * n + i] - covariance[k] * g->shapes[k * n + i];
    return taken;
}

/* Noise that is correlated as the beam is. */
static struct place_noise noise_of(const struct tensor *beam) {
    static const struct correlation not_measured = {.is_measured = false};
    struct place_noise noise;
    assert_true(place_noise_make(&not_measured, beam, 0, &noise));
    return noise;
}

/* Compares the errors of a group with those of the same sums over pixels. */
static void assert_errors(struct scene *s, const bool *is_fitted, const struct tensor *beam) {
    const int n = s->group.n;
    double unit[MOST];
    struct grid_sums g;
    find_sums(s, beam, &g);
    const struct place_noise noise = noise_of(beam);
    amplitudes_errors(s->places, &s->group, &s->system, &noise, s->known, s->found);
    for (int i = 0; i < n; i++) {
        const struct amplitude *found = &s->found[s->members[i]];
        memset(unit, 0, sizeof unit);
        unit[i] = 1;
        assert_int_equal(found->is_fitted, is_fitted[i]);
        if (!is_fitted[i])
            continue;
        assert_close(found->per_rms, sqrt(variance_of(n, is_fitted, &g, unit)), 1e-4);
        if (beam->xx > 1) /* else sums over pixels are no integrals */
            assert_close(found->taken, taken_by(n, is_fitted, &g, i), 1e-4);
    }
    for (int i = 0; i < n; i++) { /* of each source, the sum is that of its first member */
        const struct place *own = &s->places[s->members[i]];
        bool is_first = is_fitted[i] && own->weight[0] != 0;
        for (int k = 0; k < i; k++)
            is_first =
                is_first && !(is_fitted[k] && s->places[s->members[k]].source == own->source);
        for (int sum = 0; sum < 2; sum++) {
            double weights[MOST] = {0};
            for (int k = 0; k < n; k++)
                if (is_fitted[k] && s->places[s->members[k]].source == own->source)
                    weights[k] =
                        s->places[s->members[k]].weight[sum] * s->known[s->members[k]].noise.rms;
            assert_close(s->found[s->members[i]].variance[sum],
                         is_first ? variance_of(n, is_fitted, &g, weights) : 0, 1e-4);
        }
    }
}

/* Lone and close places, sources of several places, with one that is not fitted; noise that is
 * correlated over more pixels than the shapes have, as many, and none. */
static void errors(void **state) {
    static const struct tensor beams[] = {{3, 2, 0.5}, {6, 5, -1}, {0.01, 0.01, 0}};
    uint64_t random = 7;
    (void)state;
    for (int k = 0; k < 12 / (UNIT_FEWER > 1 ? 4 : 1); k++) {
        struct scene s;
        bool is_fitted[MOST] = {true, true, true, true};
        const int n = k < 3 ? 1 : 4;
        scatter(n, k % 2, &random, &s);
        for (int i = 0; i < n && k > 5; i++) {
            struct place *p = &s.places[s.members[i]];
            p->source = k % 2 ? i / 2 : i % 2;
            p->weight[0] = 0.5 + i;
            p->weight[1] = 2 - 0.7 * i;
        }
        if (k > 8) {
            is_fitted[k - 9] = false;
            s.known[s.members[k - 9]].above = NAN;
        }
        weigh(k / 3 % 2, &s);
        sum_up(&random, &s);
        factorise(&s);
        assert_errors(&s, is_fitted, &beams[k % 3]);
    }
}

/* Shapes that pixels tell apart, and their integrals do not: one of them has no error, and is not
 * fitted. */
static void same_integrals(void **state) {
    const struct tensor beam = {3, 3, 0};
    uint64_t random = 10;
    struct scene s;
    (void)state;
    scatter(2, 0, &random, &s);
    sum_up(&random, &s);
    factorise(&s);
    assert_int_equal(s.system.same[1], 1);
    s.places[1] = s.places[0];
    const struct place_noise noise = noise_of(&beam);
    amplitudes_errors(s.places, &s.group, &s.system, &noise, s.known, s.found);
    assert_true(s.found[0].is_fitted && !s.found[1].is_fitted);
}

/* In noise whose autocorrelation is the beam, the amplitude of a lone point has an error of
 * sqrt(4 / 3) rms. */
static void lone_point(void **state) {
    const struct tensor beam = {4, 3, 1};
    uint64_t random = 8;
    struct scene s;
    (void)state;
    scatter(1, 0, &random, &s);
    place_at(30.3, 29.6, &beam, 0, &s);
    sum_up(&random, &s);
    factorise(&s);
    const struct place_noise noise = noise_of(&beam);
    amplitudes_errors(s.places, &s.group, &s.system, &noise, s.known, s.found);
    assert_close(s.found[0].per_rms, sqrt(4 / 3.0), 1e-12);
    assert_true(s.found[0].is_fitted && s.found[0].variance[0] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_fitted),  cmocka_unit_test(some_are_not_fitted),
        cmocka_unit_test(none_below_zero), cmocka_unit_test(little_on_pixels),
        cmocka_unit_test(twins),           cmocka_unit_test(sums_of_others),
        cmocka_unit_test(errors),          cmocka_unit_test(same_integrals),
        cmocka_unit_test(lone_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
