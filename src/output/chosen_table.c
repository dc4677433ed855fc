/* How the columns of --columns are chosen:
 *
 * 1. The offer is what the table of sources has with these options (columns.c), and five columns of
 *    the image: beam, frequency and path.
 * 2. Each item of the list takes a column of the offer, by its name in any frame, or makes a
 *    constant column, of a text, a number or a value of the image.
 * 3. It is converted to the unit that the item names, and gets the title of the item. A column that
 *    the image has no unit for is empty.
 *
 * Before any image is opened, chosen_table_check refuses names that no table with these options
 * has, with the option that would add the column or the nearest name, and impossible units. The
 * rows are those of the result and are not copied; the table owns the list and the constants. */
#include "output/chosen_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/near_word.h"
#include "common/parse_number.h"
#include "common/texts.h"
#include "input/frame.h"
#include "input/image.h"
#include "input/units.h"

/* The memory that the columns of a chosen table point to. */
struct choice {
    struct column_list list; /* has the names, units and texts of columns */
    union cell_value constants[MOST_COLUMNS];
    char *path; /* of the image, as tables show it */
};

/* The columns that can be chosen, with the facts that they depend on. */
struct offer {
    struct column_facts facts;
    struct columns columns;
};

static struct offer offer_of(struct column_facts facts) {
    struct offer offer = {.facts = facts};
    columns_add(&offer.columns, &facts, TABLE_OF_SOURCES);
    return offer;
}

/* --- names --- */

/* Stands for a unit that depends on the image, while no image is known. */
static const char UNIT_OF_IMAGE[] = "?";

/* The name of a column in the frame of the image: columns of positions are found under the name of
 * any frame. */
static const char *name_in_frame(const char *name, const char *lon_name) {
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < SKY_COLUMNS; i++)
            if (strcmp(frames[f].columns[i], name) == 0)
                return frame_of_axis(lon_name)->columns[i];
    return name;
}

/* NULL: there is none. */
static const struct column *find_column(const struct offer *offer, const char *name) {
    const int i = columns_find(&offer->columns, name_in_frame(name, offer->facts.lon_name));
    return i >= 0 ? &offer->columns.column[i] : NULL;
}

/* Columns of the image, which have one value in all rows. */
enum fact { BEAM_MAJ, BEAM_MIN, BEAM_PA, FREQUENCY, IMAGE, FACTS };

static const struct srcfind_column of_facts[FACTS] = {
    [BEAM_MAJ] = {"Beam_Maj", "deg", "phys.angSize.smajAxis;instr.beam",
                  "FWHM of the major axis of the beam", SRCFIND_REAL, "deg"},
    [BEAM_MIN] = {"Beam_Min", "deg", "phys.angSize.sminAxis;instr.beam", "FWHM of its minor axis",
                  SRCFIND_REAL, "deg"},
    [BEAM_PA] = {"Beam_PA", "deg", "pos.posAng;instr.beam",
                 "position angle of the beam, from north through east", SRCFIND_REAL, "deg"},
    [FREQUENCY] = {"Frequency", "Hz", "em.freq", "frequency of the image", SRCFIND_REAL, "Hz"},
    [IMAGE] = {"Image", NULL, "meta.id;meta.file", "path of the image", SRCFIND_STRING, NULL},
};

const struct srcfind_column *chosen_table_fact(int i) {
    return i < FACTS ? &of_facts[i] : NULL;
}

static enum fact find_fact(const char *name) {
    enum fact fact = 0;
    while (fact < FACTS && strcmp(of_facts[fact].name, name) != 0)
        fact++;
    return fact;
}

/* The option that adds a column; NULL if none does. */
static const char *option_of(const struct column_facts *given, const char *name) {
    static const struct {
        unsigned with;
        const char *shown;
    } tried[] = {{WITH_DEBLEND, "--deblend"},
                 {WITH_FIT, "--fit"},
                 {WITH_SCALES, "--scales"},
                 {WITH_MEASURE_IN, "--measure-in"},
                 {WITH_AT, "--at"}};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        struct column_facts facts = *given;
        facts.with |= tried[i].with;
        const struct offer offer = offer_of(facts);
        if (find_column(&offer, name))
            return tried[i].shown;
    }
    return NULL;
}

