/* Islands are divided as the plain version divides them, byte for byte: on islands of few distinct
 * values, of plateaus, of thin and winding shapes, and of correlated noise. */
#include <stdio.h>
#include <stdlib.h>

#include "measure/deblend.h"
#include "unit.h"

enum { MOST_SIDE = 24, MOST_PIXELS = MOST_SIDE * MOST_SIDE };

/* --- the plain version --- */

struct plain {
    const struct island_pixels *pixels;
    double threshold, contrast;
    int at[MOST_SIDE + 2][MOST_SIDE + 2]; /* the pixel at (x + 1, y + 1), -1 where there is none */
};

static bool comes_before(const struct island_pixels *p, int a, int b) {
    const double above_a = island_above(p, a), above_b = island_above(p, b);
    return above_a != above_b ? above_a > above_b : a < b;
}

static void place(struct plain *plain) {
    for (int y = 0; y < MOST_SIDE + 2; y++)
        for (int x = 0; x < MOST_SIDE + 2; x++)
            plain->at[y][x] = -1;
    for (int i = 0; i < plain->pixels->n; i++)
        plain->at[plain->pixels->y[i] + 1][plain->pixels->x[i] + 1] = i;
}

/* The highest pixel that can be reached from `start` without a step on a pixel lower than `level`.
 */
static int highest_from(const struct plain *plain, int start, int level) {
    const struct island_pixels *p = plain->pixels;
    bool is_taken[MOST_PIXELS] = {false};
    int stack[MOST_PIXELS], n = 0, highest = start;
    is_taken[start] = true;
    stack[n++] = start;
    while (n > 0) {
        const int i = stack[--n];
        highest = comes_before(p, i, highest) ? i : highest;
        for (int k = 0; k < 9; k++) {
            const int j = plain->at[p->y[i] + k / 3][p->x[i] + k % 3];
            if (j >= 0 && !is_taken[j] && !comes_before(p, level, j)) {
                is_taken[j] = true;
                stack[n++] = j;
            }
        }
    }
    return highest;
}

/* The highest level at which a peak's surroundings have a higher pixel; -1 for the highest peak. */
static int saddle_of(const struct plain *plain, int peak) {
    int saddle = -1;
    for (int level = 0; level < plain->pixels->n; level++)
        if (comes_before(plain->pixels, peak, level) &&
            (saddle < 0 || comes_before(plain->pixels, level, saddle)) &&
            highest_from(plain, peak, level) != peak)
            saddle = level;
    return saddle;
}

/* The source that a pixel belongs to: that of the highest pixel around it, or of the next higher
 * one where that is no source. */
static int find_source(const struct plain *plain, const int *saddle, int pixel) {
    const struct island_pixels *p = plain->pixels;
    int peak = highest_from(plain, pixel, pixel);
    for (;;) {
        const int s = saddle[peak];
        const double above = island_above(p, peak), rms = p->rms[peak];
        if (s < 0 ||
            (above - island_above(p, s) >= plain->contrast * rms && above > plain->threshold * rms))
            return peak;
        peak = highest_from(plain, peak, s);
    }
}

/* Sets the source of each pixel, and the peaks in falling order; returns the number of sources. */
static int divide_plainly(struct plain *plain, int32_t *source_of, int32_t *peaks) {
    const int count = (int)plain->pixels->n;
    int saddle[MOST_PIXELS], source[MOST_PIXELS], n = 0;
    place(plain);
    for (int i = 0; i < count; i++)
        saddle[i] = highest_from(plain, i, i) == i ? saddle_of(plain, i) : -1;
    for (int i = 0; i < count; i++) {
        source[i] = find_source(plain, saddle, i);
        if (source[i] == i)
            peaks[n++] = i;
    }
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && comes_before(plain->pixels, peaks[k], peaks[k - 1]); k--) {
            const int32_t peak = peaks[k];
            peaks[k] = peaks[k - 1];
            peaks[k - 1] = peak;
        }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < n; k++)
            if (peaks[k] == source[i])
                source_of[i] = k;
    return n;
}

