#include "input/position_shapes.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "common/ascii.h"
#include "input/tables/text_file.h"

/* Each shape has two axes and an angle: of the entry, of the beam in it, of the entry with it. */
enum {
    MAJOR,
    MINOR,
    ANGLE,
    PSF_MAJOR,
    PSF_MINOR,
    PSF_ANGLE,
    WHOLE_MAJOR,
    WHOLE_MINOR,
    WHOLE_ANGLE,
    COLUMNS
};
enum { OF_SHAPE = PSF_MAJOR };

static const double ARCSEC = 1 / 3600.0;

/* The names of columns of each kind, and the unit of the axes if the table has none. */
static const struct {
    const char *names[COLUMNS]; /* NULL: not there; those of the whole may be missing in a table */
    double degrees;
    bool of_models;   /* names that may be those of beams or of islands in other catalogues */
    bool needs_whole; /* those of the whole may not be missing */
} kinds[] = {
    {{"DC_Maj", "DC_Min", "DC_PA", NULL, NULL, NULL, "Maj", "Min", "PA"}, 1, false, false},
    {{"a", "b", "pa", "psf_a", "psf_b", "psf_pa", "a", "b", "pa"}, ARCSEC, false, false},
    {{"maj_axis_deconv", "min_axis_deconv", "pos_ang_deconv"}, ARCSEC, false, false},
    {{"Maj", "Min", "PA", NULL, NULL, NULL, "fMaj", "fMin", "fPA"}, ARCSEC, true, true}, /* FIRST */
    {{NULL, NULL, NULL, NULL, NULL, NULL, "Maj", "Min", "PA"}, 1, true, true},
    {{"b_maj", "b_min", "pa"}, ARCSEC, true, false},
    {{"BMAJ", "BMIN", "PA"}, ARCSEC, true, false},
    {{"size"}, ARCSEC, true, false},
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
        if (name && !columns[i] && (i < WHOLE_MAJOR || kinds[kind].needs_whole))
            return false;
    }
    return true;
}

/* Finds the first kind whose columns are there; KINDS: none. */
static int find_kind(const struct table_file *table, bool of_models,
                     const struct table_file_column **columns) {
    int kind = 0;
    while (kind < KINDS &&
           ((kinds[kind].of_models && !of_models) || !find_columns(table, kind, columns)))
        kind++;
    return kind;
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

/* A shape of a row, whose columns are three from `first` on. */
static struct srcfind_beam shape_of(const struct table_file_column *const *c, const double *degrees,
                                    int first, int64_t row) {
    double at[OF_SHAPE];
    for (int i = 0; i < OF_SHAPE; i++)
        at[i] = c[first + i] ? table_file_real(c[first + i], row) * degrees[first + i] : 0;
    return (struct srcfind_beam){at[MAJOR], c[first + MINOR] ? at[MINOR] : at[MAJOR], at[ANGLE]};
}

/* Sets the degrees of the units of all columns. Those of the whole do without a column whose unit
 * is no angle, unless the kind needs them. */
static enum srcfind_status find_units(const char *path, int kind,
                                      const struct table_file_column **c, double *degrees,
                                      struct error *error) {
    struct error ignored;
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < COLUMNS; i++) {
        const double otherwise = i % OF_SHAPE == ANGLE ? 1 : kinds[kind].degrees;
        if ((i < WHOLE_MAJOR || kinds[kind].needs_whole) && c[i])
            status = find_unit(path, c[i], otherwise, &degrees[i], error);
        else if (c[i] && find_unit(path, c[i], otherwise, &degrees[i], &ignored) != SRCFIND_OK)
            c[i] = NULL;
    }
    return status;
}

static struct told_shapes tell(const struct table_file *table, int kind) {
    if (kind == KINDS)
        return (struct told_shapes){.are_not_read = table_file_column(table, "Maj")};
    const char *const *names = kinds[kind].names;
    return (struct told_shapes){.major = names[MAJOR] ? names[MAJOR] : names[WHOLE_MAJOR],
                                .unit = kinds[kind].degrees == 1 ? "degrees" : "arcsec",
                                .are_whole = !names[MAJOR]};
}

enum srcfind_status position_shapes_read(const char *path, const struct table_file *table,
                                         bool of_models, struct position_shape **shapes,
                                         struct told_shapes *told, struct error *error) {
    static const struct srcfind_beam unknown = {NAN, NAN, NAN};
    const struct table_file_column *c[COLUMNS];
    double degrees[COLUMNS] = {0};
    *shapes = NULL;
    const int kind = find_kind(table, of_models, c);
    *told = tell(table, kind);
    if (kind == KINDS)
        return SRCFIND_OK;
    const enum srcfind_status status = find_units(path, kind, c, degrees, error);
    if (status != SRCFIND_OK)
        return status;
    if (!(*shapes = arrays_allocate(table->n_rows, sizeof **shapes)))
        return error_memory(error, "reading a catalogue");
    const bool has_whole = of_models && c[WHOLE_MAJOR] && c[WHOLE_MINOR] && c[WHOLE_ANGLE];
    for (int64_t row = 0; row < table->n_rows; row++)
        (*shapes)[row] = (struct position_shape){
            shape_of(c, degrees, MAJOR, row), shape_of(c, degrees, PSF_MAJOR, row),
            has_whole ? shape_of(c, degrees, WHOLE_MAJOR, row) : unknown};
    return SRCFIND_OK;
}
