/* Fluxes, centroids, shapes and flags of islands whose numbers are known by hand. */
#include "measure/fit_uncertainty.h"
#include "measure/measure.h"
#include "sky.h"

enum { UNIT = -30, SIDE = 128 };

/* What islands are measured with, beside an rms of 1 and a threshold of 5 rms. */
struct field {
    struct image image;
    struct srcfind_image metadata;
};

static const struct field simple = {{.jansky = 1}, {.beam_pixels = 4}}; /* Jy/beam, no sky */

/* An island of the pixels that are not NaN, in a box of a width whose corner is at (x, y). */
static struct island island_of(int x, int y, int width, int n, const double *values) {
    struct island island = {.x_min = x,
                            .x_max = x + width - 1,
                            .y_min = y,
                            .y_max = y + n / width - 1,
                            .peak = -INFINITY,
                            .unit = UNIT};
    for (int i = 0; i < n; i++) {
        const int dx = i % width, dy = i / width;
        if (isnan(values[i]))
            continue;
        const int128 q = llrint(ldexp(values[i], -UNIT));
        const int128 terms[MOMENTS] = {q,           q * dx, q * dy, q * dx * dx,     q * dy * dy,
                                       q * dx * dy, dx,     dy,     (int128)dx * dx, dy * dy,
                                       dx * dy};
        for (int m = 0; m < MOMENTS; m++)
            island_add(&island, m, (uint128)terms[m]);
        island.n_pixels++;
        if ((float)values[i] > island.peak) {
            island.peak = (float)values[i];
            island.x_peak = x + dx;
            island.y_peak = y + dy;
        }
    }
    return island;
}

/* A view of the field, with one noise or that of a map. */
static struct view view_of(const struct field *field, const struct detection *detection,
                           const struct noise_map *noise) {
    static const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    return (struct view){.correlation = correlation_of_beam(&frame),
                         .image = &field->image,
                         .metadata = &field->metadata,
                         .grid = &GRID_OF_IMAGE,
                         .detection = *detection,
                         .result.noise = *noise};
}

static struct srcfind_source *rows_in_noise(const struct noise_map *noise,
                                            const struct detection *detection,
                                            const struct island *islands, int64_t n,
                                            const struct field *field, struct threads *threads) {
    const struct view view = view_of(field, detection, noise);
    struct segments segments = {.n = n, .islands = calloc((size_t)n + 1, sizeof *islands)};
    struct srcfind_source *rows;
    struct error error;
    if (n > 0)
        memcpy(segments.islands, islands, (size_t)n * sizeof *islands);
    const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    struct measurer *measurer = measurer_make(&view, &frame, n, threads);
    assert_non_null(measurer);
    assert_int_equal(measure_islands(measurer, &segments, &rows, &error), SRCFIND_OK);
    measurer_free(measurer);
    assert_int_equal(segments.n, 0);
    assert_null(segments.islands);
    return rows;
}

static struct srcfind_source *rows_of(const struct island *islands, int64_t n, double background,
                                      const struct field *field, struct threads *threads) {
    const struct noise_map noise = {.background = background, .rms = 1};
    const struct detection detection = {.threshold = 5, .island = 5};
    return rows_in_noise(&noise, &detection, islands, n, field, threads);
}

static struct srcfind_source row_of(const struct island *island, double background,
                                    const struct field *field) {
    struct srcfind_source *rows = rows_of(island, 1, background, field, NULL), row = rows[0];
    free(rows);
    return row;
}

/* A sky with pixels of a degree / 1000, east to the left, and (0, 0) at the pixel (59, 59). */
static struct field with_sky(void) {
    struct field field = simple;
    field.image.wcs =
        wcs_of("CTYPE1  = 'RA---TAN'\nCTYPE2  = 'DEC--TAN'\nCRPIX1  = 60\nCRPIX2  = 60\n"
               "CRVAL1  = 0\nCRVAL2  = 0\nCDELT1  = -1E-3\nCDELT2  = 1E-3",
               &field.metadata);
    field.metadata.beam_pixels = 4;
    assert_non_null(field.image.wcs);
    return field;
}