/* --- islands --- */

struct field {
    int width, height;
    bool is_in[MOST_PIXELS];
    double above[MOST_PIXELS], rms[MOST_PIXELS];
};

enum shape { FILLED, RANDOM, CHECKERBOARD, SPIRAL, DIAGONAL, ONE_PIXEL, SHAPES };
enum values { TWO, FEW, PLATEAU, SMOOTH, ROUGH, PEAKS, EQUAL, VALUES };

static bool is_in_shape(enum shape shape, const struct field *f, int x, int y, struct random *r) {
    const double dx = x - f->width / 2.0, dy = y - f->height / 2.0;
    const double turns = hypot(dx, dy) / 5 - atan2(dy, dx) / (2 * M_PI);
    switch (shape) {
    case RANDOM:
        return random_below(r, 10) < 7;
    case CHECKERBOARD:
        return (x + y) % 2 == 0;
    case SPIRAL:
        return turns - floor(turns) < 0.45;
    case DIAGONAL:
        return x == y || (random_below(r, 3) == 0 && abs(x - y) == 1);
    case ONE_PIXEL:
        return x == f->width / 2 && y == f->height / 2;
    default:
        return true;
    }
}

static double value_of(enum values values, int x, int y, struct random *r) {
    switch (values) {
    case TWO:
        return 4 + 4 * random_below(r, 2);
    case FEW:
        return 3 + random_below(r, 6);
    case PLATEAU: /* squares of equal values */
        return 5 + (x / 4 * 7 + y / 4 * 5) % 4;
    case PEAKS: {
        const double dx = x % 7 - 3, dy = y % 6 - 2.5;
        return (6 + (x / 7 * 5 + y / 6 * 3) % 9) * exp(-(dx * dx + dy * dy) / 6);
    }
    case EQUAL:
        return 7;
    default:
        return 6 + 3 * random_normal(r);
    }
}

/* Noise whose neighbours are alike, as a beam makes it. */
static void smooth(struct field *f) {
    static double before[MOST_PIXELS];
    for (int pass = 0; pass < 3; pass++) {
        memcpy(before, f->above, sizeof before);
        for (int y = 0; y < f->height; y++)
            for (int x = 0; x < f->width; x++) {
                double sum = 0;
                int n = 0;
                for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < f->height; v++)
                    for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < f->width; u++, n++)
                        sum += before[v * f->width + u];
                f->above[y * f->width + x] = 6 + 1.5 * (sum / n - 6);
            }
    }
}

static struct field make_field(enum shape shape, enum values values, struct random *r) {
    struct field f = {.width = 1 + random_below(r, MOST_SIDE), .height = 1 + random_below(r, 20)};
    const int noise = random_below(r, 3);
    for (int i = 0; i < f.width * f.height; i++) {
        const int x = i % f.width, y = i / f.width;
        f.is_in[i] = is_in_shape(shape, &f, x, y, r);
        f.above[i] = value_of(values, x, y, r);
        f.rms[i] = noise == 0 ? 1 : noise == 1 ? 0.5 + 0.1 * x + 0.05 * y : 0.3 + random_unit(r);
    }
    if (values == SMOOTH)
        smooth(&f);
    return f;
}

/* Keeps of the field what touches a pixel of it, at corners too: an island. */
static bool keep_island(struct field *f, struct random *r) {
    const int n = f->width * f->height;
    int stack[MOST_PIXELS], depth = 0;
    bool is_kept[MOST_PIXELS] = {false};
    for (int first = random_below(r, n), i = first; depth == 0 && i < first + n; i++)
        if (f->is_in[i % n])
            stack[depth++] = i % n;
    if (depth == 0)
        return false;
    is_kept[stack[0]] = true;
    while (depth > 0) {
        const int at = stack[--depth];
        for (int k = 0; k < 9; k++) {
            const int x = at % f->width + k % 3 - 1, y = at / f->width + k / 3 - 1;
            const int to = y * f->width + x;
            if (x < 0 || y < 0 || x >= f->width || y >= f->height || !f->is_in[to] || is_kept[to])
                continue;
            is_kept[to] = true;
            stack[depth++] = to;
        }
    }
    memcpy(f->is_in, is_kept, sizeof is_kept);
    return true;
}

