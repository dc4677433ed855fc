#include "output/selected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/near_word.h"
#include "common/parse_number.h"
#include "common/texts.h"
#include "input/frame.h"
#include "input/image.h"
#include "input/units.h"

struct selected {
    struct srcfind_catalogue catalogue;
    struct column_list list; /* has the names, units and texts of columns */
    union cell_value constants[MOST_COLUMNS];
    char *path; /* of the image, as it is shown */
};

/* --- names --- */

/* Stands for a unit that depends on the image, as long as there is none. */
static const char UNIT_OF_IMAGE[] = "?";

/* The column of a position has the name that it has in the frame of the image. */
static const char *name_in_frame(const char *name, const struct srcfind_image *image) {
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < SKY_COLUMNS; i++)
            if (strcmp(frames[f].columns[i], name) == 0)
                return frame_of_axis(image->lon_name)->columns[i];
    return name;
}

static const struct column *find_column(const struct srcfind_catalogue *c, const char *name) {
    const char *own = name_in_frame(name, &c->image);
    for (int i = 0; i < c->n_columns; i++)
        if (strcmp(c->columns[i].shown.name, own) == 0)
            return &c->columns[i];
    return NULL;
}

/* What is known of the image: the same in each row. */
enum fact { BEAM_MAJ, BEAM_MIN, BEAM_PA, FREQUENCY, IMAGE, FACTS };

static const struct srcfind_column facts[FACTS] = {
    [BEAM_MAJ] = {"Beam_Maj", "deg", "phys.angSize.smajAxis;instr.beam",
                  "FWHM of the major axis of the beam", SRCFIND_REAL, "deg"},
    [BEAM_MIN] = {"Beam_Min", "deg", "phys.angSize.sminAxis;instr.beam", "FWHM of its minor axis",
                  SRCFIND_REAL, "deg"},
    [BEAM_PA] = {"Beam_PA", "deg", "pos.posAng;instr.beam",
                 "position angle of the beam, from north through east", SRCFIND_REAL, "deg"},
    [FREQUENCY] = {"Frequency", "Hz", "em.freq", "frequency of the image", SRCFIND_REAL, "Hz"},
    [IMAGE] = {"Image", NULL, "meta.id;meta.file", "path of the image", SRCFIND_STRING, NULL},
};

const struct srcfind_column *selected_fact(int i) {
    return i < FACTS ? &facts[i] : NULL;
}

static enum fact find_fact(const char *name) {
    enum fact fact = 0;
    while (fact < FACTS && strcmp(facts[fact].name, name) != 0)
        fact++;
    return fact;
}

/* The option with which catalogues have a column; NULL if none has. */
static const char *option_of(const struct options *given, const char *name) {
    static const struct {
        const char *option, *value, *shown;
    } tried[] = {{"deblend", "yes", "--deblend"},
                 {"fit", "yes", "--fit"},
                 {"scales", "2", "--scales"},
                 {"measure-in", "a", "--measure-in"},
                 {"at", "a", "--at"}};
    struct srcfind_catalogue *c = calloc(1, sizeof *c);
    const char *found = NULL;
    for (size_t i = 0; c && !found && i < sizeof tried / sizeof *tried; i++) {
        struct error ignored;
        c->options = *given;
        options_set(&c->options, tried[i].option, tried[i].value, &ignored);
        catalogue_name_columns(c);
        found = find_column(c, name) ? tried[i].shown : NULL;
    }
    free(c);
    return found;
}

static enum srcfind_status complain_of_name(const struct srcfind_catalogue *c, const char *name,
                                            struct error *error) {
    const char *names[MOST_COLUMNS + FACTS], *option = option_of(&c->options, name);
    int n = 0;
    if (option)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: %s needs %s", name, option);
    if (column_list_exists(name))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "columns: there is no column %s; did you mean @%s?", name, name);
    for (; n < c->n_columns; n++)
        names[n] = c->columns[n].shown.name;
    for (int i = 0; i < FACTS; i++)
        names[n++] = facts[i].name;
    const char *near = near_word(names, n, name, strlen(name));
    return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: there is no column %s%s%s%s", name,
                     near ? "; did you mean "
                          : ": their names stand in the first line of a catalogue as CSV",
                     near ? near : "", near ? "?" : "");
}