/* The pixels 10 20 / 30 40: their sum is 100, their centroid (60, 70) / 100. Second moments are xx
 * = 0.6 - 0.36 = 0.24, yy = 0.7 - 0.49 = 0.21, xy = 0.4 - 0.42 = -0.02, with eigenvalues 0.25 and
 * 0.2 and an axis of 2 theta = atan2(-0.02, 0.015), which is to the right and downwards with a
 * slope of 1 / 2: a position angle of atan(2). The threshold is 1 / 8 of the peak: 7 / 8 of a
 * Gaussian's flux are above it, and of its second moments 1 - ln(8) / 7 = 0.70293692. */
static void four_pixels(void **state) {
    struct field field = with_sky();
    (void)state;
    for (int background = 0; background <= 1000000; background += 1000000) {
        const int x = background ? 2147483000 : 58, y = x - 1;
        const double b = background, values[] = {b + 10, b + 20, b + 30, b + 40};
        const struct island island = island_of(x, y, 2, 4, values);
        const struct srcfind_source s = row_of(&island, b, &field);
        assert_within(s.x - x, 0.6, 1e-6);
        assert_within(s.y - y, 0.7, 1e-6);
        assert_true(s.pixel_sum == 100 && s.peak_flux == 40 && s.snr == 40);
        assert_true(s.isl_rms == 1 && s.isl_mean == b && s.e_peak_flux == 1);
        assert_within(s.isl_total_flux, 25, 1e-12);
        assert_within(s.e_isl_total_flux, (2 + 2 * exp(-0.5)) / 4, 1e-12); /* of 2 x 2 pixels */
        assert_within(s.total_flux, 200.0 / 7, 1e-12);
        assert_int_equal(s.n_pixels, 4);
        assert_true(s.x_min == x && s.x_max == x + 1 && s.y_min == y && s.y_max == y + 1);
        assert_true(s.x_peak == x + 1 && s.y_peak == y + 1);
        assert_int_equal(s.flags, 0);
        if (background)
            continue;                              /* far from the sky */
        assert_within(s.major, 1.404331e-3, 1e-8); /* sqrt(8 ln 2 0.25 / 0.70293692) / 1000 */
        assert_within(s.minor, 1.256072e-3, 1e-8); /* sqrt(8 ln 2 0.2 / 0.70293692) / 1000 */
        assert_within(s.angle, 63.434949, 1e-3);
        assert_within(s.lon, 4e-4, 1e-9);
        assert_within(s.lat, -1.3e-3, 1e-9);
    }
    wcs_close(field.image.wcs);
}

/* A Gaussian of FWHM 24 and 12 pixels, whose major axis is 30 degrees from north through east. */
static struct island gaussian(double peak, double x, double y) {
    static double values[SIDE * SIDE];
    const double a = M_PI / 6, c = cos(a), s = sin(a);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double dx = i % SIDE - x, dy = i / SIDE - y;
        const double along = (dy * c - dx * s) / 24, across = (dx * c + dy * s) / 12;
        const double value = peak * exp(-4 * M_LN2 * (along * along + across * across));
        values[i] = value >= 5 ? value : NAN;
    }
    return island_of(0, 0, SIDE, SIDE * SIDE, values);
}

/* The flux of a Gaussian is peak pi 24 12 / (4 ln 2); of a sampled one, cut at 5 rms, all comes
 * back: to 1 / 1000 of a bright one, to 1 / 100 where a third of the flux is below the cut. */
static void gaussians(void **state) {
    static const double cases[][2] = {{1000, 1e-3}, {100, 2e-3}, {15, 1e-2}};
    struct field field = with_sky();
    (void)state;
    for (int i = 0; i < 3; i++) {
        const double peak = cases[i][0], part = cases[i][1];
        const struct island island = gaussian(peak, 63.3, 62.8);
        const struct srcfind_source s = row_of(&island, 0, &field);
        const double flux = peak * 326.3300 / 4; /* of a beam of 4 pixels */
        assert_within(s.x, 63.3, 20 * part);
        assert_within(s.y, 62.8, 20 * part);
        assert_within(s.total_flux / flux, 1, part);
        assert_within(s.isl_total_flux / flux, 1 - 5 / peak, 2 * part);
        assert_within(s.major / 0.024, 1, part);
        assert_within(s.minor / 0.012, 1, part);
        assert_within(s.angle, 30, 100 * part);
        assert_int_equal(s.flags, 0);
    }
    wcs_close(field.image.wcs);
}

