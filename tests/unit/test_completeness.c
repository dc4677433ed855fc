/* Sources that are added to an image: their random numbers, plan and pixels, which row is nearest,
 * and bins of those that are found. */
#include <stdlib.h>

#include "api/injections.h"
#include "common/random.h"
#include "input/chunks.h"
#include "measure/injected.h"
#include "measure/row_index.h"
#include "output/completeness.h"
#include "unit.h"

/* --- random numbers --- */

/* The first outputs of SplitMix64 with the seed 0 (Vigna's splitmix64.c). */
static void mixes_as_splitmix64(void **state) {
    static const uint64_t outputs[] = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f};
    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        assert_true(random_mix(i * 0x9e3779b97f4a7c15) == outputs[i]);
}

/* Numbers of neighbouring seeds, items, tries and uses are even, and not those of each other. */
static void numbers_are_even(void **state) {
    enum { N = 20000 };
    (void)state;
    for (int which = 0; which < 4; which++) {
        double sum = 0, product = 0, before = 0.5;
        for (uint64_t i = 0; i < N; i++) {
            const uint64_t at[4] = {which == 0 ? i : 1, which == 1 ? i : 2, which == 2 ? i : 3,
                                    which == 3 ? i : 4};
            const double number = random_number(at[0], at[1], at[2], at[3]);
            assert_true(number >= 0 && number < 1);
            sum += number;
            product += (number - 0.5) * (before - 0.5);
            before = number;
        }
        assert_true(fabs(sum / N - 0.5) < 4 * sqrt(1 / 12.0 / N));
        assert_true(fabs(product / N) < 4 * (1 / 12.0) / sqrt(N));
    }
}

/* --- the plan --- */

static void plans_trials(void **state) {
    struct random r = {11};
    (void)state;
    for (int trial = 0; trial < 3000; trial++) {
        struct injections list = {.n_a_width = 1 + random_below(&r, 30000), .n_widths = 0};
        const double n_pixels = pow(10, 9 * random_unit(&r)), beam = 1 + 100 * random_unit(&r);
        struct injection_plan plans[SCALES_MOST + 1];
        int64_t n_trials = 0;
        for (int i = random_below(&r, SCALES_MOST + 1); i >= 0; i--)
            list.widths[list.n_widths++] = pow(2, 6 * random_unit(&r));
        injections_plan(&list, n_pixels, beam, plans);
        for (int i = 0; i < list.n_widths; i++) {
            const struct injection_plan *p = &plans[i];
            const double area = list.widths[i] * list.widths[i] * beam;
            n_trials += p->n_trials;
            assert_true(p->n_a_trial == 1 || (double)p->n_a_trial * 400 * area <= n_pixels);
            assert_true(p->n <= list.n_a_width && p->n <= p->n_trials * p->n_a_trial);
            assert_true(p->n > (p->n_trials - 1) * p->n_a_trial && p->n > 0);
            /* all, or as many as a share of the trials has room for */
            assert_true(p->n == list.n_a_width || p->n_trials >= 64 / list.n_widths);
        }
        assert_true(n_trials <= 64);
    }
}

/* As many areas as an image has are used: at most one source in 400 of them. */
static void plans_whole_areas(void **state) {
    (void)state;
    for (int k = 1; k < 50; k++) {
        const struct injections list = {.n_a_width = 1000, .n_widths = 1, .widths = {1.5}};
        struct injection_plan plan;
        injections_plan(&list, 400 * 2.25 * 8 * k, 8, &plan);
        assert_int_equal(plan.n_a_trial, k);
        injections_plan(&list, 400 * 2.25 * 8 * (k + 1) - 1, 8, &plan);
        assert_int_equal(plan.n_a_trial, k);
    }
}

/* --- pixels --- */

/* Reads all pixels in pieces of any length. */
static void read_pieces(const struct pixel_source *source, struct random *r, uint32_t *pixels) {
    const int64_t n = source->width * source->height;
    struct error error;
    for (int64_t first = 0, count; first < n; first += count) {
        count = 1 + random_below(r, n - first < 900 ? (int)(n - first) : 900);
        uint32_t *buffer = malloc((size_t)count * sizeof *buffer);
        const uint32_t *read = source->read(source->state, first, count, buffer, &error);
        memcpy(pixels + first, read, (size_t)count * sizeof *read);
        free(buffer);
    }
}

