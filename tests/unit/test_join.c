/* Sources of a scale join those that they lie beside: fluxes, flags, and the order of Gaussians. */
#include "api/join.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

/* A row whose Gaussians have the numbers n_gaussians from `first` on, as their pixel sums. */
static struct srcfind_source row_of(int64_t id, int64_t island, int64_t n, double flux) {
    return (struct srcfind_source){.id = id,
                                   .island_id = island,
                                   .s_code = "S",
                                   .n_gaussians = n,
                                   .total_flux = flux,
                                   .e_total_flux = 0.3,
                                   .e_total_shape = 0.4,
                                   .n_pixels = 12,
                                   .flags = SRCFIND_FLAG_BEAM_SHAPE};
}

static struct sources sources_of(const struct srcfind_source *rows, int n, double first_part) {
    struct sources s = {.n = n,
                        .rows = calloc((size_t)n, sizeof *rows),
                        .parts = calloc(20, sizeof *rows),
                        .gaussians = calloc(20, sizeof *s.gaussians)};
    for (int i = 0; i < n; i++) {
        s.rows[i] = rows[i];
        for (int k = 0; rows[i].n_gaussians > 1 && k < rows[i].n_gaussians; k++) {
            s.parts[s.n_parts] = row_of(rows[i].id, rows[i].island_id, SRCFIND_EMPTY,
                                        first_part + (double)s.n_parts);
            s.n_parts++;
        }
        if (!(rows[i].flags & SRCFIND_FLAG_NOT_FITTED))
            s.n_gaussians += rows[i].n_gaussians;
    }
    for (int k = 0; k < s.n_gaussians; k++)
        s.gaussians[k].x = first_part + k;
    return s;
}

static void assert_parts(const struct sources *s, const int *ids, const double *fluxes, int n) {
    assert_int_equal(s->n_parts, n);
    for (int k = 0; k < n; k++) {
        assert_int_equal(s->parts[k].id, ids[k]);
        assert_int_equal(s->parts[k].island_id, s->rows[ids[k] - 1].island_id);
        assert_true(s->parts[k].total_flux == fluxes[k]);
        assert_int_equal(s->parts[k].n_gaussians, SRCFIND_EMPTY);
        assert_string_equal(s->parts[k].s_code, ids[k] == 2 ? "S" : "M");
    }
}

static void joins(void **state) {
    struct srcfind_source before[] = {row_of(1, 1, 1, 10), row_of(2, 1, 2, 20), row_of(3, 2, 1, 4),
                                      row_of(4, 3, 1, 40)};
    struct srcfind_source after[] = {row_of(1, 1, 1, 2), row_of(2, 2, 3, 3), row_of(3, 2, 1, 4),
                                     row_of(4, 3, 1, 5)};
    static const int64_t source[] = {2, 0, 1};
    static const int ids[] = {1, 1, 1, 1, 1, 2, 2, 3, 3};
    static const double fluxes[] = {10, 200, 201, 202, 4, 100, 101, 4, 2};
    (void)state;
    before[2].e_total_flux = 0.6;
    before[2].flags = SRCFIND_FLAG_UNCERTAIN_TOTAL | SRCFIND_FLAG_NARROW;
    before[1].s_code[0] = 'S'; /* nothing joins it */
    after[0].flags = SRCFIND_FLAG_EDGE;
    before[0].flags |= SRCFIND_FLAG_SINGLE_PIXEL;
    after[3].flags = SRCFIND_FLAG_NOT_FITTED;
    struct sources s = sources_of(before, 4, 100), more = sources_of(after, 4, 200);
    assert_true(join_sources(&s, &more, source, 3));
    assert_int_equal(s.n, 4);
    assert_int_equal(s.n_gaussians, 5 + 5);
    assert_true(s.gaussians[5].x == 200);
    const struct srcfind_source *rows = s.rows;
    assert_true(rows[0].total_flux == 10 + 3 + 4);
    assert_true(fabs(rows[0].e_total_flux - 0.3 * sqrt(3)) < 1e-15);
    assert_true(fabs(rows[0].e_total_shape - 0.4 * sqrt(3)) < 1e-15);
    assert_int_equal(rows[0].n_gaussians, 5);
    assert_string_equal(rows[0].s_code, "M");
    assert_int_equal(rows[0].flags, SRCFIND_FLAG_SINGLE_PIXEL);
    assert_int_equal(rows[0].n_pixels, 12);
    assert_memory_equal(&rows[1], &before[1], sizeof rows[1]);
    assert_int_equal(rows[2].flags, SRCFIND_FLAG_EDGE); /* 6 +- 0.67 is certain */
    assert_int_equal(rows[2].n_gaussians, 2);
    assert_memory_equal(&rows[3], &before[3], sizeof rows[3]);
    for (int k = 5; k < 7; k++) /* as they were */
        s.parts[k].s_code[0] = 'S';
    assert_parts(&s, ids, fluxes, 9);
    assert_int_equal(s.parts[0].n_pixels, SRCFIND_EMPTY); /* those of the source are its row's */
    assert_int_equal(s.parts[0].flags, SRCFIND_FLAG_BEAM_SHAPE);

    struct srcfind_source again[] = {row_of(1, 1, 1, 7)}; /* at the next scale */
    static const int64_t first[] = {0};
    struct sources next = sources_of(again, 1, 300);
    assert_true(join_sources(&s, &next, first, 3));
    assert_int_equal(s.rows[0].n_gaussians, 6);
    assert_int_equal(s.n_parts, 10);
    assert_true(s.parts[5].total_flux == 7 && s.parts[5].id == 1 && s.parts[4].total_flux == 4);
    int64_t n;
    struct srcfind_source *all = sources_list_gaussians(&s, &n);
    assert_int_equal(n, 6 + 2 + 2 + 1);
    assert_int_equal(all[n - 1].id, 4);
    assert_int_equal(all[n - 2].id, 3);
    free(all);
    sources_clear(&s);
    sources_clear(&more);
    sources_clear(&next);
}

