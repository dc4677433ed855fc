/* The autocorrelation of noise that was made with a known one. */
#include <stdlib.h>
#include <string.h>

#include "measure/noise_pairs.h"
#include "unit.h"

static const struct fit_frame BEAM = {0.5, 0.1, 0.45, true, FIT_SHAPES_CHOSEN};

enum { REACH = 9, SIDE = 2 * REACH + 1, WIDTH = 320, HEIGHT = 240 };

/* The correlation of the noise at an offset, as exp(-square / 2). */
static double square_of(const struct fit_frame *f, double dx, double dy) {
    const double u = f->ux * dx + f->uy * dy, v = f->vy * dy;
    return u * u + v * v;
}

/* Makes noise of rms 1 whose autocorrelation is the unit circle of a frame; NULL: of independent
 * pixels. Independent numbers are smoothed by a kernel of half the variance. */
static struct picture make_noise(const struct fit_frame *f, int width, int height, uint64_t seed) {
    struct random r = {seed};
    struct picture p = picture_make(0, width, height, &r);
    const int stride = width + 2 * REACH;
    double *white = malloc((size_t)stride * (size_t)(height + 2 * REACH) * sizeof *white);
    double kernel[SIDE][SIDE], square = 0;
    assert_non_null(white);
    for (int i = 0; i < stride * (height + 2 * REACH); i++)
        white[i] = random_normal(&r);
    for (int k = 0; k < SIDE * SIDE; k++) {
        const int x = k % SIDE - REACH, y = k / SIDE - REACH;
        kernel[k / SIDE][k % SIDE] = f ? exp(-square_of(f, x, y)) : x == 0 && y == 0;
        square += pow(kernel[k / SIDE][k % SIDE], 2);
    }
    for (int i = 0; i < width * height; i++) {
        double sum = 0;
        for (int k = 0; k < SIDE * SIDE; k++)
            if (kernel[k / SIDE][k % SIDE] > 1e-6)
                sum += kernel[k / SIDE][k % SIDE] *
                       white[(i / width + k / SIDE) * stride + i % width + k % SIDE];
        p.pixels[i] = (float)(sum / sqrt(square));
    }
    free(white);
    return p;
}

/* How an image is read. */
struct reading {
    int threads;
    int64_t chunk;
    bool swapped;
};

static const struct reading PLAIN = {1, 4096, false};

static struct correlation measure(const struct picture *p, const struct noise_map *noise,
                                  const struct reading *how) {
    struct memory_source *source = memory_source_make(p, how->chunk, how->swapped, true);
    const struct run_source from = {.source = &source->source, .noise = noise};
    struct correlation c = correlation_of_beam(&BEAM);
    struct error error;
    assert_int_equal(noise_pairs_measure(&from, unit_threads(how->threads), &c, &error),
                     SRCFIND_OK);
    memory_source_free(source);
    return c;
}

static const struct noise_map ONE_NOISE = {.background = 0, .rms = 1};

/* The deviations of values from what they should be: the rms of all, and the largest. */
struct deviations {
    double rms, most;
};

static struct deviations deviations_from(const struct correlation *c, const struct fit_frame *f) {
    struct deviations d = {0};
    int n = 0;
    for (int j = -c->lags.half_y; j <= c->lags.half_y; j++) {
        for (int i = c->lags.first[j + c->lags.half_y]; i <= lags_last(&c->lags, j); i++, n++) {
            const double x = (double)(i * c->lags.step_x), y = (double)(j * c->lags.step_y);
            const double right = f ? exp(-square_of(f, x, y) / 2) : i == 0 && j == 0;
            const double off = fabs(c->lags.value[j + c->lags.half_y][i + c->lags.half_x] - right);
            d.rms += off * off;
            d.most = fmax(d.most, off);
        }
    }
    d.rms = sqrt(d.rms / n);
    return d;
}

static void assert_is_noise_of(const struct correlation *c, const struct fit_frame *f) {
    const struct deviations d = deviations_from(c, f);
    assert_true(c->is_measured);
    if (!(d.rms < 0.035 && d.most < 0.12))
        fail_msg("rms %g, most %g", d.rms, d.most);
}

/* --- what it is --- */

static void known_noise(void **state) {
    static const struct fit_frame narrow = {0.9, -0.2, 0.7, true, FIT_SHAPES_CHOSEN};
    const struct fit_frame *frames[] = {&BEAM, &narrow, NULL};
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        struct picture p = make_noise(frames[i], WIDTH, HEIGHT, i + 1);
        const struct correlation c = measure(&p, &ONE_NOISE, &PLAIN);
        assert_is_noise_of(&c, frames[i]);
        assert_true(c.n_pixels > 700 && c.n_pixels < 1100);
        picture_free(&p);
    }
}

/* Sources, holes and blanks are left out, and what the clip takes from the rest is put back: means
 * over many lags are right to a hundredth. */
