/* Point-spread functions that differ from place to place: between nodes, as frames of fits, and as
 * points that are mixed with resolved sources show them. */
#include "measure/psf_fit.h"

#include "measure/beam_frame.h"
#include "measure/psf_points.h"
#include "unit.h"

enum { WIDTH = 1000, HEIGHT = 700 };

static void assert_near(double value, double expected, double within) {
    if (!(fabs(value - expected) <= within))
        print_message("%.15g is not %.15g\n", value, expected);
    assert_true(fabs(value - expected) <= within);
}

static const struct tensor BEAM = {5, 4, 0.5};

static void assert_tensor(const struct tensor *t, const struct tensor *expected, double within) {
    assert_near(t->xx, expected->xx, within);
    assert_near(t->yy, expected->yy, within);
    assert_near(t->xy, expected->xy, within);
}

/* Smearing that grows with the square of the distance from the middle, by `most` at an edge. */
static struct tensor smeared(double most, double x, double y) {
    const double u = 2 * x / WIDTH - 1, v = 2 * y / HEIGHT - 1;
    return (struct tensor){BEAM.xx + most * v * v, BEAM.yy + most * u * u, BEAM.xy - most * u * v};
}

static void between_nodes(void **state) {
    struct psf psf;
    (void)state;
    assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
    struct tensor t = psf_at(&psf, 123.4, 567.8);
    assert_tensor(&t, &BEAM, 1e-12);
    for (int64_t j = 0; j < psf.n_y; j++)
        for (int64_t i = 0; i < psf.n_x; i++)
            psf.moments[j * psf.n_x + i] =
                (struct tensor){5 + 0.01 * (double)i * psf.step_x,
                                4 + 0.02 * (double)j * psf.step_y, 0.001 * (double)i * psf.step_x};
    for (double y = -3; y < HEIGHT + 3; y += 31.7) {
        for (double x = -3; x < WIDTH + 3; x += 17.3) {
            const double u = fmin(fmax(x, 0), WIDTH - 1), v = fmin(fmax(y, 0), HEIGHT - 1);
            const struct tensor expected = {5 + 0.01 * u, 4 + 0.02 * v, 0.001 * u};
            t = psf_at(&psf, x, y);
            assert_tensor(&t, &expected, 1e-9);
        }
    }
    psf_clear(&psf);
}

