/* A catalogue: the results of an image, the columns, and the cells as text. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "backend/gaussian.h"
#include "backend/noise_map.h"
#include "input/blanks.h"
#include "input/fits/file.h"
#include "measure/at_rows.h"
#include "measure/injection.h"
#include "measure/labels.h"
#include "options/options.h"
#include "output/bin_table.h"
#include "output/plane_table.h"

struct selected;

enum { CELL_TEXT = 64, MOST_COLUMNS = 64 };

/* The value of a cell, by its kind. A text belongs to the rows or to the column. */
union cell_value {
    int64_t integer;
    double real;
    const char *text;
};

/* A column of a catalogue, and where its cells are. */
struct column {
    struct srcfind_column shown;
    size_t offset, width;   /* of a cell in its row: 8 bytes, or the longest text */
    bool may_be_empty;      /* integers: some may be SRCFIND_EMPTY */
    bool of_image;          /* its cells are those of the images of rows: see struct row_image */
    double factor, divisor; /* reals are multiplied or divided by it; 0: they are not */
    const union cell_value *constant; /* of all rows; NULL: the rows have the values */
};

/* Whether its cells are texts that may have any length, and need quotes. */
static inline bool column_is_free_text(const struct column *column) {
    return (column->of_image || column->constant) && column->shown.kind == SRCFIND_STRING;
}

/* What rows of a merged catalogue tell of their image: UTF-8 without control characters. A column
 * of_image has the offset of a member. */
struct row_image {
    char *path, *date_obs;
    char *plane;      /* of several, as --plane has it; NULL: none is chosen */
    double frequency; /* Hz */
};

/* Rows of a catalogue, as writers take them. */
struct rows {
    const void *first; /* struct srcfind_source; of tables of planes and bins, their own */
    size_t row_bytes;  /* of one of these */
    const struct row_image *const *images; /* of each row; NULL if they have none */
    int64_t n;
    bool are_last;
};

/* Rows that are sources. */
static inline struct rows rows_of_sources(const struct srcfind_source *sources, int64_t n) {
    return (struct rows){.first = sources, .row_bytes = sizeof *sources, .n = n};
}

static inline const struct srcfind_source *rows_source(const struct rows *rows, int64_t i) {
    return (const struct srcfind_source *)rows->first + i;
}

/* Rows that are not in memory, but where a merged catalogue keeps them, or that are put together
 * when they are written. */
struct row_store {
    void *context;
    size_t row_bytes;              /* of a row; see struct rows */
    size_t path_bytes, date_bytes; /* the longest texts of an image; 1 at least */
    size_t plane_bytes;            /* the same; 0: no image is a plane of several */
    /* Reads the rows from `first` on, as many as the arrays take. False with errno. Several threads
     * may call this at the same time. */
    bool (*read)(void *context, int64_t first, int64_t n, void *rows,
                 const struct row_image **images);
    /* Of a merged catalogue: writes the images as an array of JSON. False where memory ran out or
     * reading failed. */
    bool (*write_images)(void *context, FILE *stream);
};

/* Room for a row of a table of planes or bins. */
union stored_row {
    int64_t aligned;
    char bytes[256];
};

/* What the pixels of an image can be labelled by. */
enum label_kind { LABEL_ISLANDS, LABEL_SOURCES, LABEL_KINDS };

/* The catalogue of srcfind.h, where its members are private. */
struct srcfind_catalogue {
    struct srcfind_image image;
    struct srcfind_background background;
    struct srcfind_quality quality;
    char *notes;                      /* one after another, and an empty one; NULL: none */
    struct noise_map noise;           /* what maps of the image are made of */
    struct noise_map detection_noise; /* of the image for detection, if there is one */
    struct blanks *blanks; /* of the images and maps together; NULL: the image is alone */
    double footprint[8];   /* lon, lat of the four corners of the image, degrees; NaN: not known */
    char *header;          /* of the image, see header_lines; NULL: not known */
    struct fits_version version; /* of the image's file, when it was searched */
    bool on_device;              /* pixels in the memory of a device were searched */
    struct options options;
    int n_columns;
    struct column columns[MOST_COLUMNS]; /* their units point into `image` */
    int64_t n_sources, n_negative;       /* the negative ones are the last, and count as sources */
    struct entries_left_out left_out;    /* with the option at */
    struct srcfind_source *sources;
    const struct row_store *store; /* has the rows, where they are not in `sources`; else NULL */
    bool options_differ;           /* those of a merged catalogue, and so are not known */
    struct gaussian *gaussians;    /* with a fit, those of all sources, in their order */
    int64_t n_gaussians;
    struct srcfind_source *parts; /* rows of the Gaussians of sources that have several */
    int64_t n_parts;
    struct srcfind_catalogue *gaussian_rows;    /* see catalogue_gaussians; NULL: not made yet */
    const struct srcfind_catalogue *of_sources; /* of a table: the catalogue it is of; else NULL */
    const char *kind; /* of a table but that of Gaussians; else NULL: see catalogue_kind */
    struct injections injections; /* with the option completeness */
    double injected_area; /* over which they are spread: square degrees; pixels without sky */
    struct plane_table planes;
    struct plane_rows *plane_rows;     /* see catalogue_planes; NULL: not made yet */
    struct bin_rows *bins[BIN_TABLES]; /* see catalogue_bins; NULL: not made yet */
    struct selected *selected;         /* see srcfind_catalogue_select; NULL: none is made */
    bool has_chosen_columns;           /* it is the table of such a call */
    struct labels labels[LABEL_KINDS];
    unsigned has_labels; /* 1 << kind for those that were kept */
    struct srcfind_timings timings;
    struct srcfind_run run;
};

/* Frees what a catalogue owns. */
void catalogue_clear(struct srcfind_catalogue *catalogue);

/* The Gaussians of a catalogue of sources, in their order, which are *n; to be freed. NULL where
 * memory ran out. */
struct srcfind_source *catalogue_list_gaussians(const struct srcfind_catalogue *catalogue,
                                                int64_t *n);

/* Makes gaussian_rows, a catalogue whose rows are the Gaussians, of what this one has; its other
 * members are this one's, which must outlive it. NULL where memory ran out. */
const struct srcfind_catalogue *catalogue_gaussians(struct srcfind_catalogue *catalogue);

/* Note i (from 0) on what looks wrong; NULL after the last one. */
const char *catalogue_note(const struct srcfind_catalogue *catalogue, int i);

/* What its rows are: "sources", "gaussians", "planes", "completeness_bins", "reliability_bins" or
 * "injections". */
const char *catalogue_kind(const struct srcfind_catalogue *catalogue);

/* What messages call it: "catalogue", or "table" of what stands beside one. */
const char *catalogue_what(const struct srcfind_catalogue *catalogue);

/* Whether it is one of many images. */
bool catalogue_is_merged(const struct srcfind_catalogue *catalogue);

/* Chooses the columns by the catalogue's options, and names them for its image. */
void catalogue_name_columns(struct srcfind_catalogue *catalogue);

/* The unit of a column: its own, or that of the image where it is "map", "flux" or "size"; NULL for
 * none. */
const char *catalogue_unit(const char *unit, const struct srcfind_image *image);

/* Writes a cell as in a CSV file, "" if it does not apply, and returns the length. The capacity of
 * text is CELL_TEXT. Not for free texts; no other cell needs quotes in CSV. */
int catalogue_cell(const struct rows *rows, int64_t row, const struct column *column, char *text);

/* The value of a cell. */
union cell_value catalogue_value(const struct rows *rows, int64_t row, const struct column *column);

#endif