static void sources_and_blanks(void **state) {
    struct picture p = make_noise(&BEAM, WIDTH, HEIGHT, 7);
    struct random r = {8};
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT / 20; i++) {
        const int at = random_below(&r, WIDTH * HEIGHT);
        p.pixels[at] = i % 3 == 0 ? NAN : i % 3 == 1 ? 50 : -1e30F;
    }
    const struct correlation c = measure(&p, &ONE_NOISE, &PLAIN);
    assert_is_noise_of(&c, &BEAM);
    assert_true(fabs(c.beam_areas / (WIDTH * HEIGHT * 0.45 * 0.5 / (2 * M_PI)) - 0.983) < 0.01);
    picture_free(&p);
}

/* Background and rms are those of each pixel. */
static void noise_between_nodes(void **state) {
    static struct noise_at nodes[] = {{-9, 0.1}, {3, 2}, {40, 10}, {4, 0.5}};
    const struct noise_map noise = {.nodes = nodes, .n_x = 2, .n_y = 2, .step = 160};
    struct picture p = make_noise(&BEAM, WIDTH, HEIGHT, 9);
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const struct noise_at at = noise_map_at(&noise, i % WIDTH, i / WIDTH);
        p.pixels[i] = (float)(at.background + at.rms * (double)p.pixels[i]);
    }
    const struct correlation c = measure(&p, &noise, &PLAIN);
    assert_is_noise_of(&c, &BEAM);
    picture_free(&p);
}

/* --- when it is not measured --- */

static void assert_is_of_beam(const struct correlation *c) {
    struct correlation beam = correlation_of_beam(&BEAM);
    assert_false(c->is_measured);
    assert_int_equal(c->n_pixels, 0);
    ASSERT_SAME(c->lags.value, beam.lags.value);
    ASSERT_SAME(c->sums, beam.sums);
}

/* Images of few beams, and images whose noise is not what it is said to be. */
static void not_measured(void **state) {
    static const struct noise_map none = {.background = 0, .rms = 0};
    static const struct noise_map far_off = {.background = 100, .rms = 1};
    static const struct noise_map half = {.background = 0, .rms = 0.5};
    static const struct noise_map a_tenth_less = {.background = 0, .rms = 0.9};
    struct picture small = make_noise(NULL, 28, 29, 3), large = make_noise(NULL, 90, 80, 3);
    const struct correlation of_small = measure(&small, &ONE_NOISE, &PLAIN);
    const struct correlation without = measure(&large, &none, &PLAIN);
    const struct correlation off = measure(&large, &far_off, &PLAIN);
    const struct correlation by_half = measure(&large, &half, &PLAIN);
    const struct correlation by_a_tenth = measure(&large, &a_tenth_less, &PLAIN);
    (void)state;
    assert_is_of_beam(&of_small);
    assert_true(of_small.beam_areas > 28 && of_small.beam_areas < 30);
    assert_is_of_beam(&without);
    assert_is_of_beam(&off);
    assert_is_of_beam(&by_half); /* most of the noise is beyond 3 of such an rms */
    assert_true(by_a_tenth.is_measured);
    picture_free(&small);
    picture_free(&large);
}

/* Without a beam pixels are independent. */
static void no_beam(void **state) {
    static const struct fit_frame none = {0.5, 0, 0.5, false, FIT_SHAPES_CHOSEN};
    const struct correlation c = correlation_of_beam(&none);
    (void)state;
    assert_true(correlation_at(&c, 0, 0) == 1 && correlation_at(&c, 1, 0) == 0);
    assert_true(correlation_area(&c) == 1);
    assert_true(correlation_of_box(&c, 4, 3) == 12);
}

/* --- what does not change it --- */

static void read_in_any_way(void **state) {
    static const struct reading ways[] = {
        {3, 1 << 20, false}, {16, 1000, true}, {2, 7, false}, {4, 64, true}};
    struct picture p = make_noise(NULL, WIDTH, HEIGHT, 4);
    const struct correlation c = measure(&p, &ONE_NOISE, &PLAIN);
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct correlation other = measure(&p, &ONE_NOISE, &ways[i]);
        ASSERT_SAME(c.lags.value, other.lags.value);
        ASSERT_SAME(c.sums, other.sums);
    }
    picture_free(&p);
}

/* Of large images only the columns near the lattice are read, which are runs of their own; and
 * rows come in several batches. */
static void large_image(void **state) {
    enum { SIDE_OF_LARGE = 2600 };
    struct random r = {5};
    struct picture p = picture_make(0, SIDE_OF_LARGE, SIDE_OF_LARGE / 2, &r);
    (void)state;
    for (int i = 0; i < p.width * p.height; i++) /* 0.6 at the next pixel of a row; else 0 */
        p.pixels[i] =
            (float)(0.6 * (i > 0 ? (double)p.pixels[i - 1] : 0) + 0.8 * random_normal(&r));
    const struct correlation c = measure(&p, &ONE_NOISE, &(struct reading){2, 1 << 16, false});
    for (int i = -c.lags.half_x; i <= c.lags.half_x; i++)
        assert_true(fabs(c.lags.value[c.lags.half_y][i + c.lags.half_x] - pow(0.6, abs(i))) < 0.04);
    assert_true(fabs(c.lags.value[c.lags.half_y + 1][c.lags.half_x]) < 0.04);
    picture_free(&p);
}

