/* What --compare-cpu says of two catalogues: every difference is found, and named. */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli/compare_report.h"
#include "output/catalogue.h"
#include "unit.h"

/* A catalogue with its result. */
struct made {
    struct result result;
    struct srcfind_catalogue catalogue;
};

static struct made catalogue(double rms, double scan) {
    return (struct made){
        .result =
            {.image = {.path = "image.fits", .width = 30, .height = 20},
             .background = {.median = 0.5, .rms = rms, .n_kept = 590, .n_blank = 7, .rounds = 4},
             .timings = {.transfer = 0.25, .scan = scan, .clip = 0.5, .clip_method = "one read"},
             .run = {.device = "a GPU", .threads = 3}},
        .catalogue = {.table = {.n_rows = 2}}};
}

static struct compare_report compare(struct made *cpu, struct made *gpu, char *cpu_csv,
                                     char *gpu_csv) {
    static char json[] = "{}";
    const struct srcfind_catalogue *const catalogues[SIDES] = {&cpu->catalogue, &gpu->catalogue};
    cpu->catalogue.table.of = &cpu->result;
    gpu->catalogue.table.of = &gpu->result;
    struct compared_text text[MOST_FORMATS] = {
        {{cpu_csv, gpu_csv}, {strlen(cpu_csv), strlen(gpu_csv)}}};
    for (int i = 1; srcfind_format(i); i++)
        text[i] = (struct compared_text){{json, json}, {2, 2}};
    return compare_report_make(catalogues, text);
}

static char *text_of(const struct compare_report *c, bool as_json) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_true(compare_report_write(c, as_json, stream));
    fclose(stream);
    return text;
}

static void assert_says(const struct compare_report *c, const char *words) {
    char *text = text_of(c, false);
    if (!strstr(text, words))
        print_message("not found: %s\nin:\n%s", words, text);
    assert_non_null(strstr(text, words));
    free(text);
}

static char csv[] = "a,b,c\n1,2,3\n4,5,6\n";

static void same(void **state) {
    struct made cpu = catalogue(1, 4), gpu = catalogue(1, 1);
    const struct compare_report c = compare(&cpu, &gpu, csv, csv);
    (void)state;
    assert_true(c.same && c.n_differences == 0);
    assert_says(&c, "the catalogues are the same, byte for byte");
    assert_says(&c, "4 x"); /* the scan */
    assert_says(&c, "CPU, 3 threads");
    assert_says(&c, "a GPU");
}

static void different_cells(void **state) {
    static char other[] = "a,b,c\n1,2,3\n4,5.5,\n";
    struct made cpu = catalogue(1, 4), gpu = catalogue(1, 1);
    const struct compare_report c = compare(&cpu, &gpu, csv, other);
    (void)state;
    assert_false(c.same || c.formats[0].same);
    assert_true(c.formats[1].same);
    assert_int_equal(c.n_differences, 2);
    assert_says(&c, "row 2, b: '5' on the CPU, '5.5' on the GPU");
    assert_says(&c, "row 2, c: '6' on the CPU, '' on the GPU");
    assert_says(&c, "DIFFERENT");
}

static void missing_row(void **state) {
    static char other[] = "a,b,c\n1,2,3\n";
    struct made cpu = catalogue(1, 4), gpu = catalogue(1, 1);
    const struct compare_report less = compare(&cpu, &gpu, csv, other);
    const struct compare_report more = compare(&cpu, &gpu, other, csv);
    (void)state;
    assert_false(less.same || more.same);
    assert_says(&less, "row 2, a: '4' on the CPU, '' on the GPU");
    assert_says(&more, "row 2, a: '' on the CPU, '4' on the GPU");
}

/* A statistic that differs in its last bit, in catalogues of the same text. */
static void different_statistic(void **state) {
    struct made cpu = catalogue(1, 4), gpu = catalogue(1 + 0x1p-52, 1);
    const struct compare_report c = compare(&cpu, &gpu, csv, csv);
    (void)state;
    assert_false(c.same);
    assert_says(&c, "1.0000000000000002  DIFFERENT");
}

static void most_differences(void **state) {
    static char one[] = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n", other[] = "a,b,c\n0,0,0\n0,0,0\n0,0,0\n";
    struct made cpu = catalogue(1, 4), gpu = catalogue(1, 1);
    const struct compare_report c = compare(&cpu, &gpu, one, other);
    (void)state;
    assert_int_equal(c.n_differences, MOST_DIFFERENCES);
}

static double number_at(const cJSON *object, const char *a, const char *b) {
    return cJSON_GetObjectItem(cJSON_GetObjectItem(object, a), b)->valuedouble;
}

static void as_json(void **state) {
    static char other[] = "a,b,c\n1,2,3\n4,5.5,6\n";
    struct made cpu = catalogue(0.1, 4), gpu = catalogue(0.1, 1);
    options_default(&cpu.result.options);
    options_default(&gpu.result.options);
    const struct compare_report c = compare(&cpu, &gpu, csv, other);
    char *text = text_of(&c, true);
    cJSON *json = cJSON_Parse(text);
    (void)state;
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(json, "same")));
    assert_true(number_at(cJSON_GetObjectItem(json, "statistics"), "rms", "gpu") == 0.1);
    assert_true(number_at(cJSON_GetObjectItem(json, "statistics"), "n_kept", "cpu") == 590);
    assert_true(number_at(json, "csv_bytes", "gpu") == 20);
    assert_true(number_at(cJSON_GetObjectItem(json, "seconds"), "scan", "cpu") == 4);
    assert_true(cJSON_GetObjectItem(json, "speedup_with_transfer")->valuedouble == 4.75 / 1.75);
    assert_true(cJSON_GetObjectItem(json, "speedup_without_transfer")->valuedouble == 4.5 / 1.5);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "differences"), 0);
    assert_string_equal(cJSON_GetObjectItem(first, "gpu")->valuestring, "5.5");
    cJSON_Delete(json);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same),
        cmocka_unit_test(different_cells),
        cmocka_unit_test(missing_row),
        cmocka_unit_test(different_statistic),
        cmocka_unit_test(most_differences),
        cmocka_unit_test(as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