static void adds_gaussians(void **state) {
    enum { WIDTH = 211, HEIGHT = 140, N = WIDTH * HEIGHT, GAUSSIANS = 9 };
    static float values[N];
    static uint32_t read[N];
    struct random r = {5};
    struct gaussian g[GAUSSIANS];
    (void)state;
    for (int i = 0; i < GAUSSIANS; i++)
        g[i] = (struct gaussian){10 * random_unit(&r),
                                 WIDTH * random_unit(&r) - 0.5,
                                 HEIGHT * random_unit(&r) - 0.5,
                                 {0.1 + random_unit(&r), 0.1 + random_unit(&r), 0.05}};
    for (int i = 0; i < N; i++)
        values[i] = i % 97 == 0 ? NAN : i % 89 == 0 ? 3.4e38F : (float)random_normal(&r);
    for (int swapped = 0; swapped < 2; swapped++) {
        struct memory_source *memory =
            memory_source_make(&(struct picture){WIDTH, HEIGHT, values}, 500, swapped, false);
        struct injected injected = {0};
        struct pixel_source source;
        assert_true(injected_source(&injected, &memory->source, g, GAUSSIANS, &source));
        read_pieces(&source, &r, read);
        for (int i = 0; i < N; i++) {
            const float sum = (float)(values[i] + model_at(&injected.model, i % WIDTH, i / WIDTH));
            const float expected = isfinite(sum) ? sum : values[i];
            const uint32_t bits = swapped ? __builtin_bswap32(read[i]) : read[i];
            if (isnan(expected))
                assert_true(isnan(pixel_value(&bits, 0, false)));
            else
                assert_true(bits == exact_bits(expected));
        }
        injected_clear(&injected);
        memory_source_free(memory);
    }
}

/* Pixels that are not finite, would not be, or have nothing added, keep their bits; those that the
 * source has in memory of its own are not changed there. */
static const uint32_t *read_in_place(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                     struct error *error) {
    (void)count;
    (void)buffer;
    (void)error;
    return (const uint32_t *)state + first;
}

static void keeps_bits(void **state) {
    enum { WIDTH = 200, HEIGHT = 3, N = WIDTH * HEIGHT };
    static const uint32_t kinds[] = {0x80000000, 0x7f800000, 0xff800000, 0x7fa00001,
                                     0xffc12345, 0x7f7fffff, 0x3f800000};
    const struct gaussian g = {3e38, 40, 1, {0.3, 0.3, 0}};
    uint32_t pixels[N], before[N], read[N];
    const struct pixel_source stored = {
        .width = WIDTH, .height = HEIGHT, .state = pixels, .read = read_in_place};
    struct injected injected = {0};
    struct pixel_source source;
    struct random r = {6};
    int n_added = 0;
    (void)state;
    for (int i = 0; i < N; i++)
        pixels[i] = before[i] = kinds[i % 7];
    assert_true(injected_source(&injected, &stored, &g, 1, &source));
    read_pieces(&source, &r, read);
    for (int i = 0; i < N; i++) {
        const double sum = model_at(&injected.model, i % WIDTH, i / WIDTH);
        const float changed = (float)(pixel_value(before, i, false) + sum);
        const bool is_added = sum != 0 && isfinite(changed);
        assert_true(read[i] == (is_added ? exact_bits(changed) : before[i]));
        n_added += is_added && read[i] != before[i];
    }
    assert_in_range(n_added, 10, N / 2);
    assert_memory_equal(pixels, before, sizeof pixels);
    injected_clear(&injected);
}

/* --- rows --- */

static bool is_odd(const void *context, const struct srcfind_source *row) {
    (void)context;
    return row->id % 2 == 1;
}

static double square_of(const struct tensor *f, const struct srcfind_source *row, double x,
                        double y) {
    const double dx = row->x - x, dy = row->y - y;
    return f->xx * dx * dx + 2 * f->xy * dx * dy + f->yy * dy * dy;
}

