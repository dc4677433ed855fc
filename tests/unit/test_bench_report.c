/* The report of --bench: medians, spreads and ratios of what was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "api/bench.h"
#include "cli/bench_report.h"
#include "output/catalogue.h"
#include "unit.h"

enum { ROUNDS = 5 };

/* In no order; the median is 4 ms, the quartiles are 3.5 and 4.5. */
static double search[ROUNDS] = {4.5e-3, 1e-3, 4e-3, 9e-3, 3.5e-3};
static double plain[ROUNDS] = {2e-3, 2e-3, 2e-3, 2e-3, 2e-3};

static struct result result = {.image = {.path = "a.fits", .width = 2000, .height = 1000},
                               .run = {.backend = "cpu", .threads = 3}};
static struct srcfind_catalogue catalogue = {.table = {.of = &result, .n_rows = 7}};
static struct srcfind_bench bench = {
    .catalogue = &catalogue,
    .rounds = ROUNDS,
    .seconds = {[SRCFIND_FLOOR_READ] = plain, [SRCFIND_SEARCH] = search, [SRCFIND_FILE] = plain},
};
static const struct bench_report measured = {
    .bench = &bench, .process_seconds = 5e-3, .batch_seconds = NAN, .n_workers = 3};

static char *text_of(bool as_json) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_true(bench_report_write(&measured, as_json, stream));
    fclose(stream);
    return text;
}

static void median_is_that_of_both_middle_ones(void **state) {
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    (void)state;
    assert_true(bench_report_median(odd, 3) == 2);
    assert_true(bench_report_median(even, 4) == 2.5);
}

/* 4 ms +- 0.5 ms, 2 Mpixel, and twice the plain read. */
static void table_has_ratios(void **state) {
    (void)state;
    char *text = text_of(false);
    assert_non_null(strstr(text, "a.fits: 2000 x 1000 pixels, 7 sources; 3 CPU threads; 5 rounds"));
    assert_non_null(
        strstr(text, "search, pixels in memory       4.000    12.5     0.500      2.00\n"));
    assert_non_null(strstr(text, "  of it start and end          3.000"));
    assert_null(strstr(text, "clip"));
    assert_null(strstr(text, "x copy"));
    assert_null(strstr(text, "many"));
    free(text);
}

static int count_void(void) {
    int n = 0;
    char *text = text_of(false);
    for (const char *at = text; (at = strstr(at, "      void\n")); at++)
        n++;
    assert_int_equal(strstr(text, "(void: ") != NULL, n > 0);
    free(text);
    return n;
}

/* Where rounds differ much, or a search takes less than to read the pixels. */
static void ratios_may_be_void(void **state) {
    (void)state;
    assert_int_equal(count_void(), 0);
    search[0] = 7e-3;
    assert_int_equal(count_void(), 1); /* +- 44% */
    search[0] = 4.5e-3;
    for (int i = 0; i < ROUNDS; i++)
        plain[i] = 5e-3;
    assert_int_equal(count_void(), 1); /* a search in 0.8 of a read */
    for (int i = 0; i < ROUNDS; i++)
        plain[i] = 2e-3 * (i + 1);
    assert_int_equal(count_void(), 4); /* all of them: read, search, file, process */
    for (int i = 0; i < ROUNDS; i++)
        plain[i] = 2e-3;
}

static void one_of_a_kind(void **state) {
    (void)state;
    catalogue.table.n_rows = result.run.threads = 1;
    char *text = text_of(false);
    catalogue.table.n_rows = 7;
    result.run.threads = 3;
    assert_non_null(strstr(text, " 1 source; 1 CPU thread; 5 rounds"));
    free(text);
}

static double number(const cJSON *json, const char *stage, const char *name) {
    const cJSON *stages = cJSON_GetObjectItem(json, "stages");
    return cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(stages, stage), name));
}

static void json_has_seconds(void **state) {
    (void)state;
    options_default(&result.options);
    char *text = text_of(true);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    assert_true(number(json, "search", "median_s") == 4e-3);
    assert_true(fabs(number(json, "search", "spread_s") - 0.5e-3) < 1e-12);
    assert_true(number(json, "process", "median_s") == 5e-3);
    assert_true(isnan(number(json, "batch", "median_s")));
    cJSON_Delete(json);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_is_that_of_both_middle_ones),
        cmocka_unit_test(table_has_ratios),
        cmocka_unit_test(ratios_may_be_void),
        cmocka_unit_test(one_of_a_kind),
        cmocka_unit_test(json_has_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
