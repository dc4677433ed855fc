/* The index of rows by their position: its order, for rows anywhere, at equal places and far from
 * all others; the first row from a y on. */
#include "measure/row_index.h"

#include "common/random.h"
#include "unit.h"

enum { ROWS = 20000 };

static bool is_before(const struct placed_row *a, const struct placed_row *b) {
    if (a->y != b->y)
        return a->y < b->y;
    return a->x != b->x ? a->x < b->x : a->row->id < b->row->id;
}

/* Checks the order of the rows that are indexed, and that each row is there once. */
static void check(struct srcfind_source *rows, int64_t n) {
    struct row_index index;
    bool seen[ROWS] = {false};
    for (int64_t i = 0; i < n; i++)
        rows[i].id = i + 1;
    assert_true(row_index_make(&index, rows, n, unit_threads(3)));
    assert_int_equal(index.n, n);
    for (int64_t i = 0; i < n; i++) {
        const struct placed_row *at = &index.rows[i];
        assert_true(at->x == at->row->x && at->y == at->row->y);
        assert_false(seen[at->row - rows]);
        seen[at->row - rows] = true;
        assert_true(i == 0 || is_before(at - 1, at));
        assert_int_equal(row_index_first(&index, nextafter(at->y, INFINITY)) > i, true);
        assert_true(row_index_first(&index, at->y) <= i);
    }
    assert_int_equal(row_index_first(&index, 1e9), n);
    assert_int_equal(row_index_first(&index, -1e9), 0);
    row_index_clear(&index);
}

static void order(void **state) {
    static struct srcfind_source rows[ROWS];
    (void)state;
    for (int64_t n = 0; n <= ROWS; n = n < 20 ? n + 1 : 9 * n) {
        for (int64_t i = 0; i < n; i++) {
            rows[i].x = 500 * random_number(1, (uint64_t)n, (uint64_t)i, 0) - 1;
            rows[i].y = 300 * random_number(1, (uint64_t)n, (uint64_t)i, 1) - 1;
        }
        check(rows, n);
    }
}

static void equal_places(void **state) {
    static struct srcfind_source rows[ROWS];
    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        rows[i].x = floor(10 * random_number(2, 0, (uint64_t)i, 0));
        rows[i].y = floor(10 * random_number(2, 0, (uint64_t)i, 1));
    }
    check(rows, ROWS);
    for (int64_t i = 0; i < ROWS; i++)
        rows[i].y = 7.5;
    check(rows, ROWS);
}

static void one_far_away(void **state) {
    static struct srcfind_source rows[ROWS];
    (void)state;
    for (int64_t i = 0; i < ROWS; i++) {
        rows[i].x = random_number(3, 0, (uint64_t)i, 0);
        rows[i].y = random_number(3, 0, (uint64_t)i, 1);
    }
    rows[5].y = -1e8;
    check(rows, ROWS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),
        cmocka_unit_test(equal_places),
        cmocka_unit_test(one_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
