/* Catalogues as JSON, read by cJSON. */
#include <cjson/cJSON.h>

#include "catalogues.h"

static cJSON *read_catalogue(const struct srcfind_catalogue *catalogue) {
    char *text = text_of(&json_writer, catalogue, unit_threads(2));
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    assert_non_null(root);
    free(text);
    return root;
}

/* What stands at a path of names with dots between them; not case-blind, as cJSON's usual calls. */
static const cJSON *at(const cJSON *node, const char *path) {
    char name[64];
    for (size_t n; *path; path += n + (path[n] == '.')) {
        n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        node = cJSON_GetObjectItemCaseSensitive(node, name);
        if (!node)
            fail_msg("there is no %s", path);
    }
    return node;
}

static void assert_number(const cJSON *root, const char *path, double value) {
    assert_true(cJSON_IsNumber(at(root, path)) && at(root, path)->valuedouble == value);
}

static void assert_text(const cJSON *root, const char *path, const char *value) {
    assert_true(cJSON_IsString(at(root, path)));
    assert_string_equal(at(root, path)->valuestring, value);
}

static void described_image(void **state) {
    struct srcfind_catalogue *c = catalogue_of(3, "a\\b \"c\"\n\t\x01\xc3\xa9.fits");
    (void)state;
    result_of(c)->image.width = 4;
    result_of(c)->image.height = 3;
    result_of(c)->image.hdu = 2;
    result_of(c)->image.n_axes = 3;
    result_of(c)->image.axes[0] = 4, result_of(c)->image.axes[1] = 3,
    result_of(c)->image.axes[2] = 7;
    result_of(c)->image.plane[0] = 5;
    result_of(c)->image.beam = (struct srcfind_beam){0.1, 0.3, -0.0};
    result_of(c)->image.beam_source = "table";
    result_of(c)->image.beam_pixels = INFINITY;
    result_of(c)->image.frequency = 1.4e9;
    result_of(c)->background = (struct srcfind_background){
        .median = 1.0 / 3, .rms = NAN, .n_kept = 1LL << 40, .empty = true};
    result_of(c)->quality = (struct srcfind_quality){
        .zeros = 0.25, .rms_p10 = 1, .rms_p90 = NAN, .beam_pixels = 1.5, .narrow = 0.5};
    cJSON *root = read_catalogue(c);
    assert_text(root, "srcfind", SRCFIND_VERSION);
    assert_text(root, "image.path", "a\\b \"c\"\n\t\x01\xc3\xa9.fits");
    assert_number(root, "image.hdu", 2);
    assert_int_equal(cJSON_GetArraySize(at(root, "image.axes")), 3);
    assert_int_equal(cJSON_GetArraySize(at(root, "image.plane")), 1);
    assert_number(cJSON_GetArrayItem(at(root, "image.shape"), 0), "", 3);
    assert_number(cJSON_GetArrayItem(at(root, "image.shape"), 1), "", 4);
    assert_number(cJSON_GetArrayItem(at(root, "image.plane"), 0), "", 5);
    assert_text(root, "image.unit", "mJy/beam");
    assert_number(root, "image.frequency_hz", 1.4e9);
    assert_number(root, "image.beam.minor_deg", 0.3);
    assert_text(root, "image.beam.source", "table");
    assert_true(cJSON_IsNull(at(root, "image.beam.area_pixels")));
    assert_true(cJSON_IsNull(at(root, "image.frame")) && cJSON_IsNull(at(root, "image.equinox")));
    assert_number(root, "background.median", 1.0 / 3);
    assert_true(cJSON_IsNull(at(root, "background.rms")) &&
                cJSON_IsTrue(at(root, "background.empty")));
    assert_number(root, "background.n_kept", 1099511627776);
    assert_number(root, "background.kappa", 3);
    assert_number(root, "detection.connectivity", 4);
    assert_text(root, "detection.background", "median");
    assert_number(root, "detection.n_sources", 3);
    assert_number(root, "quality.zeros", 0.25);
    assert_number(root, "quality.beam_pixels", 1.5);
    assert_number(root, "quality.narrow", 0.5);
    assert_true(cJSON_IsNull(at(root, "quality.rms_p90")) &&
                cJSON_IsNull(at(root, "quality.negative")));
    assert_number(root, "options.threshold", 5);
    assert_text(root, "options.background", "median");
    assert_true(cJSON_IsNull(at(root, "options.hdu")) && cJSON_IsNull(at(root, "options.local")));
    assert_null(cJSON_GetObjectItemCaseSensitive(at(root, "options"), "threads"));
    cJSON_Delete(root);
    srcfind_catalogue_destroy(c);
}

