/* Catalogues of known rows, and what their columns are. */
#ifndef TEST_CATALOGUES_H
#define TEST_CATALOGUES_H

#include <stdio.h>
#include <stdlib.h>

#include "input/image.h"
#include "output/catalogue.h"
#include "output/save.h"
#include "output/write_table.h"
#include "unit.h"

#define CELL(name, member, kind, when)                                                             \
    { name, offsetof(struct srcfind_source, member), kind, when }

/* The columns in the order of srcfind(1), where in a row they stand, integers, reals, text, and
 * when they are there: always, with --deblend, with --fit. */
static const struct cell {
    const char *name;
    size_t offset;
    char kind, when;
} cells[] = {
    CELL("Source_id", id, 'i', 'a'),
    CELL("Isl_id", island_id, 'i', 'a'),
    CELL("Source_Name", name, 't', 'a'),
    CELL("S_Code", s_code, 't', 'd'),
    CELL("N_Gaus", n_gaussians, 'i', 'f'),
    CELL("RA", lon, 'r', 'a'),
    CELL("DEC", lat, 'r', 'a'),
    CELL("E_RA", e_lon, 'r', 'a'),
    CELL("E_DEC", e_lat, 'r', 'a'),
    CELL("RA_max", lon_max, 'r', 'f'),
    CELL("DEC_max", lat_max, 'r', 'f'),
    CELL("Xposn", x, 'r', 'a'),
    CELL("Yposn", y, 'r', 'a'),
    CELL("E_Xposn", e_x, 'r', 'a'),
    CELL("E_Yposn", e_y, 'r', 'a'),
    CELL("Isl_Total_flux", isl_total_flux, 'r', 'a'),
    CELL("E_Isl_Total_flux", e_isl_total_flux, 'r', 'a'),
    CELL("Total_flux", total_flux, 'r', 'a'),
    CELL("E_Total_flux", e_total_flux, 'r', 'a'),
    CELL("E_Total_shape", e_total_shape, 'r', 'f'),
    CELL("Peak_flux", peak_flux, 'r', 'a'),
    CELL("E_Peak_flux", e_peak_flux, 'r', 'a'),
    CELL("Xpeak", x_peak, 'i', 'a'),
    CELL("Ypeak", y_peak, 'i', 'a'),
    CELL("Pixel_sum", pixel_sum, 'r', 'a'),
    CELL("N_pix", n_pixels, 'i', 'a'),
    CELL("X_min", x_min, 'i', 'a'),
    CELL("X_max", x_max, 'i', 'a'),
    CELL("Y_min", y_min, 'i', 'a'),
    CELL("Y_max", y_max, 'i', 'a'),
    CELL("Maj", major, 'r', 'a'),
    CELL("Min", minor, 'r', 'a'),
    CELL("PA", angle, 'r', 'a'),
    CELL("E_Maj", e_major, 'r', 'f'),
    CELL("E_Min", e_minor, 'r', 'f'),
    CELL("E_PA", e_angle, 'r', 'f'),
    CELL("DC_Maj", dc_major, 'r', 'f'),
    CELL("DC_Min", dc_minor, 'r', 'f'),
    CELL("DC_PA", dc_angle, 'r', 'f'),
    CELL("E_DC_Maj", e_dc_major, 'r', 'f'),
    CELL("E_DC_Min", e_dc_minor, 'r', 'f'),
    CELL("E_DC_PA", e_dc_angle, 'r', 'f'),
    CELL("Resid_Isl_rms", resid_isl_rms, 'r', 'f'),
    CELL("Resid_Isl_mean", resid_isl_mean, 'r', 'f'),
    CELL("Chi2", chi2, 'r', 'f'),
    CELL("Dof", dof, 'r', 'f'),
    CELL("Isl_rms", isl_rms, 'r', 'a'),
    CELL("Isl_mean", isl_mean, 'r', 'a'),
    CELL("SNR", snr, 'r', 'a'),
    CELL("Pix_SNR", pix_snr, 'r', 'f'),
    CELL("Hole", hole, 'r', 'f'),
    CELL("Flags", flags, 'i', 'a'),
};