static enum srcfind_status complain_of_name(const struct offer *offer, const char *name,
                                            struct error *error) {
    const char *names[MOST_COLUMNS + FACTS], *option = option_of(&offer->facts, name);
    int n = 0;
    if (option)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: %s needs %s", name, option);
    if (column_list_exists(name))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "columns: there is no column %s; did you mean @%s?", name, name);
    for (; n < offer->columns.n; n++)
        names[n] = offer->columns.column[n].shown.name;
    for (int i = 0; i < FACTS; i++)
        names[n++] = of_facts[i].name;
    const char *near = near_word(names, n, name, strlen(name));
    return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: there is no column %s%s%s%s", name,
                     near ? "; did you mean "
                          : ": their names stand in the first line of a catalogue as CSV",
                     near ? near : "", near ? "?" : "");
}

/* Whether a column can be converted to a unit; *factor: from its own unit. */
static bool converts(const struct srcfind_column *column, const char *unit, double *factor) {
    return column->kind == SRCFIND_REAL && column->unit &&
           units_conform(column->unit, unit, factor);
}

/* Whether a column cannot have a unit only because the image lacks sky coordinates, a beam or a
 * unit: the column is empty then. */
static bool lacks_unit(const struct srcfind_image *image, unsigned with, const char *name,
                       const char *unit) {
    if (*image->lon_name && *image->unit && isfinite(image->beam_pixels))
        return false;
    const struct offer whole = offer_of((struct column_facts){with, "Jy/beam", "Jy", "RA"});
    const struct column *column = find_column(&whole, name);
    double factor;
    return column && converts(&column->shown, unit, &factor);
}

static enum srcfind_status complain_of_unit(const struct srcfind_column *column,
                                            const struct chosen_column *chosen, const char *image,
                                            struct error *error) {
    return error_set(error, *image ? SRCFIND_ERROR_INPUT : SRCFIND_ERROR_OPTIONS,
                     "%s%scolumns: %s is in %s, and cannot be converted to %s", image,
                     *image ? ": " : "", chosen->name, column->unit ? column->unit : "no unit",
                     chosen->unit);
}

/* Checks a name, and the unit of a column unless its own unit depends on the image. */
static enum srcfind_status check_chosen(const struct offer *offer,
                                        const struct chosen_column *chosen, struct error *error) {
    const struct column *column = find_column(offer, chosen->name);
    const enum fact fact = find_fact(chosen->name);
    const struct srcfind_column *shown = column          ? &column->shown
                                         : fact != FACTS ? &of_facts[fact]
                                                         : NULL;
    double factor;
    if (!*chosen->name)
        return SRCFIND_OK;
    if (!shown)
        return complain_of_name(offer, chosen->name, error);
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

enum srcfind_status chosen_table_check(const struct column_list *list,
                                       const struct options *options, struct error *error) {
    const struct offer offer = offer_of(
        (struct column_facts){column_facts_with(options), UNIT_OF_IMAGE, UNIT_OF_IMAGE, "RA"});
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < list->n; i++)
        status = check_chosen(&offer, &list->columns[i], error);
    return status;
}

/* --- columns --- */

/* A chosen table that is made: columns of the offer become columns of the table. */
struct chosen_table {
    const struct result *of;
    const struct offer *offer;
    struct choice *choice;
    struct column *columns; /* of the table */
};

/* Makes a column whose cells all have one value. */
static void set_constant(struct chosen_table *c, int i, const struct srcfind_column *shown,
                         union cell_value value) {
    c->choice->constants[i] = value;
    c->columns[i] =
        (struct column){.shown = *shown, .width = 8, .constant = &c->choice->constants[i]};
    if (shown->kind == SRCFIND_STRING)
        c->columns[i].width = *value.text ? strlen(value.text) : 1;
}

