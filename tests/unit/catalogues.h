/* Catalogues of known rows, and what their columns are. */
#ifndef TEST_CATALOGUES_H
#define TEST_CATALOGUES_H

#include <stdio.h>
#include <stdlib.h>

#include "input/image.h"
#include "output/catalogue.h"
#include "output/save.h"
#include "unit.h"

#define CELL(name, member, kind)                                                                   \
    { name, offsetof(struct srcfind_source, member), kind }

/* The columns in the order of srcfind(1), and where in a row they stand: integers, reals, text. */
static const struct cell {
    const char *name;
    size_t offset;
    char kind;
} cells[] = {
    CELL("Source_id", id, 'i'),
    CELL("Isl_id", island_id, 'i'),
    CELL("Source_Name", name, 't'),
    CELL("RA", lon, 'r'),
    CELL("DEC", lat, 'r'),
    CELL("E_RA", e_lon, 'r'),
    CELL("E_DEC", e_lat, 'r'),
    CELL("Xposn", x, 'r'),
    CELL("Yposn", y, 'r'),
    CELL("E_Xposn", e_x, 'r'),
    CELL("E_Yposn", e_y, 'r'),
    CELL("Isl_Total_flux", isl_total_flux, 'r'),
    CELL("E_Isl_Total_flux", e_isl_total_flux, 'r'),
    CELL("Total_flux", total_flux, 'r'),
    CELL("E_Total_flux", e_total_flux, 'r'),
    CELL("Peak_flux", peak_flux, 'r'),
    CELL("E_Peak_flux", e_peak_flux, 'r'),
    CELL("Xpeak", x_peak, 'i'),
    CELL("Ypeak", y_peak, 'i'),
    CELL("Pixel_sum", pixel_sum, 'r'),
    CELL("N_pix", n_pixels, 'i'),
    CELL("X_min", x_min, 'i'),
    CELL("X_max", x_max, 'i'),
    CELL("Y_min", y_min, 'i'),
    CELL("Y_max", y_max, 'i'),
    CELL("Maj", major, 'r'),
    CELL("Min", minor, 'r'),
    CELL("PA", angle, 'r'),
    CELL("Isl_rms", isl_rms, 'r'),
    CELL("Isl_mean", isl_mean, 'r'),
    CELL("SNR", snr, 'r'),
    CELL("Flags", flags, 'i'),
};

enum { N_CELLS = sizeof cells / sizeof *cells };

static inline void *cell_of(struct srcfind_source *source, int i) {
    return (char *)source + cells[i].offset;
}

/* A catalogue of n rows with any doubles, of which some are not finite, any integers up to 2^53,
 * and names; of an image whose path it takes. To be destroyed. */
static inline struct srcfind_catalogue *catalogue_of(int n, const char *path) {
    struct srcfind_catalogue *c = calloc(1, sizeof *c);
    struct random r = {(uint64_t)n + 1};
    c->image = image_empty_metadata();
    c->image.path = strdup(path);
    strcpy(c->image.lon_name, "RA");
    strcpy(c->image.unit, "mJy/beam");
    strcpy(c->image.flux_unit, "Jy");
    options_default(&c->options);
    catalogue_name_columns(c);
    c->n_sources = n;
    c->sources = calloc((size_t)n + 1, sizeof *c->sources);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < N_CELLS; i++) {
            const uint64_t bits = random_bits(&r);
            const int64_t integer = (int64_t)bits >> 10;
            if (cells[i].kind != 't')
                memcpy(cell_of(&c->sources[k], i),
                       cells[i].kind == 'r' ? (const void *)&bits : &integer, 8);
        }
        c->sources[k].e_lat = k % 3 ? NAN : random_unit(&r);
        if (k % 4)
            snprintf(c->sources[k].name, sizeof c->sources[k].name, "J%06d.00+000000.0", k);
    }
    return c;
}

/* What a format makes of a catalogue on some threads, of *size bytes; to be freed. */
static inline char *bytes_of(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                             struct threads *threads, size_t *size) {
    char *bytes = NULL;
    FILE *stream = open_memstream(&bytes, size);
    assert_true(writer_write(writer, catalogue, threads, stream, false));
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