/* What is no rest of the source is left out, with its Gaussians. */
static void no_rests(void **state) {
    const struct srcfind_source before[] = {row_of(1, 1, 1, 10)};
    static const int64_t source[] = {0, 0, 0, 0, 0, 0, 0};
    (void)state;
    struct srcfind_source after[7];
    for (int i = 0; i < 7; i++) {
        after[i] = row_of(i + 1, i + 1, 1 + (i == 2), 5);
        after[i].x = 10;
    }
    after[0].x = 14; /* the box of the source's pixels is 10 ... 11 */
    after[1].x = 14.1;
    after[2].y = -3.1;
    after[3].total_flux = 0.29; /* its error is 0.3 */
    after[4].total_flux = 10.1;
    after[5].flags = SRCFIND_FLAG_NOT_FITTED;
    after[6].y = -3;
    struct sources s = sources_of(before, 1, 100), more = sources_of(after, 7, 200);
    s.rows[0].x_min = 10;
    s.rows[0].x_max = 11;
    assert_true(join_sources(&s, &more, source, 3));
    assert_true(s.rows[0].total_flux == 20);
    assert_int_equal(s.n_gaussians, 3);
    assert_true(s.gaussians[1].x == 200 && s.gaussians[2].x == 206);
    sources_clear(&s);
    sources_clear(&more);
}

/* Sources, islands and labels are numbered again. */
static void certain(void **state) {
    struct srcfind_source rows[] = {row_of(1, 1, 1, 10), row_of(2, 1, 2, 10), row_of(3, 2, 1, 10),
                                    row_of(4, 3, 2, 10), row_of(5, 3, 1, 10)};
    (void)state;
    rows[0].total_flux = 0.29; /* its error is 0.3 */
    rows[2].total_flux = -0.29;
    rows[3].total_flux = 0.29;
    rows[3].flags = SRCFIND_FLAG_UNCERTAIN_TOTAL; /* it is resolved */
    rows[4].total_flux = -10;
    struct sources s = sources_of(rows, 5, 100);
    for (int i = 0; i < 5; i++) {
        const struct run run = {i, 0, 1};
        assert_true(labels_add_run(&s.labels[LABEL_SOURCES], &run, i + 1, 2));
        assert_true(labels_add_run(&s.labels[LABEL_ISLANDS], &run, rows[i].island_id, 2));
    }
    assert_true(keep_certain(&s));
    assert_int_equal(s.n, 3);
    static const int64_t islands[] = {1, 2, 2}, of_parts[] = {1, 1, 2, 2};
    static const double gaussians[] = {101, 102, 104, 105, 106};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(s.rows[i].id, i + 1);
        assert_int_equal(s.rows[i].island_id, islands[i]);
        assert_int_equal(s.labels[LABEL_SOURCES].runs[i].label, i + 1);
    }
    assert_int_equal(s.n_parts, 4);
    for (int k = 0; k < 4; k++)
        assert_int_equal(s.parts[k].id, of_parts[k]);
    assert_int_equal(s.n_gaussians, 5);
    for (int k = 0; k < 5; k++)
        assert_true(s.gaussians[k].x == gaussians[k]);
    assert_int_equal(s.labels[LABEL_SOURCES].n, 3);
    assert_int_equal(s.labels[LABEL_ISLANDS].n, 4); /* island 1 has a source still */
    assert_int_equal(s.labels[LABEL_ISLANDS].runs[2].label, 2);
    sources_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins), cmocka_unit_test(no_rests),
                                       cmocka_unit_test(certain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