/* What has no width: its size is empty, and the rest is not. The bound is SExtractor's. */
static void sources_without_a_shape(void **state) {
    static const double one[] = {8}, line[] = {10, 30, 20}, diagonal[] = {20, NAN, NAN, 20};
    struct field field = with_sky();
    const struct island islands[] = {island_of(59, 59, 1, 1, one), island_of(58, 59, 3, 3, line),
                                     island_of(59, 59, 2, 4, diagonal)};
    static const double x[] = {59, 59 + 1.0 / 6, 59.5}, y[] = {59, 59, 59.5}, sum[] = {8, 60, 40};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct srcfind_source s = row_of(&islands[i], 0, &field);
        assert_int_equal(s.flags & SRCFIND_FLAG_NO_SHAPE, SRCFIND_FLAG_NO_SHAPE);
        assert_int_equal((s.flags & SRCFIND_FLAG_SINGLE_PIXEL) != 0, i == 0);
        assert_true(isnan(s.major) && isnan(s.minor) && isnan(s.angle));
        assert_within(s.x, x[i], 1e-12);
        assert_within(s.y, y[i], 1e-12);
        assert_true(s.pixel_sum == sum[i] && s.e_x > 0 && s.e_lon > 0);
        assert_within(s.lat, (y[i] - 59) / 1000, 1e-9);
        assert_true(s.name[0] == 'J');
    }
    wcs_close(field.image.wcs);
}

/* Fluxes of an island whose pixels add up to 100 map units. */
static void units(void **state) {
    static const struct {
        double jansky, beam, flux;
        bool per_pixel;
        int flags;
    } known[] = {
        {1, 4, 25, false, 0},                          /* Jy/beam */
        {1e-3, 4, 0.025, false, 0},                    /* mJy/beam */
        {1e-3, NAN, 100, false, SRCFIND_FLAG_NO_BEAM}, /* mJy/beam x pixels */
        {1e-3, 4, 0.1, true, 0},                       /* mJy/pixel */
        {1e-3, NAN, 0.1, true, 0},
        {NAN, 4, 25, false, 0}, /* K x beams */
        {NAN, NAN, 100, false, SRCFIND_FLAG_NO_BEAM},
        {1, INFINITY, 100, false, SRCFIND_FLAG_NO_BEAM}, /* a beam of 1e300 degrees */
        {1, 0.25, 400, false, 0},                        /* a beam that is less than a pixel */
    };
    static const double values[] = {10, 20, 30, 40};
    const struct island island = island_of(0, 0, 2, 4, values);
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct field field = {{.jansky = known[i].jansky, .per_pixel = known[i].per_pixel},
                                    {.beam_pixels = known[i].beam}};
        const struct srcfind_source s = row_of(&island, 0, &field);
        assert_within(s.isl_total_flux / known[i].flux, 1, 1e-15);
        assert_within(s.total_flux / known[i].flux, 8.0 / 7, 1e-15);
        assert_true(s.pixel_sum == 100 && s.peak_flux == 40);
        assert_int_equal(s.flags & SRCFIND_FLAG_NO_BEAM, known[i].flags);
    }
}

/* An island at the edge says so. One that is no higher than its threshold has finite numbers. */
static void flags(void **state) {
    static const double values[] = {5, 5, 5, 5}, pair[] = {5.5, 5.25};
    struct island island = island_of(0, 0, 2, 4, values);
    const struct island faint = island_of(0, 0, 2, 2, pair);
    (void)state;
    assert_int_equal(row_of(&island, 0, &simple).flags & SRCFIND_FLAG_EDGE, 0);
    island.edge = true;
    const struct srcfind_source s = row_of(&island, 0, &simple), f = row_of(&faint, 0, &simple);
    assert_int_equal(s.flags & SRCFIND_FLAG_EDGE, SRCFIND_FLAG_EDGE);
    assert_true(s.x == 0.5 && s.y == 0.5 && s.pixel_sum == 20);
    assert_true(isfinite(s.total_flux) && isfinite(s.e_total_flux) && isfinite(s.e_x));
    assert_int_equal(f.flags, SRCFIND_FLAG_NO_SHAPE | SRCFIND_FLAG_UNCERTAIN_TOTAL);
    assert_true(f.e_total_flux > f.total_flux / 2);
    assert_true(isnan(s.lon) && isnan(s.lat) && isnan(s.e_lon) && isnan(s.e_lat));
    assert_true(isnan(s.major) && isnan(s.angle) && *s.name == '\0');
}

