#include "input/position_fluxes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/ascii.h"
#include "input/position_list.h"
#include "input/tables/text_file.h"
#include "input/units.h"

/* Names of columns, the first ones first, and their unit if the table tells none; NULL: that of the
 * image's fluxes. */
struct flux_name {
    const char *name, *unit;
};

/* srcfind and PyBDSF, Aegean, Selavy; then VizieR's of NVSS, FIRST, TGSS, LoTSS and RACS, whose
 * units are told; I: WSClean. */
static const struct flux_name totals[] = {
    {"Total_flux", NULL}, {"int_flux", NULL}, {"flux_int", "mJy"}, {"Flux", NULL},
    {"Stotal", "mJy"},    {"Stot", "mJy"},    {"SpeakTot", "mJy"}, {"Sint", "mJy"},
    {"Fint", "mJy"},      {"Ftot", "mJy"},    {"Sf", "mJy"},       {"S1.4", "mJy"},
    {"S_int", NULL},      {"I", NULL}};
static const struct flux_name peaks[] = {{"Peak_flux", NULL},
                                         {"flux_peak", "mJy/beam"},
                                         {"Speak", "mJy/beam"},
                                         {"Fpeak", "mJy/beam"},
                                         {"Fpk", "mJy/beam"}};
enum { TOTALS = sizeof totals / sizeof *totals, PEAKS = sizeof peaks / sizeof *peaks };

/* Of srcfind alone. */
static const char SCALE[] = "Scale", BENEATH[] = "Isl_mean", FLAGS[] = "Flags", CODE[] = "S_Code";

/* T-RECS (Bonaldi et al. 2019, MNRAS 482, 2) names fluxes in mJy by their frequency in MHz. */
static const char T_RECS_UNIT[] = "mJy";
static const double T_RECS_USUAL = 1400;

/* The frequency in MHz of a column of T-RECS; 0: it is none. */
static double t_recs_frequency(const char *name) {
    enum { MOST_DIGITS = 6 };
    int n = 0;
    double frequency = 0;
    for (; *name == 'I' && isdigit((unsigned char)name[1 + n]) && n < MOST_DIGITS; n++)
        frequency = 10 * frequency + (name[1 + n] - '0');
    return n > 0 && !name[1 + n] ? frequency : 0;
}

/* Whether the name of a column is one of these with a unit of fluxes behind it: Total_flux(mJy),
 * Total_flux [mJy], Total_flux_mJy. Texts have no other place for units. */
static bool split_unit(const char *column, const char *name, char unit[SRCFIND_TEXT]) {
    const size_t length = strlen(name);
    double factor;
    if (!ascii_same_start(column, name, length))
        return false;
    const char *begin = column + length;
    begin += strspn(begin, " ");
    const char close = *begin == '(' ? ')' : *begin == '[' ? ']' : '\0';
    const size_t rest = strlen(begin);
    if ((!close && *begin != '_') || rest < 2 || rest >= SRCFIND_TEXT ||
        (close && begin[rest - 1] != close))
        return false;
    snprintf(unit, SRCFIND_TEXT, "%.*s", (int)(rest - (close ? 2 : 1)), begin + 1);
    return units_conform(unit, "Jy", &factor) || units_conform(unit, "Jy/beam", &factor);
}

static bool is_among(const char *name, const struct flux_name *names, int n) {
    char unit[SRCFIND_TEXT];
    for (int i = 0; i < n; i++)
        if (ascii_same(name, names[i].name) || split_unit(name, names[i].name, unit))
            return true;
    return false;
}

bool position_fluxes_use(const char *name) {
    static const char *const own[] = {SCALE, BENEATH, FLAGS, CODE};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (ascii_same(name, own[i]))
            return true;
    return is_among(name, totals, TOTALS) || is_among(name, peaks, PEAKS) ||
           t_recs_frequency(name) > 0;
}

/* --- which column --- */