static void small_images(void **state) {
    static const int64_t sizes[][2] = {{1, 1}, {1, 40}, {2, 3}, {17, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct psf psf;
        assert_true(psf_make(&psf, &BEAM, sizes[i][0], sizes[i][1]));
        const struct tensor t = psf_at(&psf, 0.3, 0.7), beyond = psf_at(&psf, NAN, 1e300);
        assert_tensor(&t, &BEAM, 1e-12);
        assert_tensor(&beyond, &BEAM, 1e-12);
        assert_near(psf_area_at_edges(&psf), 1, 1e-12);
        psf_clear(&psf);
    }
}

/* A fit sees a point as the unit circle, also in the samples of a scale. */
static void frames(void **state) {
    const struct tensor form = tensor_inverse(&BEAM);
    const struct fit_frame of_image = beam_frame_of_form(&form);
    const struct grid scale = {.scale = 2, .step = 3, .x = 1, .y = 2, .variance = 7, .beam = BEAM};
    struct psf psf = {.beam = BEAM};
    struct fit_frame frame = psf_frame(&psf, &GRID_OF_IMAGE, &of_image, 30, 40);
    (void)state;
    assert_memory_equal(&frame.ux, &of_image.ux, 3 * sizeof(double));
    assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
    for (int64_t k = 0; k < psf.n_x * psf.n_y; k++)
        psf.moments[k] =
            smeared(3, (double)(k % psf.n_x) * psf.step_x, (double)(k / psf.n_x) * psf.step_y);
    frame = psf_frame(&psf, &GRID_OF_IMAGE, &of_image, 900, 650);
    struct tensor moments = beam_frame_moments(&frame), expected = psf_at(&psf, 900, 650);
    assert_tensor(&moments, &expected, 1e-9);
    assert_true(frame.has_beam);
    frame = psf_frame(&psf, &scale, &of_image, 300, 200);
    moments = beam_frame_moments(&frame);
    expected = psf_at(&psf, 901, 602);
    expected = (struct tensor){(expected.xx + 7) / 9, (expected.yy + 7) / 9, expected.xy / 9};
    assert_tensor(&moments, &expected, 1e-9);
    psf_clear(&psf);
}

/* Points whose areas have relative errors of 1 / weight, of which a share is resolved. */
static int make_points(double most, int n, double resolved, struct random *r,
                       struct psf_point *points) {
    for (int i = 0; i < n; i++) {
        struct psf_point *p = &points[i];
        *p = (struct psf_point){.x = WIDTH * random_unit(r), .y = HEIGHT * random_unit(r)};
        p->weight = 15 + 85 * random_unit(r);
        p->moments = smeared(most, p->x, p->y);
        const double factor = 1 + random_normal(r) / p->weight;
        const double wider = random_unit(r) < resolved ? 4 * random_unit(r) : 0;
        p->moments = (struct tensor){p->moments.xx * factor + wider, p->moments.yy * factor + wider,
                                     p->moments.xy * factor};
    }
    return n;
}

static void assert_areas(const struct psf *psf, double most, double within) {
    for (double y = 50; y < HEIGHT; y += 100) {
        for (double x = 50; x < WIDTH; x += 100) {
            const struct tensor t = psf_at(psf, x, y), truth = smeared(most, x, y);
            assert_near(psf_area(psf, &t) / psf_area(psf, &truth), 1, within);
        }
    }
}

/* The smooth shape is found though a third of the sources is resolved. */
static void points_and_resolved_sources(void **state) {
    static const struct {
        double most, resolved, within;
        int n;
    } known[] = {
        {0, 0, 0.01, 30},   {0, 0.33, 0.02, 60}, {3, 0, 0.1, 40},
        {3, 0.25, 0.1, 90}, {0, 0, 0.02, 12},
    };
    struct psf_point points[PSF_MOST_POINTS];
    struct random r = {11};
    (void)state;
    for (int round = 0; round < 10; round++) {
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            struct psf psf;
            assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
            const int n = make_points(known[k].most, known[k].n, known[k].resolved, &r, points);
            const int kept = psf_fit(&psf, points, n, WIDTH, HEIGHT);
            assert_in_range(kept, n / 3, n);
            assert_areas(&psf, known[k].most, known[k].within);
            psf_clear(&psf);
        }
    }
}

/* Points wider than any limit are points if all are so. */
static void wide_points(void **state) {
    struct psf_point points[30];
    struct random r = {6};
    struct psf psf;
    (void)state;
    assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
    make_points(0, 30, 0, &r, points);
    for (int i = 0; i < 30; i++)
        points[i].moments = (struct tensor){4 * points[i].moments.xx, 4 * points[i].moments.yy,
                                            4 * points[i].moments.xy};
    assert_in_range(psf_fit(&psf, points, 30, WIDTH, HEIGHT), 20, 30);
    const struct tensor t = psf_at(&psf, 300, 200);
    assert_near(psf_area(&psf, &t), 4, 0.1);
    psf_clear(&psf);
}