/* Bytes that are no UTF-8 (RFC 3629, section 4) become question marks, and what is UTF-8 stays. */
static void paths(void **state) {
    static const char *const known[][2] = {
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xad", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xad"},
        {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"},
        {"\xff \x80 \xc3", "? ? ?"}, /* no character begins so, or ends so */
        {"\xc0\xaf \xe0\x80\xaf \xf0\x80\x80\xaf", "?? ??? ????"}, /* longer than they need be */
        {"\xed\xa0\x80 \xed\xbf\xbf", "??? ???"},                  /* halves of UTF-16 */
        {"\xf4\x90\x80\x80 \xf5\x80\x80\x80", "???? ????"},        /* above U+10FFFF */
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct srcfind_catalogue *c = catalogue_of(0, known[i][0]);
        cJSON *root = read_catalogue(c);
        assert_text(root, "image.path", known[i][1]);
        cJSON_Delete(root);
        srcfind_catalogue_destroy(c);
    }
}

/* Pixels in memory of which nothing is known, and no source. */
static void empty_catalogue(void **state) {
    struct srcfind_catalogue *c = catalogue_of(0, "");
    (void)state;
    *result_of(c)->image.unit = *result_of(c)->image.flux_unit = *result_of(c)->image.lon_name =
        '\0';
    catalogue_complete(c);
    cJSON *root = read_catalogue(c);
    static const char *const null[] = {
        "path",      "hdu",      "hdu_name",  "compression",     "unit",
        "flux_unit", "frame",    "equinox",   "pixel_area_deg2", "frequency_hz",
        "beam",      "date_obs", "telescope", "object"};
    for (size_t i = 0; i < sizeof null / sizeof *null; i++)
        assert_true(cJSON_IsNull(at(at(root, "image"), null[i])));
    assert_true(cJSON_IsArray(at(root, "sources")));
    assert_int_equal(cJSON_GetArraySize(at(root, "sources")), 0);
    assert_int_equal(cJSON_GetArraySize(at(root, "image.axes")), 0);
    assert_int_equal(cJSON_GetArraySize(at(root, "image.plane")), 0);
    cJSON_Delete(root);
    srcfind_catalogue_destroy(c);
}

static void columns(void **state) {
    struct srcfind_catalogue *c = catalogue_of(1, "image.fits");
    cJSON *root = read_catalogue(c);
    const cJSON *column = at(root, "columns")->child;
    (void)state;
    for (int i = 0; i < N_CELLS; i++, column = column->next) {
        assert_text(column, "name", cells[i].name);
        assert_true(cJSON_IsString(at(column, "ucd")) && cJSON_IsString(at(column, "description")));
    }
    assert_null(column);
    const cJSON *first = at(root, "columns")->child;
    assert_true(cJSON_IsNull(at(first, "unit")));
    assert_text(first->next->next->next->next->next, "unit", "deg");
    cJSON_Delete(root);
    srcfind_catalogue_destroy(c);
}

/* Each row has all columns in their order, the same doubles, and null for what does not apply. */
static void random_rows(void **state) {
    enum { N = 2000 };
    struct srcfind_catalogue *c = catalogue_of(N, "image.fits");
    cJSON *root = read_catalogue(c);
    const cJSON *row = at(root, "sources")->child;
    (void)state;
    for (int k = 0; k < N; k++, row = row->next) {
        const cJSON *cell = row->child;
        for (int i = 0; i < N_CELLS; i++, cell = cell->next) {
            int64_t integer;
            double real;
            memcpy(&integer, cell_of(&result_of(c)->sources.rows[k], i), sizeof integer);
            memcpy(&real, &integer, sizeof real);
            if (cells[i].kind == 'i')
                real = (double)integer;
            assert_string_equal(cell->string, cells[i].name);
            const char *text = cell_of(&result_of(c)->sources.rows[k], i);
            const bool is_empty = cells[i].kind == 't'   ? !*text
                                  : cells[i].kind == 'i' ? integer == SRCFIND_EMPTY
                                                         : !isfinite(real);
            if (cells[i].kind == 't' && *text)
                assert_string_equal(cell->valuestring, text);
            else if (is_empty)
                assert_true(cJSON_IsNull(cell));
            else
                assert_true(cJSON_IsNumber(cell) && cell->valuedouble == real);
        }
        assert_null(cell);
    }
    assert_null(row);
    cJSON_Delete(root);
    srcfind_catalogue_destroy(c);
}

static void threads(void **state) {
    (void)state;
    assert_same_on_threads(&json_writer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(described_image), cmocka_unit_test(paths),
        cmocka_unit_test(empty_catalogue), cmocka_unit_test(columns),
        cmocka_unit_test(random_rows),     cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