/* The memory of an island's pixels. */
struct pixels {
    int32_t x[MOST_PIXELS], y[MOST_PIXELS];
    float value[MOST_PIXELS];
    double background[MOST_PIXELS], rms[MOST_PIXELS];
};

/* Value and background of a pixel whose difference is just `above`. */
static void set_above(double above, float *value, double *background) {
    *value = (float)above;
    *background = (double)*value - above;
}

static struct island_pixels pixels_of_field(const struct field *f, struct pixels *to) {
    struct island_pixels p = {0, to->x, to->y, to->value, to->background, to->rms};
    for (int i = 0; i < f->width * f->height; i++)
        if (f->is_in[i]) {
            p.x[p.n] = i % f->width;
            p.y[p.n] = i / f->width;
            to->rms[p.n] = f->rms[i];
            set_above(f->above[i], &to->value[p.n], &to->background[p.n]);
            assert_true(island_above(&p, p.n++) == f->above[i]);
        }
    return p;
}

/* --- tests --- */

/* The largest ratio of a source's pixels (k < 0: of all). */
static double snr_of(const struct island_pixels *p, const int32_t *source_of, int k) {
    double largest = 0;
    for (int i = 0; i < p->n; i++)
        if (k < 0 || source_of[i] == k)
            largest = fmax(largest, island_above(p, i) / p->rms[i]);
    return largest;
}

/* A source has the largest ratio of its pixels, or where this does not pass the threshold, the
 * island's. */
static void check_snr(const struct island_pixels *p, double threshold, const struct deblended *d) {
    const double island = snr_of(p, d->source_of, -1);
    assert_true(d->island_snr == island);
    for (int k = 0; k < d->n; k++) {
        const double own = snr_of(p, d->source_of, k);
        assert_true(d->snr[k] == (own < threshold ? island : own));
    }
}

/* Returns the number of sources. */
static int check(const struct island_pixels *p, double threshold, double contrast) {
    struct plain plain = {.pixels = p, .threshold = threshold, .contrast = contrast};
    int32_t source_of[MOST_PIXELS], peaks[MOST_PIXELS];
    struct arena arena = {0};
    struct deblended result;
    const int n = divide_plainly(&plain, source_of, peaks);
    assert_true(deblend(p, threshold, contrast, &arena, &result));
    assert_int_equal(result.n, n);
    assert_memory_equal(result.peak, peaks, (size_t)n * sizeof *peaks);
    assert_memory_equal(result.source_of, source_of, (size_t)p->n * sizeof *source_of);
    check_snr(p, threshold, &result);
    arena_clear(&arena);
    return n;
}

static void random_islands(void **state) {
    static const double contrasts[] = {0.1, 0.5, 1, 1, 2, 5}, thresholds[] = {0, 3, 5, 5, 8};
    static struct pixels memory;
    struct random r = {1};
    int n_divided = 0;
    (void)state;
    for (int i = 0; i < 6000 / UNIT_FEWER; i++) {
        const enum shape shape = i % SHAPES;
        struct field f = make_field(shape, i / SHAPES % VALUES, &r);
        if (!keep_island(&f, &r))
            continue;
        const struct island_pixels p = pixels_of_field(&f, &memory);
        n_divided += check(&p, thresholds[random_below(&r, 5)], contrasts[random_below(&r, 6)]) > 1;
    }
    print_message("%d islands were divided\n", n_divided);
    assert_true(n_divided > 1000 / UNIT_FEWER);
}

