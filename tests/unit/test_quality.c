/* Numbers of rows, counted in shares by any number of threads, against a plain count. */
#include <math.h>
#include <stdlib.h>

#include "api/quality.h"
#include "unit.h"

enum { ROWS = 30011, NEGATIVE = 7000 };

static void counts_of_rows(void **state) {
    struct srcfind_source *rows = calloc(ROWS, sizeof *rows);
    const struct sampled none = {0};
    int64_t bright = 0, off_sky = 0, artefacts = 0, edge = 0;
    (void)state;
    assert_non_null(rows);
    for (int64_t i = 0; i < ROWS; i++) {
        rows[i].snr = (double)(i % 113);
        rows[i].lon = i % 7 == 0 ? NAN : 1;
        rows[i].x = i % 14 == 0 ? NAN : 1;
        rows[i].flags = (i % 5 == 0 ? SRCFIND_FLAG_ARTEFACT : 0) | (i % 3 ? 0 : SRCFIND_FLAG_EDGE);
        bright += i % 113 > 100;
        off_sky += i % 7 == 0 && i % 14 != 0;
        artefacts += i % 5 == 0 && i < ROWS - NEGATIVE;
        edge += i % 3 == 0;
    }
    for (int n = 1; n < 8; n += 3) {
        struct result r = {.sources = {.rows = rows, .n = ROWS, .n_negative = NEGATIVE},
                           .image.beam.major = 1};
        options_default(&r.options);
        r.options.fit = true;
        assert_true(quality_find(&none, unit_threads(n), &r));
        assert_int_equal(r.numbers.bright, bright);
        assert_int_equal(r.numbers.off_sky, off_sky);
        assert_true(r.quality.artefacts == (double)artefacts);
        assert_true(r.quality.edge == (double)edge / ROWS);
    }
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_of_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