static void finds_the_nearest_row(void **state) {
    enum { ROWS = 300 };
    struct random r = {7};
    int n_found = 0;
    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        static struct srcfind_source rows[ROWS];
        struct row_index index;
        const int n = random_below(&r, ROWS);
        for (int i = 0; i < n; i++)
            rows[i] = (struct srcfind_source){
                .id = i + 1, .x = 50 * random_unit(&r), .y = floor(50 * random_unit(&r))};
        const double a = 0.02 + random_unit(&r), b = 0.02 + random_unit(&r);
        const struct tensor form = {a, b, 0.9 * sqrt(a * b) * (2 * random_unit(&r) - 1)};
        const double x = 50 * random_unit(&r), y = 50 * random_unit(&r);
        const struct srcfind_source *plain = NULL;
        for (int i = 0; i < n; i++)
            if (rows[i].id % 2 == 1 && square_of(&form, &rows[i], x, y) <= 2 * log(2) &&
                (!plain || square_of(&form, &rows[i], x, y) < square_of(&form, plain, x, y)))
                plain = &rows[i];
        assert_true(row_index_make(&index, rows, n, unit_threads(2)));
        assert_ptr_equal(row_index_nearest(&index, &form, x, y, is_odd, NULL), plain);
        row_index_clear(&index);
        n_found += plain != NULL;
    }
    assert_true(n_found > 100 && n_found < 300);
}

/* --- bins --- */

