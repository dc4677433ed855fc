/* A catalogue: the results of an image, the columns, and the cells as text. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include "backend/noise_map.h"
#include "input/fits/file.h"
#include "options/options.h"

enum { CELL_TEXT = 64, MOST_COLUMNS = 64 };

/* The catalogue of srcfind.h, where its members are private. */
struct srcfind_catalogue {
    struct srcfind_image image;
    struct srcfind_background background;
    struct srcfind_quality quality;
    struct noise_map noise;      /* what maps of the image are made of */
    struct fits_version version; /* of the image's file, when it was searched */
    bool on_device;              /* pixels in the memory of a device were searched */
    struct options options;
    struct srcfind_column columns[MOST_COLUMNS]; /* their units point into `image` */
    int64_t n_sources, n_negative; /* the negative ones are the last, and count as sources */
    struct srcfind_source *sources;
    struct srcfind_timings timings;
    struct srcfind_run run;
};

/* The number of columns. */
int catalogue_columns(void);

/* Sets the columns' names and units for the catalogue's image. */
void catalogue_name_columns(struct srcfind_catalogue *catalogue);

/* Writes column i of a source as in a CSV file, "" if it does not apply, and returns the length.
 * The capacity of text is CELL_TEXT. No cell needs quotes in CSV. */
int catalogue_cell(const struct srcfind_source *source, int i, char *text);

/* What the cells of column i are. */
enum srcfind_kind catalogue_kind(int i);

/* The value of a cell, by its kind. A text belongs to the source. */
union cell_value {
    int64_t integer;
    double real;
    const char *text;
};
union cell_value catalogue_value(const struct srcfind_source *source, int i);

#endif