static void set_text_or_number(struct chosen_table *c, int i) {
    const char *text = c->choice->list.columns[i].constant;
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
    set_constant(c, i, &shown, value);
}

static void set_fact(struct chosen_table *c, int i, enum fact fact) {
    const struct srcfind_image *image = &c->of->image;
    const double reals[] = {[BEAM_MAJ] = image->beam.major,
                            [BEAM_MIN] = image->beam.minor,
                            [BEAM_PA] = image->beam.angle,
                            [FREQUENCY] = image->frequency};
    union cell_value value = {.text = c->choice->path};
    if (fact != IMAGE)
        value.real = reals[fact];
    set_constant(c, i, &of_facts[fact], value);
}

/* Converts a column to the unit that the list names for it, if any. */
static enum srcfind_status convert(struct chosen_table *c, int i, struct error *error) {
    const struct chosen_column *chosen = &c->choice->list.columns[i];
    struct column *column = &c->columns[i];
    double factor;
    if (!*chosen->unit)
        return SRCFIND_OK;
    if (converts(&column->shown, chosen->unit, &factor)) {
        column->factor = factor >= 1 ? factor : 0;
        if (factor < 1) /* exact for a factor such as 1e-9 */
            units_conform(chosen->unit, column->shown.unit, &column->divisor);
    } else if (lacks_unit(&c->of->image, c->offer->facts.with, chosen->name, chosen->unit)) {
        set_constant(c, i, &column->shown, (union cell_value){.real = NAN});
    } else {
        return complain_of_unit(&column->shown, chosen, c->of->image.path, error);
    }
    column->shown.unit = chosen->unit;
    column->shown.vounit = units_vounit(chosen->unit);
    return SRCFIND_OK;
}

/* Positions of another frame get no new name: a program would take them for positions of its own
 * frame. */
static enum srcfind_status check_frame(const struct srcfind_image *image,
                                       const struct chosen_column *chosen, struct error *error) {
    if (!*image->lon_name || strcmp(chosen->title, chosen->name) == 0 ||
        strcmp(name_in_frame(chosen->name, image->lon_name), chosen->name) == 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: columns: %s=%s: the coordinates of this image are %s and %s: list these",
                     image->path, chosen->name, chosen->title, image->lon_name, image->lat_name);
}

static enum srcfind_status set_column(struct chosen_table *c, int i, struct error *error) {
    const struct chosen_column *chosen = &c->choice->list.columns[i];
    const struct column *column = find_column(c->offer, chosen->name);
    const enum fact fact = find_fact(chosen->name);
    if (!*chosen->name)
        set_text_or_number(c, i);
    else if (column)
        c->columns[i] = *column;
    else if (fact != FACTS)
        set_fact(c, i, fact);
    else
        return complain_of_name(c->offer, chosen->name, error);
    if (!column || strcmp(chosen->title, chosen->name) != 0) /* else the name of its frame */
        c->columns[i].shown.name = chosen->title;
    const enum srcfind_status status =
        column ? check_frame(&c->of->image, chosen, error) : SRCFIND_OK;
    return status == SRCFIND_OK ? convert(c, i, error) : status;
}

static void free_choice(void *memory) {
    struct choice *choice = memory;
    free(choice->path);
    free(choice);
}

enum srcfind_status chosen_table_make(const struct result *result, const struct column_list *list,
                                      struct table *table, struct error *error) {
    struct choice *choice = calloc(1, sizeof *choice);
    enum srcfind_status status = SRCFIND_OK;
    *table = table_of_sources(result);
    if (!choice || !(choice->path = texts_clean(result->image.path))) {
        free(choice);
        return error_memory(error, "choosing columns");
    }
    choice->list = *list;
    const struct offer offer = {column_facts_of(&result->options, &result->image), table->columns};
    struct chosen_table c = {result, &offer, choice, table->columns.column};
    table->kind = TABLE_OF_CHOSEN;
    table->columns.n = list->n;
    table->owned = (struct owned){choice, free_choice};
    for (int i = 0; status == SRCFIND_OK && i < list->n; i++)
        status = set_column(&c, i, error);
    return status;
}
