#include "agreement.h"

#include "cpu/clip_histogram.h"

/* Within an error of the last places of a long double sum. */
static void assert_near(long double value, long double expected, long double scale) {
    assert_true(fabsl(value - expected) <= 1e-15L * scale);
}

void assert_background_agrees(const struct srcfind_background *b,
                              const struct srcfind_background *expected) {
    assert_int_equal(b->n_pixels, expected->n_pixels);
    assert_int_equal(b->n_blank, expected->n_blank);
    assert_int_equal(b->n_kept, expected->n_kept);
    assert_int_equal(b->rounds, expected->rounds);
    assert_int_equal(b->empty, expected->empty);
    assert_true(b->median == expected->median);
    assert_true(b->min == expected->min);
    assert_true(b->max == expected->max);
    assert_near(b->rms, expected->rms, fmax(expected->rms, 1e-15 * fabs(expected->mean)));
    assert_near(b->mean, expected->mean, fabs(expected->mean) + expected->rms);
}

/* Pixels are whole multiples of the unit where peak / threshold < 2^22 (see moments.h); beyond,
 * each is off by half a unit at most, and its position counts as often. */
static void assert_sum(const struct island *i, enum moment m, long double expected,
                       double threshold) {
    const long double reach = fmaxl(i->x_max - i->x_min, i->y_max - i->y_min) + 1;
    const bool exact = i->peak < threshold * 0x1p22;
    const long double rounding =
        exact ? 0 : ldexpl((long double)i->n_pixels * reach * reach / 2, i->unit);
    assert_true(fabsl(ldexpl((long double)island_sum(i, m), i->unit) - expected) <=
                1e-15L * fabsl(expected) + rounding);
}

static void assert_extent(const struct island *i, const struct oracle_island *expected) {
    assert_int_equal(i->n_pixels, expected->n_pixels);
    assert_int_equal(i->x_min, expected->x_min);
    assert_int_equal(i->x_max, expected->x_max);
    assert_int_equal(i->y_min, expected->y_min);
    assert_int_equal(i->y_max, expected->y_max);
    assert_int_equal(i->x_peak, expected->x_peak);
    assert_int_equal(i->y_peak, expected->y_peak);
    assert_true(i->peak == expected->peak && i->snr == expected->snr);
    assert_int_equal(i->edge, expected->edge);
}

static void assert_island(const struct island *i, const struct oracle_island *expected,
                          double threshold) {
    assert_extent(i, expected);
    assert_sum(i, SUM_Q, expected->sum, threshold);
    assert_sum(i, SUM_QX, expected->x, threshold);
    assert_sum(i, SUM_QY, expected->y, threshold);
    assert_sum(i, SUM_QXX, expected->xx, threshold);
    assert_sum(i, SUM_QYY, expected->yy, threshold);
    assert_sum(i, SUM_QXY, expected->xy, threshold);
}

void assert_agrees(const struct detection_result *result, const struct oracle_result *expected,
                   const struct detection *d) {
    const struct srcfind_background *b = &expected->background;
    const double threshold = (isnan(d->background) ? b->median : d->background) +
                             d->island * (d->rms > 0 ? d->rms : b->rms);
    assert_background_agrees(&result->background, b);
    assert_int_equal(result->segments.n, expected->n);
    for (int64_t i = 0; i < expected->n; i++)
        assert_island(&result->segments.islands[i], &expected->islands[i], threshold);
}

/* Each pixel is rounded to the unit, and its position counts as often. */
static void assert_local_sum(const struct island *i, enum moment m, long double expected) {
    const long double reach = fmaxl(i->x_max - i->x_min, i->y_max - i->y_min) + 1;
    const long double rounding = ldexpl((long double)i->n_pixels * reach * reach / 2, i->unit);
    assert_true(fabsl(ldexpl((long double)island_sum(i, m), i->unit) - expected) <=
                1e-15L * fabsl(expected) + rounding);
}

static void assert_nodes(const struct noise_map *map, const struct oracle_nodes *expected) {
    assert_int_equal(map->n_x, expected->n_x);
    assert_int_equal(map->n_y, expected->n_y);
    for (int64_t i = 0; i < map->n_x * map->n_y; i++) {
        assert_true(map->nodes[i].background == expected->nodes[i].background);
        if (isinf(expected->nodes[i].rms))
            assert_true(isinf(map->nodes[i].rms));
        else
            assert_near(map->nodes[i].rms, expected->nodes[i].rms, expected->nodes[i].rms);
    }
}

/* The islands are compared with those above the result's own nodes: an rms may be a rounding of
 * long double off. */
void assert_agrees_locally(const struct detection_result *result, const struct picture *picture,
                           const struct detection *d) {
    struct oracle_nodes nodes = oracle_nodes_find(picture, d);
    const struct oracle_nodes own = {nodes.n_x, nodes.n_y, result->noise.nodes, 0, 0};
    const double n_pixels = picture->width * picture->height;
    assert_nodes(&result->noise, &nodes);
    assert_int_equal(result->background.islands_excluded, nodes.n_islands);
    assert_true(result->background.share_excluded == nodes.n_pixels / n_pixels);
    struct oracle_result expected = oracle_detect_locally(picture, d, &own);
    assert_background_agrees(&result->background, &expected.background);
    assert_int_equal(result->segments.n, expected.n);
    for (int64_t k = 0; k < expected.n; k++) {
        const struct island *i = &result->segments.islands[k];
        assert_extent(i, &expected.islands[k]);
        assert_local_sum(i, SUM_Q, expected.islands[k].sum);
        assert_local_sum(i, SUM_QX, expected.islands[k].x);
        assert_local_sum(i, SUM_QY, expected.islands[k].y);
        assert_local_sum(i, SUM_QXX, expected.islands[k].xx);
        assert_local_sum(i, SUM_QYY, expected.islands[k].yy);
        assert_local_sum(i, SUM_QXY, expected.islands[k].xy);
    }
    oracle_free(&expected);
    oracle_nodes_free(&nodes);
}

void assert_histogram_agrees(const struct picture *picture, double kappa,
                             const struct oracle_result *expected, int n_threads, bool swapped) {
    const int64_t n_pixels = (int64_t)picture->width * picture->height;
    const int64_t few[] = {0, n_pixels * 3 / 4, n_pixels};
    struct memory_source *m = memory_source_make(picture, 4096, swapped, true);
    for (int i = 0; i < 3; i++) {
        struct srcfind_background b = {.n_pixels = n_pixels};
        struct error error;
        assert_int_equal(
            histogram_clip(&m->source, kappa, unit_threads(n_threads), few[i], &b, &error),
            SRCFIND_OK);
        if (expected->background.n_kept > 0)
            assert_background_agrees(&b, &expected->background);
        else
            assert_int_equal(b.n_kept, 0);
    }
    memory_source_free(m);
}