/* Two peaks of 10 and 8 above a saddle of 7, at an rms of 0.5 that is 1 at the lower peak. */
static void at_the_limits(void **state) {
    int32_t x[] = {0, 1, 2}, y[] = {0, 0, 0};
    const float value[] = {11, 9, 11};
    const double background[] = {1, 2, 3}, rms[] = {0.5, 0.5, 1};
    const struct island_pixels p = {3, x, y, value, background, rms};
    (void)state;
    assert_int_equal(check(&p, 5, 1), 2); /* 1 rms above the saddle is enough, */
    assert_int_equal(check(&p, 5, 1 + 1e-15), 1);
    assert_int_equal(check(&p, 8 - 1e-14, 1), 2);
    assert_int_equal(check(&p, 8, 1), 1); /* and the threshold is not */
    assert_int_equal(check(&p, 20, 1), 1);
}

/* The noise is so steep that the highest peak does not pass the threshold, and another one does; or
 * that the pixel beside a peak has the larger ratio. */
static void steep_noise(void **state) {
    int32_t x[] = {0, 1, 2, 3}, y[] = {0, 0, 0, 0};
    const float value[] = {12, 6, 9, 8};
    const double background[] = {0, 0, 0, 0}, rms[] = {4, 1.5, 1, 0.8};
    const struct island_pixels p = {4, x, y, value, background, rms};
    struct arena arena = {0};
    struct deblended result;
    (void)state;
    assert_int_equal(check(&p, 5, 1), 2);
    assert_true(deblend(&p, 5, 1, &arena, &result));
    assert_true(result.snr[0] == 8 / 0.8 && result.snr[1] == 8 / 0.8);
    assert_true(deblend(&p, 3, 1, &arena, &result));
    assert_true(result.snr[0] == 4 && result.snr[1] == 8 / 0.8);
    arena_clear(&arena);
}

/* An island for which a search in n^2 would not end: a plateau of a million pixels, and on it
 * 10,000 peaks, each with a pixel on the next diagonal, which is its own. */
static void many_pixels(void **state) {
    enum { SIDE = 1000, STEP = 10, PEAKS_A_ROW = SIDE / STEP, N = SIDE * SIDE };
    float *value = calloc(N, sizeof *value);
    double *background = calloc(N, sizeof *background), *rms = calloc(N, sizeof *rms);
    const struct island_pixels p = {
        N, calloc(N, sizeof *p.x), calloc(N, sizeof *p.y), value, background, rms};
    struct arena arena = {0};
    struct deblended result;
    (void)state;
    for (int i = 0; i < N; i++) {
        const int x = i % SIDE, y = i / SIDE, peak = y / STEP * PEAKS_A_ROW + x / STEP;
        p.x[i] = x;
        p.y[i] = y;
        rms[i] = 1;
        value[i] = (float)(x % STEP == 5 && y % STEP == 5   ? 20 + peak
                           : x % STEP == 6 && y % STEP == 6 ? 19
                                                            : 6);
    }
    assert_true(deblend(&p, 5, 1, &arena, &result));
    assert_int_equal(result.n, PEAKS_A_ROW * PEAKS_A_ROW);
    for (int k = 0; k < result.n; k++) { /* the highest is the last one in the image */
        const int peak = result.n - 1 - k;
        const int at = (peak / PEAKS_A_ROW * STEP + 5) * SIDE + peak % PEAKS_A_ROW * STEP + 5;
        assert_int_equal(result.peak[k], at);
        assert_int_equal(result.source_of[at], k);
        assert_int_equal(result.source_of[at + SIDE + 1], k);
    }
    arena_clear(&arena);
    for (int i = 0; i < N; i++)
        value[i] = 7;
    assert_true(deblend(&p, 5, 1, &arena, &result));
    assert_int_equal(result.n, 1);
    assert_int_equal(result.peak[0], 0);
    arena_clear(&arena);
    free(p.x);
    free(p.y);
    free(value);
    free(background);
    free(rms);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_islands),
        cmocka_unit_test(at_the_limits),
        cmocka_unit_test(steep_noise),
        cmocka_unit_test(many_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