/* The error of a total flux has the error of what lies below the threshold: the cut of 1 / 8 has
 * the relative error 1 / 40, which makes 1 / 7 / 40 of the flux. */
static void error_of_cut(void **state) {
    static const double values[] = {10, 20, 30, 40};
    static const struct noise_map noise = {.rms = 1};
    const struct detection whole = {.threshold = 5, .island = 5}, deep = {5, .island = 1e-9};
    const struct island island = island_of(0, 0, 2, 4, values);
    struct srcfind_source *cut = rows_in_noise(&noise, &whole, &island, 1, &simple, NULL);
    struct srcfind_source *uncut = rows_in_noise(&noise, &deep, &island, 1, &simple, NULL);
    const double of_cut = cut->total_flux / 280;
    (void)state;
    assert_within(cut->total_flux, 200.0 / 7, 1e-12);
    assert_within(uncut->total_flux, 25, 1e-6);
    /* the shape, and so the other errors, are not quite the same: by a hundredth */
    assert_within(sqrt(cut->e_total_flux * cut->e_total_flux - of_cut * of_cut) / cut->total_flux,
                  uncut->e_total_flux / uncut->total_flux, 2e-2);
    free(cut);
    free(uncut);
}

/* Where noise is steep, the most significant pixel is not the highest one. It decides what lies
 * below the threshold: with a pixel of 6 rms, half of the flux is above an island threshold of 3.
 */
static void steep_noise(void **state) {
    struct noise_at node = {0, 40 / 3.01};
    const struct noise_map noise = {.rms = 1, .nodes = &node, .n_x = 1, .n_y = 1, .step = 16};
    const struct detection detection = {.threshold = 5, .island = 3};
    struct island island = gaussian(40, 63, 63);
    (void)state;
    island.snr = 6;
    struct srcfind_source *s = rows_in_noise(&noise, &detection, &island, 1, &simple, NULL);
    assert_within(s->snr, 3.01, 1e-12);
    assert_within(s->total_flux / s->isl_total_flux, 2, 1e-12);
    assert_int_equal(s->flags, 0);
    island.snr = 3.5; /* no pixel that passes the detection threshold is left */
    struct srcfind_source *least = rows_in_noise(&noise, &detection, &island, 1, &simple, NULL);
    assert_within(least->total_flux / least->isl_total_flux, 2.5, 1e-12);
    free(s);
    free(least);
}

/* Where the flux below the threshold is not known within half of the flux, that of a point with
 * this peak is taken, or that of the pixels, if it is more; the error covers both. */
