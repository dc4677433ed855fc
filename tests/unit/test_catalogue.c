/* The public calls about catalogues: columns, rows, formats, files; and cells as text. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalogues.h"
#include "temporary.h"

static int cell_of_row(const struct srcfind_source *row, const struct column *column, char *text) {
    const struct rows rows = rows_of_sources(row, 1);
    return cell_print(&rows, 0, column, text);
}

/* Every member of a row has its own column, under its name. */
static void cells_of_a_row(void **state) {
    struct srcfind_catalogue *c = catalogue_of(1, "");
    struct srcfind_source *row = result_of(c)->sources.rows;
    (void)state;
    assert_int_equal(c->table.columns.n, N_CELLS);
    strcpy(row->name, "a name");
    strcpy(row->s_code, "S");
    for (int i = 0; i < N_CELLS; i++) {
        const int64_t integer = 100 + i;
        const double real = 100.5 + i;
        if (cells[i].kind != 't')
            memcpy(cell_of(row, i), cells[i].kind == 'i' ? (const void *)&integer : &real, 8);
    }
    for (int i = 0; i < N_CELLS; i++) {
        char text[CELL_TEXT], expected[CELL_TEXT];
        strcpy(expected, i == 2 ? "a name" : "S");
        if (cells[i].kind != 't')
            snprintf(expected, sizeof expected, cells[i].kind == 'i' ? "%d" : "%d.5", 100 + i);
        assert_int_equal(cell_of_row(row, &c->table.columns.column[i], text), strlen(expected));
        assert_string_equal(text, expected);
        assert_string_equal(srcfind_catalogue_column(c, i)->name, cells[i].name);
        assert_int_equal(srcfind_catalogue_column(c, i)->kind, cells[i].kind == 't' ? SRCFIND_STRING
                                                               : cells[i].kind == 'i'
                                                                   ? SRCFIND_INTEGER
                                                                   : SRCFIND_REAL);
    }
    assert_null(srcfind_catalogue_column(c, -1));
    assert_null(srcfind_catalogue_column(c, N_CELLS));
    assert_null(srcfind_catalogue_column(c, INT_MAX));
    srcfind_catalogue_destroy(c);
}

/* What does not apply is empty; the longest numbers fit. */
static void extreme_cells(void **state) {
    static const double empty[] = {NAN, -NAN, INFINITY, -INFINITY};
    struct srcfind_source row = {
        .id = INT64_MIN + 1, .lon = -2.2250738585072014e-308, .n_pixels = SRCFIND_EMPTY};
    struct srcfind_catalogue *c = catalogue_of(0, "");
    const struct column *lon = &c->table.columns.column[column_called("RA")];
    const struct column *n_pixels = &c->table.columns.column[column_called("N_pix")];
    char text[CELL_TEXT];
    (void)state;
    assert_int_equal(cell_of_row(&row, &c->table.columns.column[0], text), 20);
    assert_string_equal(text, "-9223372036854775807");
    assert_int_equal(cell_of_row(&row, &c->table.columns.column[2], text), 0);
    assert_string_equal(text, "");
    assert_int_equal(cell_of_row(&row, lon, text), 24);
    assert_string_equal(text, "-2.2250738585072014e-308");
    for (int i = 0; i < 4; i++) {
        row.lon = empty[i];
        strcpy(text, "old");
        assert_int_equal(cell_of_row(&row, lon, text), 0);
        assert_string_equal(text, "");
    }
    strcpy(text, "old");
    assert_int_equal(cell_of_row(&row, n_pixels, text), 0);
    assert_string_equal(text, "");
    srcfind_catalogue_destroy(c);
}

