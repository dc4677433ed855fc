/* The report of --bench: medians, spreads and ratios of what was measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/bench_report.h"
#include "unit.h"

enum { ROUNDS = 5 };

/* In no order; the median is 4 ms, the quartiles are 3 and 6. */
static double search[ROUNDS] = {6e-3, 1e-3, 4e-3, 9e-3, 3e-3};
static double plain[ROUNDS] = {2e-3, 2e-3, 2e-3, 2e-3, 2e-3};

static struct srcfind_catalogue catalogue = {
    .image = {.path = "a.fits", .width = 2000, .height = 1000},
    .n_sources = 7,
    .backend = "cpu",
    .threads = 3,
};
static struct srcfind_bench bench = {
    .catalogue = &catalogue,
    .rounds = ROUNDS,
    .seconds = {[SRCFIND_FLOOR_READ] = plain, [SRCFIND_SEARCH] = search, [SRCFIND_FILE] = plain},
};
static const struct measurement measured = {
    .bench = &bench, .process_seconds = 5e-3, .batch_seconds = NAN, .n_workers = 3};

static char *text_of(bool as_json) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (as_json)
        assert_true(measurement_write_json(&measured, stream));
    else
        measurement_write_text(&measured, stream);
    fclose(stream);
    return text;
}

static void median_is_that_of_both_middle_ones(void **state) {
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    (void)state;
    assert_true(measurement_median(odd, 3) == 2);
    assert_true(measurement_median(even, 4) == 2.5);
}

/* 4 ms +- 1.5 ms, 2 Mpixel, and twice the plain read. */
static void table_has_ratios(void **state) {
    (void)state;
    char *text = text_of(false);
    assert_non_null(strstr(text, "a.fits: 2000 x 1000 pixels, 7 sources; 3 CPU threads; 5 rounds"));
    assert_non_null(
        strstr(text, "search, pixels in memory       4.000    37.5     0.500      2.00\n"));
    assert_non_null(strstr(text, "  of it start and end          3.000"));
    assert_null(strstr(text, "clip"));
    assert_null(strstr(text, "x copy"));
    assert_null(strstr(text, "many"));
    free(text);
}

static void one_of_a_kind(void **state) {
    const struct srcfind_catalogue all = catalogue;
    (void)state;
    catalogue.n_sources = catalogue.threads = 1;
    char *text = text_of(false);
    catalogue = all;
    assert_non_null(strstr(text, " 1 source; 1 CPU thread; 5 rounds"));
    free(text);
}

static double number(const cJSON *json, const char *stage, const char *name) {
    const cJSON *stages = cJSON_GetObjectItem(json, "stages");
    return cJSON_GetNumberValue(cJSON_GetObjectItem(cJSON_GetObjectItem(stages, stage), name));
}

static void json_has_seconds(void **state) {
    (void)state;
    char *text = text_of(true);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    assert_true(number(json, "search", "median_s") == 4e-3);
    assert_true(fabs(number(json, "search", "spread_s") - 1.5e-3) < 1e-12);
    assert_true(number(json, "process", "median_s") == 5e-3);
    assert_true(isnan(number(json, "batch", "median_s")));
    cJSON_Delete(json);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_is_that_of_both_middle_ones),
        cmocka_unit_test(table_has_ratios),
        cmocka_unit_test(one_of_a_kind),
        cmocka_unit_test(json_has_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