static void uncertain_totals(void **state) {
    static const double one[] = {5.007}, wide[] = {5.1, 5.2, 5.3, 5.2, 5.1, 5.2};
    const struct island point = island_of(0, 0, 1, 1, one), flat = island_of(0, 0, 3, 6, wide);
    const struct srcfind_source p = row_of(&point, 0, &simple), f = row_of(&flat, 0, &simple);
    const struct field no_beam = {{.jansky = NAN}, {.beam_pixels = NAN}};
    const struct srcfind_source n = row_of(&point, 0, &no_beam);
    const double peak = (float)5.007;
    (void)state;
    assert_int_equal(p.flags & SRCFIND_FLAG_UNCERTAIN_TOTAL, SRCFIND_FLAG_UNCERTAIN_TOTAL);
    assert_within(p.total_flux, peak, 1e-6);
    const double island = hypot(0.25, peak / 4); /* its error: noise, and the area of a pixel */
    assert_within(p.e_total_flux, hypot(fmax(1, island), peak * 3 / 4), 1e-5);
    assert_int_equal(f.flags & SRCFIND_FLAG_UNCERTAIN_TOTAL, SRCFIND_FLAG_UNCERTAIN_TOTAL);
    assert_within(f.total_flux, 31.1 / 4, 1e-6);
    /* its pixels are 3 x 2; with r = exp(-1/2) their noise adds up to (2 + 2 r) (3 + 4 r + 2 r^4).
     * Were its peak 6.3, it would have 6.3 / 1.3 times the flux of its pixels */
    const double r = exp(-0.5), sum = sqrt((2 + 2 * r) * (3 + 4 * r + 2 * r * r * r * r));
    assert_within(f.e_total_flux, hypot(hypot(sum / 4, 31.1 / 24), 31.1 / 4 * 5 / 1.3), 1e-5);
    assert_within(n.total_flux, peak, 1e-6); /* in map units x pixels */
    assert_within(n.e_total_flux, hypot(hypot(1, peak), peak * (6.007 / 1.007 - 1)), 1e-4);
}

/* A pixel far above the threshold, as a part of a larger island, does not have a point's flux: it
 * is uncertain by its area alone. Negative fluxes, of another image, are compared by their size. */
static void certain_corrections(void **state) {
    static const double one[] = {40}, negative[] = {-10, -20, -30, -40}, faint[] = {-3, -1, 2, -1};
    const struct island pixel = island_of(0, 0, 1, 1, one);
    const struct srcfind_source p = row_of(&pixel, 0, &simple);
    struct noise_at node = {0, 1};
    const struct noise_map nodes = {.rms = 1, .nodes = &node, .n_x = 1, .n_y = 1, .step = 16};
    const struct detection detection = {.threshold = 5, .island = 5};
    struct island deep = island_of(0, 0, 2, 4, negative), shallow = island_of(0, 0, 2, 4, faint);
    (void)state;
    assert_int_equal(p.flags & SRCFIND_FLAG_UNCERTAIN_TOTAL, SRCFIND_FLAG_UNCERTAIN_TOTAL);
    assert_within(p.total_flux, 10 * 8.0 / 7, 1e-12);
    deep.snr = 40;
    shallow.snr = 5.5;
    struct srcfind_source *d = rows_in_noise(&nodes, &detection, &deep, 1, &simple, NULL);
    struct srcfind_source *s = rows_in_noise(&nodes, &detection, &shallow, 1, &simple, NULL);
    assert_within(d->total_flux, -200.0 / 7, 1e-12);
    assert_int_equal(d->flags & SRCFIND_FLAG_UNCERTAIN_TOTAL, 0);
    assert_within(s->total_flux, -0.75, 1e-12); /* the pixels', since their highest is positive */
    assert_int_equal(s->flags & SRCFIND_FLAG_UNCERTAIN_TOTAL, SRCFIND_FLAG_UNCERTAIN_TOTAL);
    free(d);
    free(s);
}

/* More islands than are measured at a time, on one thread and on several; and none at all. */
static void many_islands(void **state) {
    enum { N = 20001 };
    struct field field = with_sky();
    struct island *islands = calloc(N, sizeof *islands);
    (void)state;
    for (int i = 0; i < N; i++) {
        const double values[] = {10, 20 + i % 7, 30, 40 + i % 5};
        islands[i] = island_of(i % 100, i / 100, 2, 4, values);
    }
    struct srcfind_source *one = rows_of(islands, N, 0, &field, NULL);
    struct srcfind_source *several = rows_of(islands, N, 0, &field, unit_threads(3));
    assert_memory_equal(one, several, N * sizeof *one);
    for (int i = 0; i < N; i++) {
        const struct srcfind_source alone = row_of(&islands[i], 0, &field);
        assert_true(one[i].id == i + 1 && one[i].island_id == i + 1 && one[i].y_min == i / 100);
        assert_true(one[i].lon == alone.lon && one[i].total_flux == alone.total_flux);
    }
    free(rows_of(NULL, 0, 0, &field, unit_threads(3)));
    free(one);
    free(several);
    free(islands);
    wcs_close(field.image.wcs);
}