/* Which columns there are, and which integers may be empty, follows the options. */
static void columns_of_options(void **state) {
    static const struct {
        const char *name, *value, *other; /* the options; other: --fit or "" */
        bool deblended, fitted, empty;
    } known[] = {
        {"kappa", "3", "", false, false, false},   {"deblend", "yes", "", true, false, false},
        {"contrast", "2", "", true, false, false}, {"fit", "yes", "", true, true, true},
        {"at", "c.csv", "", false, false, true},   {"at", "c.csv", "fit", false, true, true},
        {"shapes", "auto", "", true, true, true},  {"shapes", "free", "", true, true, true},
    };
    static const char *const optional = "N_Gaus Xpeak Ypeak N_pix X_min X_max Y_min Y_max";
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        struct srcfind_catalogue *c = catalogue_of(0, "");
        struct error error;
        int n = 0;
        options_default(&result_of(c)->options);
        result_of(c)->options.fit = *known[k].other;
        assert_int_equal(options_set(&result_of(c)->options, known[k].name, known[k].value, &error),
                         0);
        catalogue_complete(c);
        for (int i = 0; i < N_CELLS; i++) {
            if (strcmp(cells[i].name, "Source_Name") == 0 && strcmp(known[k].name, "at") == 0)
                assert_string_equal(srcfind_catalogue_column(c, n++)->name, "Entry_id");
            if (strcmp(cells[i].name, "Flags") == 0 && strcmp(known[k].name, "at") == 0 &&
                known[k].fitted)
                assert_string_equal(srcfind_catalogue_column(c, n++)->name, "Blend");
            if ((cells[i].when == 'd' && !known[k].deblended) ||
                (cells[i].when == 'f' && !known[k].fitted))
                continue;
            assert_string_equal(srcfind_catalogue_column(c, n)->name, cells[i].name);
            assert_int_equal(c->table.columns.column[n].may_be_empty,
                             known[k].empty && strstr(optional, cells[i].name));
            n++;
        }
        assert_int_equal(c->table.columns.n, n);
        assert_null(srcfind_catalogue_column(c, n));
        srcfind_catalogue_destroy(c);
    }
}

/* A column in an array has the cells of the rows; what does not apply is NaN, SRCFIND_EMPTY or "".
 */
static void cells_of_a_column(void **state) {
    enum { N = 700 };
    static char array[N + 1][SRCFIND_CELL];
    struct srcfind_catalogue *c = catalogue_of(N, "");
    (void)state;
    result_of(c)->sources.rows[5].lon = INFINITY;
    for (int i = 0; i < N_CELLS; i++) {
        const size_t size = cells[i].kind == 't' ? SRCFIND_CELL : 8;
        const char *at = array[0];
        memset(array, 'x', sizeof array);
        srcfind_catalogue_cells(c, i, array);
        for (int k = 0; k < N; k++, at += size) {
            const char *cell = cell_of(&result_of(c)->sources.rows[k], i);
            char expected[SRCFIND_CELL] = "";
            double real;
            memcpy(&real, cell, sizeof real);
            memcpy(expected, cell, cells[i].kind == 't' ? strlen(cell) : size);
            if (cells[i].kind == 'r' && !isfinite(real)) {
                memcpy(&real, at, sizeof real);
                assert_true(isnan(real));
            } else {
                assert_memory_equal(at, expected, size);
            }
        }
        assert_int_equal(*at, 'x'); /* nothing is written behind the last one */
    }
    srcfind_catalogue_destroy(c);
}