/* A column of fluxes, and what its unit is. */
struct flux_column {
    const struct table_file_column *column;
    char unit[SRCFIND_TEXT]; /* "": that of the image's fluxes */
    bool is_peak;
};

/* A column with the unit that the table tells, or else another one; NULL: the image's. */
static struct flux_column with_unit(const struct table_file_column *column, const char *otherwise,
                                    bool is_peak) {
    struct flux_column c = {.column = column, .is_peak = is_peak};
    snprintf(c.unit, sizeof c.unit, "%s",
             *column->unit ? column->unit
             : otherwise   ? otherwise
                           : "");
    return c;
}

static struct flux_column find_named(const struct table_file *table, const struct flux_name *names,
                                     int n, bool is_peak) {
    for (int i = 0; i < n; i++) {
        const struct table_file_column *column = table_file_column(table, names[i].name);
        if (column)
            return with_unit(column, names[i].unit, is_peak);
    }
    char unit[SRCFIND_TEXT];
    for (int k = 0; k < n * table->n_columns; k++) {
        const struct table_file_column *column = &table->columns[k % table->n_columns];
        if (split_unit(column->name, names[k / table->n_columns].name, unit))
            return with_unit(column, unit, is_peak);
    }
    return (struct flux_column){0};
}

/* The column of T-RECS whose frequency is nearest to that of the image. */
static struct flux_column find_t_recs(const struct table_file *table, double hertz) {
    const double wanted = hertz > 0 ? hertz / 1e6 : T_RECS_USUAL;
    struct flux_column found = {0};
    double least = INFINITY;
    for (int i = 0; i < table->n_columns; i++) {
        const struct table_file_column *column = &table->columns[i];
        const double frequency = t_recs_frequency(column->name);
        const double distance = frequency > 0 ? fabs(log(frequency / wanted)) : INFINITY;
        if (distance >= least)
            continue;
        least = distance;
        found = with_unit(column, T_RECS_UNIT, false);
    }
    return found;
}

static struct flux_column find_column(const struct table_file *table, double hertz) {
    struct flux_column found = find_named(table, totals, TOTALS, false);
    if (!found.column)
        found = find_t_recs(table, hertz);
    return found.column ? found : find_named(table, peaks, PEAKS, true);
}

static enum srcfind_status no_column(const char *path, struct error *error) {
    if (position_list_is(path))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: there is no column of fluxes: give a catalogue instead of a position",
                         path);
    char names[256] = "";
    size_t length = 0;
    for (int i = 0; i < TOTALS + PEAKS && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   i < TOTALS ? totals[i].name : peaks[i - TOTALS].name);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: there is no column of fluxes: none of %s (in Jy, or with a unit, as "
                     "Total_flux(mJy)), nor one of T-RECS as I1400: rename the column of total "
                     "fluxes to Total_flux",
                     path, names);
}

/* --- units --- */

/* The factor from a column of peaks to the flux of a point: peaks are in the unit of the map, or
 * per beam, which catalogues may leave out. */
static bool find_peak_factor(const char *unit, const struct flux_units *units, double *factor) {
    double map, jansky;
    if (!*unit)
        unit = units_conform("Jy", units->flux, &jansky) ? "Jy/beam" : units->map;
    if (strcmp(unit, units->map) == 0 || units_conform(unit, units->map, &map)) {
        *factor = units->per_peak * (strcmp(unit, units->map) == 0 ? 1 : map);
        return true;
    }
    if (!units_conform(unit, "Jy/beam", &map) && !units_conform(unit, "Jy", &map))
        return false;
    *factor = map * (units_conform("Jy", units->flux, &jansky) ? jansky : (double)NAN);
    return isfinite(*factor);
}

static bool find_total_factor(const char *unit, const struct flux_units *units, double *factor) {
    *factor = 1;
    return !*unit || strcmp(unit, units->flux) == 0 || units_conform(unit, units->flux, factor);
}