enum { N_CELLS = sizeof cells / sizeof *cells };

/* The index of a column, which there must be. */
static inline int column_called(const char *name) {
    int i = 0;
    while (strcmp(cells[i].name, name) != 0)
        i++;
    return i;
}

static inline void *cell_of(struct srcfind_source *source, int i) {
    return (char *)source + cells[i].offset;
}

/* The result of a catalogue, to be changed; catalogue_complete() then takes what columns need. */
static inline struct result *result_of(struct srcfind_catalogue *c) {
    return &c->all->result;
}

/* Rows of sources, as writers take them. */
static inline struct rows rows_of_sources(const struct srcfind_source *sources, int64_t n) {
    return (struct rows){.first = sources, .row_bytes = sizeof *sources, .n = n};
}

/* A catalogue of n rows with all columns, as of --fit: any doubles, of which some are not finite,
 * any integers up to 2^53, of which some are empty, and names; of an image whose path it takes. To
 * be destroyed. */
static inline struct srcfind_catalogue *catalogue_of(int n, const char *path) {
    struct srcfind_catalogue *c = catalogue_create();
    struct result *result = result_of(c);
    struct random r = {(uint64_t)n + 1};
    result->image = image_empty_metadata();
    result->image.path = strdup(path);
    strcpy(result->image.lon_name, "RA");
    strcpy(result->image.unit, "mJy/beam");
    strcpy(result->image.flux_unit, "Jy");
    options_default(&result->options);
    result->options.fit = true;
    struct srcfind_source *rows = calloc((size_t)n + 1, sizeof *rows);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < N_CELLS; i++) {
            const uint64_t bits = random_bits(&r);
            const int64_t integer = (int64_t)bits >> 10;
            if (cells[i].kind != 't')
                memcpy(cell_of(&rows[k], i), cells[i].kind == 'r' ? (const void *)&bits : &integer,
                       8);
        }
        rows[k].n_pixels = k % 5 ? k : SRCFIND_EMPTY;
        strcpy(rows[k].s_code, k % 2 ? "S" : "C");
        rows[k].e_lat = k % 3 ? NAN : random_unit(&r);
        if (k % 4)
            snprintf(rows[k].name, sizeof rows[k].name, "J%06d.00+000000.0", k);
    }
    result->sources.rows = rows;
    result->sources.n = n;
    catalogue_complete(c);
    return c;
}

/* What a format makes of a catalogue on some threads, of *size bytes; to be freed. */
static inline char *bytes_of(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                             struct threads *threads, size_t *size) {
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, size);
    assert_true(table_write(writer, &catalogue->table, threads, stream, false));
    fclose(stream);
    return bytes;
}

/* The same of a format of text. */
static inline char *text_of(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                            struct threads *threads) {
    size_t size;
    char *text = bytes_of(writer, catalogue, threads, &size);
    assert_int_equal(strlen(text), size);
    return text;
}

/* Around the number of rows that a thread formats at a time, and many. */
static const int row_counts[] = {0, 1, 511, 512, 513, 1024, 5000};

enum { ROW_COUNTS = sizeof row_counts / sizeof *row_counts };

/* Several threads make the bytes that one makes. */
static inline void assert_same_on_threads(const struct writer *writer) {
    for (int i = 0; i < ROW_COUNTS; i++) {
        struct srcfind_catalogue *c = catalogue_of(row_counts[i], "image.fits");
        size_t size, expected_size;
        char *expected = bytes_of(writer, c, NULL, &expected_size);
        for (int n = 1; n <= 7; n += 3) {
            char *bytes = bytes_of(writer, c, unit_threads(n), &size);
            assert_int_equal(size, expected_size);
            assert_memory_equal(bytes, expected, size);
            free(bytes);
        }
        free(expected);
        srcfind_catalogue_destroy(c);
    }
}

#endif