/* Columns of the sky are named after the longitude; units follow the image. */
static void names_and_units(void **state) {
    static const char *const known[][7] = {
        {"RA", "RA", "DEC", "E_RA", "E_DEC", "RA_max", "DEC_max"},
        {"", "RA", "DEC", "E_RA", "E_DEC", "RA_max", "DEC_max"},
        {"GLON", "GLON", "GLAT", "E_GLON", "E_GLAT", "GLON_max", "GLAT_max"},
        {"ELON", "ELON", "ELAT", "E_ELON", "E_ELAT", "ELON_max", "ELAT_max"},
        {"SLON", "SLON", "SLAT", "E_SLON", "E_SLAT", "SLON_max", "SLAT_max"},
        {"HPLN", "LON", "LAT", "E_LON", "E_LAT", "LON_max", "LAT_max"},
        {"\"LON", "LON", "LAT", "E_LON", "E_LAT", "LON_max", "LAT_max"},
    };
    const int first = column_called("RA");
    struct srcfind_catalogue *c = catalogue_of(0, "");
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        strcpy(result_of(c)->image.lon_name, known[i][0]);
        catalogue_complete(c);
        for (int j = 0; j < N_CELLS; j++)
            assert_string_equal(srcfind_catalogue_column(c, j)->name, j >= first && j < first + 6
                                                                          ? known[i][1 + j - first]
                                                                          : cells[j].name);
    }
    for (int j = 0; j < N_CELLS; j++) { /* those of fluxes, of the map, and without a unit */
        const struct srcfind_column *column = srcfind_catalogue_column(c, j);
        const bool is_flux = strstr(column->name, "Total_"),
                   is_map = strstr(column->name, "Peak_flux") || strstr(column->name, "Isl_r") ||
                            strstr(column->name, "Isl_m") || strstr(column->name, "Pixel_s");
        assert_true(*column->ucd && *column->description);
        if (column->unit)
            assert_string_equal(column->vounit,
                                strcmp(column->unit, "pix") ? column->unit : "pixel");
        if (is_flux)
            assert_string_equal(column->unit, "Jy");
        else if (is_map)
            assert_string_equal(column->unit, "mJy/beam");
        else
            assert_true(!column->unit || !strcmp(column->unit, "deg") ||
                        !strcmp(column->unit, "pix"));
    }
    *result_of(c)->image.unit = *result_of(c)->image.flux_unit = '\0';
    catalogue_complete(c);
    assert_null(srcfind_catalogue_column(c, column_called("Total_flux"))->unit);
    assert_null(srcfind_catalogue_column(c, column_called("Total_flux"))->vounit);
    assert_null(srcfind_catalogue_column(c, column_called("Peak_flux"))->unit);
    assert_string_equal(srcfind_catalogue_column(c, first)->unit, "deg");
    srcfind_catalogue_destroy(c);
}

static void doors(void **state) {
    struct srcfind_catalogue *c = catalogue_of(700, "image.fits");
    (void)state;
    assert_int_equal(srcfind_catalogue_size(c), 700);
    assert_ptr_equal(srcfind_catalogue_source(c, 699), &result_of(c)->sources.rows[699]);
    assert_string_equal(srcfind_catalogue_image(c)->path, "image.fits");
    assert_ptr_equal(srcfind_catalogue_background(c), &result_of(c)->background);
    assert_ptr_equal(srcfind_catalogue_run(c), &result_of(c)->run);
    assert_ptr_equal(srcfind_catalogue_timings(c), &result_of(c)->timings);
    srcfind_catalogue_destroy(c);
    srcfind_catalogue_destroy(NULL);
    assert_string_equal(srcfind_format(0)->name, "csv");
    assert_string_equal(srcfind_format(0)->suffixes[0], ".csv");
    assert_string_equal(srcfind_format(1)->name, "json");
    assert_null(srcfind_format(-1));
    assert_string_equal(srcfind_format(n_writers - 1)->name, "table");
    assert_null(srcfind_format(n_writers));
    assert_ptr_equal(srcfind_format_of("a/b.fits.JSON"), srcfind_format(1));
    assert_ptr_equal(srcfind_format_of("b.csv.gz"), srcfind_format(0));
    assert_null(srcfind_format_of("csv"));
    assert_null(srcfind_format_of("b.csv.txz"));
}

/* --- files --- */

/* A file's text, to be freed; NULL where there is no file. */
static char *text_at(const char *path) {
    FILE *stream = fopen(path, "r");
    char *text = stream ? calloc(1 << 20, 1) : NULL;
    if (text)
        assert_in_range(fread(text, 1, 1 << 20, stream), 1, (1 << 20) - 1);
    if (stream)
        fclose(stream);
    return text;
}