/* Whether a column can be had in a unit; *factor: from its own. */
static bool converts(const struct srcfind_column *column, const char *unit, double *factor) {
    return column->kind == SRCFIND_REAL && column->unit &&
           units_conform(column->unit, unit, factor);
}

/* Whether a column of an image that lacks sky coordinates, a beam or a unit would have this unit
 * with them: then it is empty. */
static bool lacks_unit(const struct srcfind_catalogue *of, const char *name, const char *unit) {
    const struct srcfind_image *image = &of->image;
    const bool lacks = !*image->lon_name || !*image->unit || isnan(image->beam_pixels);
    struct srcfind_catalogue *whole = lacks ? calloc(1, sizeof *whole) : NULL;
    double factor;
    if (!whole)
        return false;
    whole->options = of->options;
    memcpy(whole->image.unit, "Jy/beam", sizeof "Jy/beam");
    memcpy(whole->image.flux_unit, "Jy", sizeof "Jy");
    memcpy(whole->image.lon_name, "RA", sizeof "RA");
    catalogue_name_columns(whole);
    const struct column *column = find_column(whole, name);
    const bool has_unit = column && converts(&column->shown, unit, &factor);
    free(whole);
    return has_unit;
}

static enum srcfind_status complain_of_unit(const struct srcfind_column *column,
                                            const struct chosen_column *chosen, const char *image,
                                            struct error *error) {
    return error_set(error, *image ? SRCFIND_ERROR_INPUT : SRCFIND_ERROR_OPTIONS,
                     "%s%scolumns: %s is in %s, and cannot be converted to %s", image,
                     *image ? ": " : "", chosen->name, column->unit ? column->unit : "no unit",
                     chosen->unit);
}

/* Checks a name, and the unit of a column that has the same one in all images. */
static enum srcfind_status check_chosen(const struct srcfind_catalogue *c,
                                        const struct chosen_column *chosen, struct error *error) {
    const struct column *column = find_column(c, chosen->name);
    const enum fact fact = find_fact(chosen->name);
    const struct srcfind_column *shown = column          ? &column->shown
                                         : fact != FACTS ? &facts[fact]
                                                         : NULL;
    double factor;
    if (!*chosen->name)
        return SRCFIND_OK;
    if (!shown)
        return complain_of_name(c, chosen->name, error);
    const bool is_of_image = shown->unit && strcmp(shown->unit, UNIT_OF_IMAGE) == 0;
    if (*chosen->unit && !is_of_image && !converts(shown, chosen->unit, &factor))
        return complain_of_unit(shown, chosen, "", error);
    if (*chosen->unit && !units_vounit(chosen->unit))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "columns: %s: VOTable and FITS have no spelling of this unit that readers "
                         "share: choose another one, as mJy, mJy/beam, arcsec or MHz",
                         chosen->unit);
    return SRCFIND_OK;
}

enum srcfind_status selected_check(const struct column_list *list, const struct options *options,
                                   struct error *error) {
    struct srcfind_catalogue *c = calloc(1, sizeof *c);
    enum srcfind_status status = c ? SRCFIND_OK : error_memory(error, "choosing columns");
    if (c) {
        c->options = *options;
        memcpy(c->image.unit, UNIT_OF_IMAGE, sizeof UNIT_OF_IMAGE);
        memcpy(c->image.flux_unit, UNIT_OF_IMAGE, sizeof UNIT_OF_IMAGE);
        memcpy(c->image.lon_name, "RA", sizeof "RA");
        catalogue_name_columns(c);
    }
    for (int i = 0; status == SRCFIND_OK && i < list->n; i++)
        status = check_chosen(c, &list->columns[i], error);
    free(c);
    return status;
}

/* --- columns --- */

/* A column whose cells are all the same. */
static void set_constant(struct selected *s, int i, const struct srcfind_column *shown,
                         union cell_value value) {
    struct column *column = &s->catalogue.columns[i];
    s->constants[i] = value;
    *column = (struct column){.shown = *shown, .width = 8, .constant = &s->constants[i]};
    if (shown->kind == SRCFIND_STRING)
        column->width = *value.text ? strlen(value.text) : 1;
}

