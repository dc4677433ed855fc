#include "input/position_shapes.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "common/ascii.h"
#include "input/tables/text_file.h"

enum { MAJOR, MINOR, ANGLE, PSF_MAJOR, PSF_MINOR, PSF_ANGLE, COLUMNS };

/* The names of columns of each kind, and the unit of the axes if the table has none. */
static const struct {
    const char *names[COLUMNS]; /* NULL: not there */
    double degrees;
} kinds[] = {
    {{"DC_Maj", "DC_Min", "DC_PA", NULL, NULL, NULL}, 1},
    {{"a", "b", "pa", "psf_a", "psf_b", "psf_pa"}, 1 / 3600.0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct {
    const char *name;
    double degrees;
} units[] = {{"deg", 1},           {"degree", 1},          {"degrees", 1},
             {"arcmin", 1 / 60.0}, {"arcsec", 1 / 3600.0}, {"mas", 1 / 3.6e6}};

bool position_shapes_use(const char *name) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < COLUMNS; i++)
            if (kinds[kind].names[i] && ascii_same(name, kinds[kind].names[i]))
                return true;
    return false;
}

/* Finds the columns of a kind. False if one is not there. */
static bool find_columns(const struct table_file *table, int kind,
                         const struct table_file_column **columns) {
    for (int i = 0; i < COLUMNS; i++) {
        const char *name = kinds[kind].names[i];
        columns[i] = name ? table_file_column(table, name) : NULL;
        if (name && !columns[i])
            return false;
    }
    return true;
}

/* Sets the degrees of a column's unit. */
static enum srcfind_status find_unit(const char *path, const struct table_file_column *column,
                                     double otherwise, double *degrees, struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    *degrees = otherwise;
    if (!*column->unit)
        return SRCFIND_OK;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        *degrees = units[i].degrees;
        if (ascii_same(column->unit, units[i].name))
            return SRCFIND_OK;
    }
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the unit of %s is %s: convert the column to arcsec or degrees, or leave "
                     "it out, and the beam is held",
                     path, column->name,
                     text_file_quote(column->unit, strlen(column->unit), quote));
}

static double cell(const struct table_file_column *column, int64_t row, double degrees) {
    return column ? table_file_real(column, row) * degrees : 0;
}

enum srcfind_status position_shapes_read(const char *path, const struct table_file *table,
                                         struct position_shape **shapes, struct error *error) {
    const struct table_file_column *c[COLUMNS];
    double degrees[COLUMNS] = {0};
    enum srcfind_status status = SRCFIND_OK;
    int kind = 0;
    *shapes = NULL;
    while (kind < KINDS && !find_columns(table, kind, c))
        kind++;
    if (kind == KINDS)
        return SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < COLUMNS; i++)
        if (c[i])
            status = find_unit(path, c[i], i % PSF_MAJOR == ANGLE ? 1 : kinds[kind].degrees,
                               &degrees[i], error);
    if (status != SRCFIND_OK)
        return status;
    if (!(*shapes = arrays_allocate(table->n_rows, sizeof **shapes)))
        return error_memory(error, "reading a catalogue");
    for (int64_t row = 0; row < table->n_rows; row++) {
        double at[COLUMNS];
        for (int i = 0; i < COLUMNS; i++)
            at[i] = cell(c[i], row, degrees[i]);
        (*shapes)[row] = (struct position_shape){{at[MAJOR], at[MINOR], at[ANGLE]},
                                                 {at[PSF_MAJOR], at[PSF_MINOR], at[PSF_ANGLE]}};
    }
    return SRCFIND_OK;
}