/* A saved file has the bytes of a stream, whatever stood there, and a link stays one. */
static void saved_files(void **state) {
    struct srcfind_catalogue *c = catalogue_of(600, "image.fits");
    struct srcfind *finder;
    char directory[TEMPORARY_PATH], path[300], link[300], to[64];
    (void)state;
    assert_true(temporary_directory(directory));
    snprintf(path, sizeof path, "%s/a.csv", directory);
    snprintf(link, sizeof link, "%s/b.csv", directory);
    assert_int_equal(symlink("a.csv", link), 0);
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    for (int i = 0; i < 4; i++) {
        const struct writer *writer = i % 2 ? &json_writer : &csv_writer;
        assert_int_equal(
            srcfind_catalogue_save(finder, c, i % 2 ? "Json" : NULL, i < 2 ? path : link),
            SRCFIND_OK);
        char *expected = text_of(writer, c, NULL), *text = text_at(path);
        assert_string_equal(text, expected);
        assert_true(save_is_whole(writer, NULL, path) && readlink(link, to, sizeof to) == 5);
        assert_int_equal(truncate(path, (off_t)strlen(text) - 1), 0);
        assert_false(save_is_whole(writer, NULL, path));
        free(expected);
        free(text);
    }
    unlink(link);
    unlink(path);
    assert_int_equal(rmdir(directory), 0); /* nothing else was left there */
    assert_int_equal(srcfind_catalogue_save(finder, c, "csv", path), SRCFIND_ERROR_OUTPUT);
    assert_non_null(strstr(srcfind_message(finder), path));
    assert_non_null(strstr(srcfind_message(finder), strerror(ENOENT)));
    srcfind_destroy(finder);
    srcfind_catalogue_destroy(c);
}

/* A stream is flushed and stays open; one that cannot be written to, and a format that there is
 * not, are errors with a message. */
static void streams(void **state) {
    struct srcfind_catalogue *c = catalogue_of(1, "image.fits");
    struct srcfind *finder;
    char byte, *text = NULL;
    size_t size = 0;
    FILE *file = tmpfile(), *memory = open_memstream(&text, &size),
         *closed = fopen("/dev/null", "r");
    (void)state;
    assert_int_equal(srcfind_create(NULL, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_catalogue_write(finder, c, "CSV", file), SRCFIND_OK);
    assert_true(pread(fileno(file), &byte, 1, 0) == 1 && byte == 'S');
    assert_true(fputs("more", file) >= 0);
    assert_int_equal(srcfind_catalogue_write(finder, c, "xls", memory), SRCFIND_ERROR_OPTIONS);
    assert_string_equal(srcfind_message(finder), "format: there is no format xls");
    assert_int_equal(srcfind_catalogue_save(finder, c, "", "/nowhere"), SRCFIND_ERROR_OPTIONS);
    fflush(memory);
    assert_int_equal(size, 0);
    for (int i = 0; srcfind_format(i); i++) {
        const enum srcfind_status status =
            srcfind_catalogue_write(finder, c, srcfind_format(i)->name, closed);
        const bool is_model =
            writers[i]->is_sky_model; /* of which this image lacks the frequency */
        const char *words = is_model ? "format" : "stream: the catalogue cannot be written";
        assert_true(is_model ? status < SRCFIND_ERROR_OUTPUT : status == SRCFIND_ERROR_OUTPUT);
        assert_true(status > SRCFIND_OK && strstr(srcfind_message(finder), words));
    }
    fclose(file);
    fclose(memory);
    fclose(closed);
    free(text);
    srcfind_destroy(finder);
    srcfind_catalogue_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_a_row),     cmocka_unit_test(extreme_cells),
        cmocka_unit_test(columns_of_options), cmocka_unit_test(cells_of_a_column),
        cmocka_unit_test(names_and_units),    cmocka_unit_test(doors),
        cmocka_unit_test(saved_files),        cmocka_unit_test(streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