/* Another image has the same smearing; nothing is narrower than the beam. */
static void beside_and_wider(void **state) {
    const struct tensor other = {9, 8, -1};
    struct psf psf, beside;
    (void)state;
    assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
    psf.moments[0] = (struct tensor){6, 3, 0.5};
    psf.moments[1] = (struct tensor){7, 4, 1};
    assert_true(psf_make_beside(&beside, &other, &psf));
    assert_tensor(&beside.moments[0], &(struct tensor){10, 7, -1}, 1e-12);
    assert_tensor(&beside.moments[1], &(struct tensor){11, 8, -0.5}, 1e-12);
    psf_widen(&psf);
    assert_tensor(&psf.moments[0], &(struct tensor){6, 4, 0.5}, 1e-12);
    for (double angle = 0; angle < 3.2; angle += 0.1) {
        const double c = cos(angle), s = sin(angle);
        const struct tensor *m = &psf.moments[1];
        assert_true(m->xx * c * c + 2 * m->xy * c * s + m->yy * s * s >=
                    BEAM.xx * c * c + 2 * BEAM.xy * c * s + BEAM.yy * s * s - 1e-12);
    }
    psf_clear(&psf);
    psf_clear(&beside);
}

/* Fewer than three points leave the beam; what is no ellipse is left out. */
static void few_points(void **state) {
    struct psf_point points[8];
    struct random r = {5};
    struct psf psf;
    (void)state;
    assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
    make_points(0, 8, 0, &r, points);
    assert_int_equal(psf_fit(&psf, points, 3, WIDTH, HEIGHT), 3);
    psf_clear(&psf);
    assert_true(psf_make(&psf, &BEAM, WIDTH, HEIGHT));
    for (int n = 0; n < 3; n++)
        assert_int_equal(psf_fit(&psf, points, n, WIDTH, HEIGHT), 0);
    for (int i = 0; i < 8; i++)
        points[i].moments = (struct tensor){1, 1, 2};
    assert_int_equal(psf_fit(&psf, points, 8, WIDTH, HEIGHT), 0);
    assert_areas(&psf, 0, 1e-12);
    psf_clear(&psf);
}

/* So many rows that threads divide them: the brightest that are alone, each with the shape of its
 * own Gaussian; rows without a fit have none, some have two. */
static void points_of_many_rows(void **state) {
    enum { ROWS = 10000, ACROSS = 100, APART = 20 };
    static struct srcfind_source rows[ROWS];
    static struct tensor shapes[2 * ROWS];
    static struct psf_point points[PSF_MOST_POINTS];
    struct row_index index;
    int64_t n_points, n_gaussians = 0, n_expected = 0;
    (void)state;
    for (int i = 0; i < ROWS; i++) {
        const bool is_fitted = i % 7 != 0;
        rows[i] = (struct srcfind_source){.id = i + 1,
                                          .x = APART * (i % ACROSS),
                                          .y = APART * (i / ACROSS),
                                          .snr = 16 + 37 * i % ROWS / 2, /* pairs */
                                          .n_gaussians = i % 5 == 0 ? 2 : 1,
                                          .flags = is_fitted ? 0 : SRCFIND_FLAG_NOT_FITTED};
        for (int k = 0; is_fitted && k < rows[i].n_gaussians; k++)
            shapes[n_gaussians++] = (struct tensor){i, 1, 0};
    }
    rows[7001].x = rows[7002].x - 1; /* two that are not alone */
    assert_true(row_index_make(&index, rows, ROWS, unit_threads(3)));
    assert_true(psf_points_list(&index, rows, ROWS, shapes, 2, unit_threads(3), points, &n_points));
    assert_int_equal(n_points, PSF_MOST_POINTS);
    for (double snr = 16 + ROWS; n_expected < n_points; snr--) {
        for (int i = 0; i < ROWS; i++) {
            if (rows[i].snr != snr || i % 7 == 0 || i % 5 == 0 || i == 7001 || i == 7002)
                continue;
            const struct psf_point *point = &points[n_expected++];
            assert_true(point->x == rows[i].x && point->y == rows[i].y);
            assert_true(point->moments.xx == i);
        }
    }
    row_index_clear(&index);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_nodes),    cmocka_unit_test(small_images),
        cmocka_unit_test(frames),           cmocka_unit_test(points_and_resolved_sources),
        cmocka_unit_test(few_points),       cmocka_unit_test(wide_points),
        cmocka_unit_test(beside_and_wider), cmocka_unit_test(points_of_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