static enum srcfind_status find_factor(const char *path, const struct flux_column *c,
                                       const struct flux_units *units, double *factor,
                                       struct error *error) {
    char quote[TEXT_FILE_QUOTE];
    const char *wanted = c->is_peak ? units->map : units->flux;
    if (c->is_peak ? find_peak_factor(c->unit, units, factor)
                   : find_total_factor(c->unit, units, factor))
        return SRCFIND_OK;
    return error_set(
        error, SRCFIND_ERROR_INPUT,
        "%s: the unit of %s is %s, but the fluxes of this image %s%s: convert the column", path,
        c->column->name, text_file_quote(c->unit, strlen(c->unit), quote),
        *wanted ? "are in " : "have no unit (write BUNIT to its header)", wanted);
}

/* --- cells --- */

/* The columns that srcfind's catalogues have beside fluxes; NULL: they are not there. */
struct own_columns {
    const struct table_file_column *scale, *beneath, *flags, *code, *x, *y;
    double beneath_factor;
};

/* Other programs have a column `flags`, too: S_Code is beside srcfind's. */
static struct own_columns find_own(const struct table_file *table, const struct flux_units *units) {
    struct own_columns own = {.scale = table_file_column(table, SCALE),
                              .beneath = table_file_column(table, BENEATH),
                              .flags = table_file_column(table, FLAGS),
                              .code = table_file_column(table, CODE),
                              .x = table_file_column(table, "Xposn"),
                              .y = table_file_column(table, "Yposn"),
                              .beneath_factor = 1};
    if (own.flags &&
        (own.flags->kind != SRCFIND_INTEGER || strcmp(own.flags->name, FLAGS) != 0 || !own.code))
        own.flags = NULL;
    if (own.code && (own.code->kind != SRCFIND_STRING || table_file_column(table, "Gaus_id")))
        own.code = NULL;
    if (own.beneath && *own.beneath->unit && strcmp(own.beneath->unit, units->map) != 0 &&
        !units_conform(own.beneath->unit, units->map, &own.beneath_factor))
        own.beneath = NULL;
    return own;
}

static struct position_flux read_row(const struct flux_column *c, double factor,
                                     const struct own_columns *own, int64_t row) {
    const double flux = table_file_real(c->column, row) * factor;
    const double scale = own->scale ? table_file_real(own->scale, row) : 0;
    const int64_t flags = own->flags ? own->flags->integers[row] : 0;
    const bool is_of_scale = scale > 0 && own->beneath;
    return (struct position_flux){
        .total = !c->is_peak && isfinite(flux) ? flux : (double)NAN,
        .of_point = c->is_peak && isfinite(flux) ? flux : (double)NAN,
        .scale = is_of_scale ? scale : 0,
        .beneath =
            is_of_scale ? table_file_real(own->beneath, row) * own->beneath_factor : (double)NAN,
        .x = own->x ? table_file_real(own->x, row) : (double)NAN,
        .y = own->y ? table_file_real(own->y, row) : (double)NAN,
        .is_unfitted = flags != INT64_MIN && (flags & SRCFIND_FLAG_NOT_FITTED),
        .is_sum = own->code && strcmp(table_file_text(own->code, row), "M") == 0};
}

enum srcfind_status position_fluxes_read(const char *path, const struct table_file *table,
                                         const struct flux_units *units,
                                         struct position_flux **fluxes, struct error *error) {
    const struct flux_column c = find_column(table, units->frequency);
    double factor;
    *fluxes = NULL;
    if (!c.column)
        return no_column(path, error);
    const enum srcfind_status status = find_factor(path, &c, units, &factor, error);
    if (status != SRCFIND_OK)
        return status;
    const struct own_columns own = find_own(table, units);
    if (!(*fluxes = arrays_allocate(table->n_rows, sizeof **fluxes)))
        return error_memory(error, "reading a catalogue");
    for (int64_t row = 0; row < table->n_rows; row++)
        (*fluxes)[row] = read_row(&c, factor, &own, row);
    return SRCFIND_OK;
}