/* A mirrored image has mirrored pairs. */
static void mirrored(void **state) {
    struct picture p = make_noise(NULL, WIDTH - 1, HEIGHT, 6);
    struct picture q = make_noise(NULL, WIDTH - 1, HEIGHT, 6);
    (void)state;
    for (int i = 0; i < p.width * p.height; i++)
        q.pixels[i] = p.pixels[i / p.width * p.width + p.width - 1 - i % p.width];
    const struct correlation a = measure(&p, &ONE_NOISE, &PLAIN);
    const struct correlation b = measure(&q, &ONE_NOISE, &PLAIN);
    for (int j = 0; j <= a.lags.half_y; j++) {
        for (int i = a.lags.first[j + a.lags.half_y]; i <= lags_last(&a.lags, j); i++) {
            const bool is_in_both =
                -i >= b.lags.first[j + b.lags.half_y] && -i <= lags_last(&b.lags, j);
            if (is_in_both)
                assert_true(a.lags.value[j + a.lags.half_y][i + a.lags.half_x] ==
                            b.lags.value[j + b.lags.half_y][-i + b.lags.half_x]);
        }
    }
    picture_free(&p);
    picture_free(&q);
}

/* --- use --- */

/* Between lags the difference from the beam's correlation is interpolated. */
static void between_lags(void **state) {
    static const struct fit_frame wide = {0.15, 0, 0.2, true, FIT_SHAPES_CHOSEN};
    struct correlation c = correlation_of_beam(&wide);
    const double at_beam = exp(-square_of(&wide, 4, 3) / 2);
    (void)state;
    assert_int_equal(c.lags.step_x, 3);
    assert_int_equal(c.lags.step_y, 2);
    assert_true(fabs(correlation_at(&c, 4, 3) - at_beam) < 1e-12);
    c.lags.value[c.lags.half_y + 1][c.lags.half_x + 1] += 0.3; /* at (3, 2) */
    c.lags.value[c.lags.half_y + 2][c.lags.half_x + 2] -= 0.6; /* at (6, 4) */
    assert_true(fabs(correlation_at(&c, 3, 2) - exp(-square_of(&wide, 3, 2) / 2) - 0.3) < 1e-12);
    assert_true(fabs(correlation_at(&c, 4, 3) - at_beam - 0.3 / 3 + 0.6 / 6) < 1e-12);
    assert_true(correlation_at(&c, 3.0 * c.lags.half_x + 1, 0) == 0);
    assert_true(correlation_at(&c, NAN, 0) == 0);
}

/* The area is that of the beam, 2 pi sigma^2, but for what is beyond 2 FWHM. */
static void area_of_beam(void **state) {
    const struct correlation c = correlation_of_beam(&BEAM);
    (void)state;
    assert_true(fabs(correlation_area(&c) * BEAM.ux * BEAM.vy / (2 * M_PI) - 1) < 1e-3);
}

/* The sum of a box is that over all pairs of its pixels: by definition, in noise of positive
 * correlation; and of at least independent pixels, in noise whose sum is below 0. */
static void sum_of_box(void **state) {
    struct correlation c = correlation_of_beam(&BEAM);
    double pairs = 0;
    (void)state;
    for (int j = -4; j <= 4; j++)
        for (int i = -6; i <= 6; i++)
            pairs += (7 - abs(i)) * (5 - abs(j)) * correlation_at(&c, i, j);
    assert_true(fabs(correlation_of_box(&c, 7, 5) / pairs - 1) < 1e-9);
    for (int j = -c.lags.half_y; j <= c.lags.half_y; j++)
        for (int i = c.lags.first[j + c.lags.half_y]; i <= lags_last(&c.lags, j); i++)
            *lags_value(&c.lags, i, j) = i == 0 && j == 0 ? 1 : -0.3;
    correlation_complete(&c);
    assert_true(correlation_area(&c) < 0);
    assert_true(correlation_of_box(&c, 7, 5) == 35);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_noise),  cmocka_unit_test(sources_and_blanks),
        cmocka_unit_test(not_measured), cmocka_unit_test(noise_between_nodes),
        cmocka_unit_test(no_beam),      cmocka_unit_test(read_in_any_way),
        cmocka_unit_test(large_image),  cmocka_unit_test(mirrored),
        cmocka_unit_test(between_lags), cmocka_unit_test(area_of_beam),
        cmocka_unit_test(sum_of_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