static void set_text_or_number(struct selected *s, int i) {
    const char *text = s->list.columns[i].constant;
    const struct number number = parse_number(text, strlen(text));
    union cell_value value = {.text = text};
    struct srcfind_column shown = {.ucd = "meta.note", .description = "constant"};
    shown.kind = number.kind == NUMBER_NONE      ? SRCFIND_STRING
                 : number.kind == NUMBER_INTEGER ? SRCFIND_INTEGER
                                                 : SRCFIND_REAL;
    if (shown.kind == SRCFIND_INTEGER)
        value.integer = number.integer;
    else if (shown.kind == SRCFIND_REAL)
        value.real = number.real;
    set_constant(s, i, &shown, value);
}

static void set_fact(struct selected *s, int i, enum fact fact) {
    const struct srcfind_image *image = &s->catalogue.image;
    const double reals[] = {[BEAM_MAJ] = image->beam.major,
                            [BEAM_MIN] = image->beam.minor,
                            [BEAM_PA] = image->beam.angle,
                            [FREQUENCY] = image->frequency};
    union cell_value value = {.text = s->path};
    if (fact != IMAGE)
        value.real = reals[fact];
    set_constant(s, i, &facts[fact], value);
}

/* Converts the unit of a column, which is one of the list, to that of the list. */
static enum srcfind_status convert(struct selected *s, const struct srcfind_catalogue *of, int i,
                                   struct error *error) {
    const struct chosen_column *chosen = &s->list.columns[i];
    struct column *column = &s->catalogue.columns[i];
    double factor;
    if (!*chosen->unit)
        return SRCFIND_OK;
    if (converts(&column->shown, chosen->unit, &factor)) {
        column->factor = factor >= 1 ? factor : 0;
        if (factor < 1) /* exact, where the factor is 1e-9 */
            units_conform(chosen->unit, column->shown.unit, &column->divisor);
    } else if (lacks_unit(of, chosen->name, chosen->unit)) {
        set_constant(s, i, &column->shown, (union cell_value){.real = NAN});
    } else {
        return complain_of_unit(&column->shown, chosen, s->catalogue.image.path, error);
    }
    column->shown.unit = chosen->unit;
    column->shown.vounit = units_vounit(chosen->unit);
    return SRCFIND_OK;
}

/* Positions of another frame do not go under a new name, by which programs know their own. */
static enum srcfind_status check_frame(const struct srcfind_catalogue *of,
                                       const struct chosen_column *chosen, struct error *error) {
    const struct srcfind_image *image = &of->image;
    if (!*image->lon_name || strcmp(chosen->title, chosen->name) == 0 ||
        strcmp(name_in_frame(chosen->name, image), chosen->name) == 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: columns: %s=%s: the coordinates of this image are %s and %s: list these",
                     image->path, chosen->name, chosen->title, image->lon_name, image->lat_name);
}

static enum srcfind_status set_column(struct selected *s, const struct srcfind_catalogue *of, int i,
                                      struct error *error) {
    const struct chosen_column *chosen = &s->list.columns[i];
    const struct column *column = find_column(of, chosen->name);
    const enum fact fact = find_fact(chosen->name);
    if (!*chosen->name)
        set_text_or_number(s, i);
    else if (column)
        s->catalogue.columns[i] = *column;
    else if (fact != FACTS)
        set_fact(s, i, fact);
    else
        return complain_of_name(of, chosen->name, error);
    struct srcfind_column *shown = &s->catalogue.columns[i].shown;
    if (!column || strcmp(chosen->title, chosen->name) != 0) /* else it has that of its frame */
        shown->name = chosen->title;
    const enum srcfind_status status = column ? check_frame(of, chosen, error) : SRCFIND_OK;
    return status == SRCFIND_OK ? convert(s, of, i, error) : status;
}

enum srcfind_status selected_make(const struct srcfind_catalogue *of,
                                  const struct column_list *list, struct selected **selected,
                                  struct error *error) {
    struct selected *s = *selected = calloc(1, sizeof *s);
    enum srcfind_status status = SRCFIND_OK;
    if (!s)
        return error_memory(error, "choosing columns");
    s->list = *list;
    s->catalogue = *of;
    s->catalogue.n_columns = list->n;
    s->catalogue.has_chosen_columns = true;
    s->path = texts_clean(of->image.path);
    if (!s->path)
        return error_memory(error, "choosing columns");
    for (int i = 0; status == SRCFIND_OK && i < list->n; i++)
        status = set_column(s, of, i, error);
    return status;
}

const struct srcfind_catalogue *selected_catalogue(const struct selected *selected) {
    return &selected->catalogue;
}

void selected_free(struct selected *s) {
    if (s)
        free(s->path);
    free(s);
}