static struct injections of_points(struct injection *all, int64_t n) {
    return (struct injections){
        .all = all, .n = n, .n_a_width = n, .widths = {1}, .n_widths = 1, .area = 1};
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* Ten sources of S/N 7 to 7.9, of which six are found; none in other bins. */
static void counts_a_bin(void **state) {
    static const double ratios[] = {1.3, 0.9, 1, 1.1, 0.7, 1.2};
    struct injection all[10];
    const struct injections list = of_points(all, 10);
    struct completeness c;
    (void)state;
    for (int i = 0; i < 10; i++)
        all[i] = (struct injection){.width = 1,
                                    .snr = 7 + 0.1 * i,
                                    .flux = 2 * (7 + 0.1 * i),
                                    .weight = 1,
                                    .is_added = true,
                                    .is_found = i < 6,
                                    .ratio = i < 6 ? ratios[i] : 0,
                                    .dx = i < 6 ? i : 0,
                                    .dy = i < 6 ? -i : 0,
                                    .flux_pull = i < 6 ? 10 * ratios[i] : 0,
                                    .x_pull = i < 6 ? 2 * i : 0,
                                    .y_pull = i < 6 ? -2 * i : 0};
    assert_true(completeness_count(&list, &c));
    assert_int_equal(c.n_snr, COMPLETENESS_SNR_BINS);
    assert_int_equal(c.n_flux, COMPLETENESS_FLUX_BINS);
    const struct completeness_bin *bin = &c.snr[3];
    assert_true(bin->width == 1 && bin->low == 6 && bin->high == 8);
    assert_true(bin->injected == 10 && bin->found == 6);
    assert_near(bin->completeness, 0.6);
    /* Wilson: the ends are (p + 1 / 2n -+ sqrt(p (1 - p) / n + 1 / 4n^2)) / (1 + 1 / n) */
    assert_near(bin->error, sqrt(0.6 * 0.4 / 10 + 0.25 / 100) / 1.1);
    assert_near(bin->flux_ratio, 1.05);
    /* deviations .25 .15 .05 .05 .35 .15, whose median is .15; of -5 ... 5 about 0: 2.5 */
    assert_true(fabs(bin->flux_scatter - 1.4826 * 0.15) < 1e-12);
    assert_near(bin->position_scatter, 1.4826 * 2.5);
    assert_true(fabs(bin->flux_pull - 1.4826 * 1.5) < 1e-12);
    assert_near(bin->position_pull, 1.4826 * 5);
    for (int i = 0; i < c.n_snr; i++)
        if (i != 3) {
            const struct completeness_bin *empty = &c.snr[i];
            assert_true(empty->injected == 0 && empty->found == 0);
            assert_true(isnan(empty->completeness) && isnan(empty->error));
            assert_true(isnan(empty->flux_ratio) && isnan(empty->flux_scatter));
            assert_true(isnan(empty->position_scatter));
            assert_true(isnan(empty->flux_pull) && isnan(empty->position_pull));
        }
    completeness_clear(&c);
}

/* A bin begins with its lower edge, and ends below the upper one. */
static void edges_of_bins(void **state) {
    static const double snr[] = {2.999, 3, 4, 5, 6, 8, 10, 20, 60};
    static const double ends[] = {3, 4, 5, 6, 8, 10, 20, 60};
    struct injection all[9];
    const struct injections list = of_points(all, 9);
    struct completeness c;
    (void)state;
    for (int i = 0; i < 9; i++)
        all[i] = (struct injection){
            .width = 1, .snr = snr[i], .flux = snr[i], .weight = 1, .is_added = i != 4};
    assert_true(completeness_count(&list, &c));
    for (int i = 0; i < COMPLETENESS_SNR_BINS; i++) {
        assert_true(c.snr[i].low == ends[i] && c.snr[i].high == ends[i + 1]);
        assert_int_equal(c.snr[i].injected, i != 3);
    }
    completeness_clear(&c);
}

/* The scatter is that of two values or more; positions have two for each source. */
static void scatter_of_few(void **state) {
    struct injection all[3];
    struct completeness c;
    (void)state;
    for (int n = 1; n <= 3; n++) {
        const struct injections list = of_points(all, 3);
        for (int i = 0; i < 3; i++)
            all[i] = (struct injection){.width = 1,
                                        .snr = 7,
                                        .flux = 7,
                                        .weight = 1,
                                        .is_added = true,
                                        .is_found = i < n,
                                        .ratio = 1 + i,
                                        .dx = i,
                                        .dy = 10 * i};
        assert_true(completeness_count(&list, &c));
        const struct completeness_bin *bin = &c.snr[3];
        static const double ratios[] = {1, 1.5, 2}, positions[] = {NAN, 0.5, 1.5};
        /* 0, 0, 1, 10 are 0.5, 0.5, 0.5, 9.5 from their median; with 2, 20: 1.5, 1.5, .5, 8.5, .5,
         * 18.5 */
        assert_near(bin->flux_ratio, ratios[n - 1]);
        if (n == 1) {
            assert_true(isnan(bin->flux_scatter) && isnan(bin->position_scatter));
        } else {
            assert_near(bin->flux_scatter, 1.4826 * (n == 2 ? 0.5 : 1));
            assert_near(bin->position_scatter, 1.4826 * positions[n - 1]);
        }
        completeness_clear(&c);
    }
}

/* Two thirds of the weight have a flux of 1 for S/N 1, the rest of 100: of a flux of 10, the former
 * have S/N 10, and the latter 0.1. All with S/N above 5 are found. */
static void weighs_places(void **state) {
    enum { N = 40000 };
    struct injection *all = calloc(N, sizeof *all);
    const struct injections list = of_points(all, N);
    struct completeness c;
    (void)state;
    for (int i = 0; i < N; i++) {
        const double snr = 3 * pow(20, (i / 2 + 0.5) / (N / 2.0));
        all[i] = (struct injection){.width = 1,
                                    .snr = snr,
                                    .flux = snr * (i % 2 ? 100 : 1),
                                    .weight = i % 2 ? 1 : 2,
                                    .is_added = true,
                                    .is_found = snr > 5,
                                    .ratio = 1};
    }
    assert_true(completeness_count(&list, &c));
    int n_between = 0;
    assert_near(c.flux[0].low, 3);
    assert_near(c.flux[COMPLETENESS_FLUX_BINS - 1].high, 2000);
    for (int i = 0; i < c.n_flux; i++) {
        const struct completeness_bin *bin = &c.flux[i];
        const double step = log(bin->high / bin->low);
        const double of_1 = fmin(fmax(log(bin->high / 5) / step, 0), 1);
        const double of_100 = fmin(fmax(log(bin->high / 500) / step, 0), 1);
        assert_near(bin->high / bin->low, pow(2000 / 3.0, 0.1));
        n_between +=
            bin->injected == 0; /* above all S/N of one kind, and below those of the other */
        assert_true(fabs(bin->completeness - (2 * of_1 + of_100) / 3) < 2e-3);
    }
    assert_true(n_between > 0);
    /* The last bin has S/N of 10 to 20 in a third of the weight, and more than 60 in the rest. */
    const struct completeness_bin *last = &c.flux[COMPLETENESS_FLUX_BINS - 1];
    const double n = (double)last->injected, here = 1 / (2 * n) / (1 + 1 / n);
    assert_true(fabs(last->error - hypot(here / 3, 2 * c.snr[6].error / 3)) < 1e-9 * here);
    completeness_clear(&c);
    free(all);
}

/* What is brighter than all sources that were added is found as often as the brightest of them. */
static void brighter_than_all(void **state) {
    enum { N = 4000 };
    struct injection *all = calloc(N, sizeof *all);
    const struct injections list = of_points(all, N);
    struct completeness c;
    (void)state;
    for (int i = 0; i < N; i++) /* a fifth has a hundredth of the noise */
        all[i] = (struct injection){.width = 1,
                                    .snr = 3 * pow(20, (i + 0.5) / N),
                                    .weight = 1,
                                    .is_added = true,
                                    .is_found = i % 4 == 0,
                                    .ratio = 1};
    for (int i = 0; i < N; i++)
        all[i].flux = all[i].snr * (i % 5 ? 1 : 0.01);
    assert_true(completeness_count(&list, &c));
    for (int i = 0; i < c.n_flux; i++)
        if (c.flux[i].low > 0.6 && c.flux[i].high < 3) /* 4 in 5 are below, the others above */
            assert_near(c.flux[i].completeness, 0.2 * c.snr[6].completeness);
    assert_true(fabs(c.snr[6].completeness - 0.25) < 0.01);
    completeness_clear(&c);
    free(all);
}

/* Twice the sources with half of the weight are as many as their weight, but for the error. */
static void effective_number(void **state) {
    struct injection all[30];
    const struct injections list = of_points(all, 30);
    struct completeness c;
    (void)state;
    for (int i = 0; i < 30; i++)
        all[i] = (struct injection){.width = 1,
                                    .snr = 15,
                                    .flux = 15,
                                    .weight = i < 10 ? 4 : 1,
                                    .is_added = true,
                                    .is_found = i < 10,
                                    .ratio = 1};
    assert_true(completeness_count(&list, &c));
    const double share = 40 / 60.0, n = 60 * 60 / (10 * 16 + 20 * 1.0);
    assert_near(c.snr[5].completeness, share);
    assert_near(c.snr[5].error, sqrt(share * (1 - share) / n + 0.25 / (n * n)) / (1 + 1 / n));
    completeness_clear(&c);
}

/* Sources of a file: all are in a bin of flux, and each bin has the share that it finds. */
static void bins_of_a_file(void **state) {
    struct injection all[4] = {
        {.width = 3, .snr = 1, .flux = 2, .weight = 1, .is_added = true},
        {.width = 1, .snr = 100, .flux = 2048, .weight = 1, .is_added = true, .is_found = true},
        {.width = 1, .snr = 1.1, .flux = 2.1, .weight = 1, .is_added = true, .is_found = true},
        {.width = 0}};
    struct injections list = of_points(all, 4);
    struct completeness c;
    (void)state;
    list.widths[0] = INJECTION_OF_FILE;
    assert_true(completeness_count(&list, &c));
    assert_true(c.n_flux == 10 && c.flux[0].width == 0 && c.snr[0].width == 0);
    assert_near(c.flux[0].low, 2);
    assert_near(c.flux[0].high, 4);
    assert_near(c.flux[9].low, 1024);
    assert_true(c.flux[9].high > 2048 && c.flux[9].high < 2048.001);
    assert_int_equal(c.flux[0].injected, 2);
    assert_near(c.flux[0].completeness, 0.5);
    assert_int_equal(c.flux[9].found, 1);
    assert_true(isnan(c.flux[5].completeness));
    completeness_clear(&c);
    all[1].is_added = all[2].is_added = false;
    assert_true(completeness_count(&list, &c));
    assert_near(c.flux[0].low, M_SQRT2);
    assert_near(c.flux[9].high, 2 * M_SQRT2);
    completeness_clear(&c);
    all[0].is_added = false;
    assert_true(completeness_count(&list, &c));
    assert_true(isnan(c.flux[0].low) && c.flux[9].injected == 0);
    completeness_clear(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_as_splitmix64),
        cmocka_unit_test(numbers_are_even),
        cmocka_unit_test(plans_trials),
        cmocka_unit_test(plans_whole_areas),
        cmocka_unit_test(keeps_bits),
        cmocka_unit_test(edges_of_bins),
        cmocka_unit_test(scatter_of_few),
        cmocka_unit_test(adds_gaussians),
        cmocka_unit_test(finds_the_nearest_row),
        cmocka_unit_test(counts_a_bin),
        cmocka_unit_test(weighs_places),
        cmocka_unit_test(effective_number),
        cmocka_unit_test(bins_of_a_file),
        cmocka_unit_test(brighter_than_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