/* The row of a source of several Gaussians without a pixel of its own, in noise of 2. */
static struct srcfind_source row_of_composite(const struct composite *composite,
                                              struct component_gaussian *gaussians, int64_t first,
                                              int64_t n) {
    static const double values[] = {10, 20, 30, 40};
    const struct detection detection = {.threshold = 5, .island = 5};
    const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    struct island island = island_of(0, 0, 2, 4, values);
    const struct noise_map noise = {.rms = 2};
    const struct view view = view_of(&simple, &detection, &noise);
    const struct segments segments = {.n = 1, .islands = &island};
    struct component component = {.noise = {0, 2},
                                  .island_noise = {0, 2},
                                  .first_gaussian = first,
                                  .n_gaussians = n,
                                  .composite = composite};
    const struct components components = {
        .component = &component, .n = 1, .gaussian = gaussians, .n_gaussians = first + n};
    struct measurer *measurer = measurer_make(&view, &frame, 1, NULL);
    struct srcfind_source row;
    struct error error;
    assert_non_null(measurer);
    assert_int_equal(measure_components(measurer, &segments, &components, true, &row, &error),
                     SRCFIND_OK);
    measurer_free(measurer);
    return row;
}

/* Two Gaussians with the beam's shape and fluxes of 20 pi and 30 pi map units. A free shape would
 * have had more by 0.2 and 0.5 of these. The errors of the areas of free shapes are e and e / 3:
 * the costs are twice what is beyond them, in quadrature. They are not in E_Total_flux, 24 pi by
 * noise. The Gaussian before them is another source's. */
static void cost_of_shapes(void **state) {
    static const struct fit_frame frame = {1, 0, 1, true, FIT_SHAPES_CHOSEN};
    struct component_gaussian gaussians[] = {
        {.gaussian = {50, 9, 9, {1, 1, 0}}, .has_beam_shape = true, .lost = 1},
        {.gaussian = {10, 1, 1, {1, 1, 0}}, .has_beam_shape = true, .lost = 0.4},
        {.gaussian = {30, 3, 1, {2, 2.5, 1}}, .has_beam_shape = true, .lost = 0.5}};
    const struct composite c = {.total = 50 * M_PI,
                                .peak = 30,
                                .error = {.total = 12 * M_PI, .peak = 1},
                                .second = {2, 1, 0}};
    const struct correlation noise = correlation_of_beam(&frame);
    const struct gaussian point = {1, 0, 0, {1, 1, 0}};
    const struct fit_uncertainty of_one = fit_uncertainty_of(&point, &frame, &noise, true);
    const double e = of_one.e_area * 2 / 10; /* in noise of 2 */
    const double first = 5 * M_PI * 2 * sqrt(0.16 - e * e);
    const double second = 7.5 * M_PI * 2 * sqrt(0.25 - e * e / 9);
    const struct srcfind_source s = row_of_composite(&c, gaussians, 1, 2);
    (void)state;
    assert_true(e > 0.1 && e < 0.4);
    assert_within(s.total_flux, 12.5 * M_PI, 1e-12); /* of a beam of 4 pixels */
    assert_within(s.e_total_flux, 6 * M_PI, 1e-12);
    assert_within(s.e_total_shape, hypot(first, second), 1e-9);
    assert_true(s.peak_flux == 30 && s.e_peak_flux == 2 && s.n_gaussians == 2);
    assert_int_equal(s.flags & SRCFIND_FLAG_UNCERTAIN_TOTAL, 0);
    gaussians[1].lost = 0.9 * e; /* noise explains it */
    gaussians[2].has_beam_shape = false;
    assert_true(row_of_composite(&c, gaussians, 1, 2).e_total_shape == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_pixels),
        cmocka_unit_test(gaussians),
        cmocka_unit_test(sources_without_a_shape),
        cmocka_unit_test(units),
        cmocka_unit_test(flags),
        cmocka_unit_test(error_of_cut),
        cmocka_unit_test(steep_noise),
        cmocka_unit_test(uncertain_totals),
        cmocka_unit_test(certain_corrections),
        cmocka_unit_test(many_islands),
        cmocka_unit_test(cost_of_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
