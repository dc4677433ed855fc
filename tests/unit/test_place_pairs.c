/* Pairs of places against the inverse of one matrix of all places. */
#include <stdlib.h>

#include "measure/beam_frame.h"
#include "measure/place_pairs.h"
#include "measure/places.h"
#include "unit.h"

enum { MOST = 220 };

static const struct fit_frame FRAME = {0.45, 0.08, 0.5, true, FIT_SHAPES_CHOSEN};

static double even(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-53;
}

/* n places at random in a square, each third of them wider than the beam. */
static void scatter(int n, double side, uint64_t *random, struct place *places) {
    const struct tensor beam = beam_frame_moments(&FRAME);
    for (int i = 0; i < n; i++) {
        const double more = i % 3 == 0 ? 3 * even(random) : 0;
        const struct tensor moments = {beam.xx + more, beam.yy + more / 2, beam.xy};
        const double x = side * even(random), y = side * even(random);
        places[i] = place_make(x, y, &moments, 1e9, i);
    }
}

/* Inverts a matrix by elimination with the largest pivots. */
static void invert(int n, const double *matrix, double *inverse) {
    static long double a[MOST][2 * MOST];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            a[i][k] = matrix[i * n + k];
            a[i][n + k] = i == k;
        }
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int k = i; k < n; k++)
            pivot = fabsl(a[k][i]) > fabsl(a[pivot][i]) ? k : pivot;
        for (int k = 0; k < 2 * n; k++) {
            const long double swapped = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = swapped;
        }
        for (int row = 0; row < n; row++) {
            const long double factor = row == i ? 0 : a[row][i] / a[i][i];
            for (int k = i; factor != 0 && k < 2 * n; k++)
                a[row][k] -= factor * a[i][k];
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            inverse[i * n + k] = (double)(a[i][n + k] / a[i][i]);
}

/* The correlations of all amplitudes, fitted at once. */
static void correlate(const struct place *places, int n, const struct correlation *noise,
                      double *correlation) {
    static double normal[MOST * MOST], inverse[MOST * MOST], of_noise[MOST * MOST],
        half[MOST * MOST];
    struct place_noise of_pairs;
    const struct tensor beam = beam_frame_moments(&FRAME);
    assert_true(place_noise_make(noise, &beam, places[0].power, &of_pairs));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const struct place a = place_weights(&places[i]), b = place_weights(&places[k]);
            normal[i * n + k] = place_product(&a, &places[k]);
            of_noise[i * n + k] = place_noise_between(&of_pairs, &a, &b);
        }
    invert(n, normal, inverse);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            half[i * n + k] = 0;
            for (int j = 0; j < n; j++)
                half[i * n + k] += inverse[i * n + j] * of_noise[j * n + k];
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            correlation[i * n + k] = 0;
            for (int j = 0; j < n; j++)
                correlation[i * n + k] += half[i * n + j] * inverse[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (i != k)
                correlation[i * n + k] /= sqrt(correlation[i * (n + 1)] * correlation[k * (n + 1)]);
    place_noise_clear(&of_pairs);
}

/* Compares what is found with all correlations: each pair is there once, and none is missing. */
static void compare(int n, double side, double tolerance, int least, uint64_t *random) {
    static struct place places[MOST];
    static double expected[MOST * MOST];
    static bool is_found[MOST * MOST];
    const struct correlation noise = correlation_of_beam(&FRAME);
    struct place_pairs pairs;
    scatter(n, side, random, places);
    assert_true(place_pairs_find(places, n, &FRAME, &noise, &pairs));
    correlate(places, n, &noise, expected);
    for (int i = 0; i < n * n; i++)
        is_found[i] = false;
    for (int64_t p = 0; p < pairs.n; p++) {
        const int64_t i = pairs.all[p].first, k = pairs.all[p].second;
        assert_true(i < k && k < n && !is_found[i * n + k]);
        is_found[i * n + k] = true;
        if (!(fabs(pairs.all[p].correlation - expected[i * n + k]) < tolerance))
            fail_msg("%g is not %g, of %d and %d", pairs.all[p].correlation, expected[i * n + k],
                     (int)i, (int)k);
    }
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            if (fabs(expected[i * n + k]) > 0.1 + tolerance && !is_found[i * n + k])
                fail_msg("%d and %d are missing, with %g", i, k, expected[i * n + k]);
    assert_true(pairs.n > least);
    free(pairs.all);
}

/* Groups that are no parts of clusters have all there is. */
static void of_a_group(void **state) {
    uint64_t random = 5;
    (void)state;
    for (int n = 2; n < 60; n += 19)
        compare(n, 4 * sqrt(n), 1e-6, n / 4, &random);
}

/* In a cluster, a part sees the places of others that are near to it. */
static void of_a_cluster(void **state) {
    uint64_t random = 7;
    (void)state;
    compare(MOST, 90, 0.02, 60, &random);
}

/* Places that are one have one amplitude. */
static void of_twins(void **state) {
    const struct tensor beam = beam_frame_moments(&FRAME);
    const struct correlation noise = correlation_of_beam(&FRAME);
    struct place places[3];
    struct place_pairs pairs;
    (void)state;
    for (int i = 0; i < 3; i++)
        places[i] = place_make(i == 1 ? 50 : 10, 20, &beam, 1e9, i);
    assert_true(place_pairs_find(places, 3, &FRAME, &noise, &pairs));
    assert_int_equal(pairs.n, 1);
    assert_true(pairs.all[0].correlation == 1);
    assert_int_equal(places[pairs.all[0].first].row + places[pairs.all[0].second].row, 2);
    free(pairs.all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_group),
        cmocka_unit_test(of_a_cluster),
        cmocka_unit_test(of_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
