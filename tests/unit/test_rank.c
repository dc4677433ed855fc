/* The value of a rank, against a sort: of values in order, against it, at random and mostly equal.
 */
#include "common/rank.h"

#include <stdlib.h>

#include "common/random.h"
#include "unit.h"

enum { MOST = 300 };

static int compare(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

/* Checks all ranks, also of an order that earlier ranks left. */
static void check(const double *values, int64_t n) {
    double sorted[MOST], left[MOST];
    memcpy(sorted, values, (size_t)n * sizeof *values);
    memcpy(left, values, (size_t)n * sizeof *values);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int64_t rank = 0; rank < n; rank++) {
        double fresh[MOST];
        memcpy(fresh, values, (size_t)n * sizeof *values);
        assert_true(value_of_rank(fresh, n, rank) == sorted[rank]);
        assert_true(value_of_rank(left, n, rank) == sorted[rank]);
    }
    qsort(left, (size_t)n, sizeof *left, compare);
    assert_memory_equal(left, sorted, (size_t)n * sizeof *sorted);
}

static void ranks(void **state) {
    (void)state;
    for (int64_t n = 1; n <= MOST; n = n < 9 ? n + 1 : 2 * n) {
        double values[4][MOST];
        for (int64_t i = 0; i < n; i++) {
            const double random = random_number(1, 2, (uint64_t)n, (uint64_t)i);
            values[0][i] = (double)i - 20;
            values[1][i] = i == 3 ? INFINITY : (double)-i;
            values[2][i] = random;
            values[3][i] = floor(3 * random);
        }
        for (int kind = 0; kind < 4; kind++)
            check(values[kind], n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
