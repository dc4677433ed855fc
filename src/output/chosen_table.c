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
#include "output/derived.h"

/* The memory that the columns of a chosen table point to. */
struct choice {
    const struct result *result;
    struct column_list list; /* has the names, units and texts of columns */
    union cell_value constants[MOST_COLUMNS], otherwise[MOST_COLUMNS];
    char *path;                  /* of the image, as tables show it */
    struct island_place *places; /* of the rows, if a column is derived; else NULL */
};

/* The columns that can be chosen, with the facts that they depend on. */
struct offer {
    struct column_facts facts;
    struct columns columns, derived;
};

static struct offer offer_of(struct column_facts facts) {
    struct offer offer = {.facts = facts};
    columns_add(&offer.columns, &facts, TABLE_OF_SOURCES);
    derived_add_columns(&offer.derived, &facts);
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
    const int k = i >= 0 ? -1 : columns_find(&offer->derived, name);
    return i >= 0 ? &offer->columns.column[i] : k >= 0 ? &offer->derived.column[k] : NULL;
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

const struct srcfind_column *chosen_table_column(int i, bool *needs_fit) {
    *needs_fit = false;
    return i < FACTS ? &of_facts[i] : derived_column(i - FACTS, needs_fit);
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
    } tried[] = {{WITH_DEBLEND, "--deblend"}, {WITH_FIT, "--fit"},
                 {WITH_SCALES, "--scales"},   {WITH_MEASURE_IN, "--measure-in"},
                 {WITH_AT, "--at"},           {WITH_AT | WITH_FIT, "--at and --fit"}};
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
    const char *names[2 * MOST_COLUMNS + FACTS], *option = option_of(&offer->facts, name);
    int n = 0;
    if (option)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: %s needs %s", name, option);
    if (column_list_exists(name))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "columns: there is no column %s; did you mean @%s?", name, name);
    for (; n < offer->columns.n; n++)
        names[n] = offer->columns.column[n].shown.name;
    const struct srcfind_column *more;
    bool needs_fit;
    for (int i = 0; (more = chosen_table_column(i, &needs_fit)); i++)
        names[n++] = more->name;
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

/* Whether a number stands for a whole column, which the options do not measure. */
static bool is_replaced(const struct offer *offer, const struct chosen_column *chosen) {
    return *chosen->otherwise && !find_column(offer, chosen->name) &&
           option_of(&offer->facts, chosen->name);
}

/* The value of a cell; *kind: its own. */
static union cell_value value_of_text(const char *text, enum srcfind_kind *kind) {
    const struct number number = parse_number(text, strlen(text));
    union cell_value value = {.text = text};
    *kind = number.kind == NUMBER_NONE      ? SRCFIND_STRING
            : number.kind == NUMBER_INTEGER ? SRCFIND_INTEGER
                                            : SRCFIND_REAL;
    if (number.kind == NUMBER_INTEGER)
        value.integer = number.integer;
    else if (number.kind == NUMBER_REAL)
        value.real = number.real;
    return value;
}

/* Whether cells of a column can be this number. */
static bool takes_number(const struct srcfind_column *column, const char *text) {
    const struct number number = parse_number(text, strlen(text));
    return column->kind == SRCFIND_REAL ||
           (column->kind == SRCFIND_INTEGER && number.kind == NUMBER_INTEGER);
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
    if (!*chosen->name || is_replaced(offer, chosen))
        return SRCFIND_OK;
    if (!shown)
        return complain_of_name(offer, chosen->name, error);
    if (*chosen->otherwise && !takes_number(shown, chosen->otherwise))
        return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: %s|%s: a cell of %s is %s",
                         chosen->name, chosen->otherwise, chosen->name,
                         shown->kind == SRCFIND_STRING ? "a text" : "a whole number");
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

static void set_text_or_number(struct chosen_table *c, int i, const char *text) {
    struct srcfind_column shown = {.ucd = "meta.note", .description = "constant"};
    const union cell_value value = value_of_text(text, &shown.kind);
    set_constant(c, i, &shown, value);
}

/* Sets the number of empty cells. */
static void set_otherwise(struct chosen_table *c, int i) {
    const char *text = c->choice->list.columns[i].otherwise;
    union cell_value *value = &c->choice->otherwise[i];
    const struct number number = parse_number(text, strlen(text));
    if (!*text)
        return;
    if (c->columns[i].shown.kind == SRCFIND_REAL)
        value->real = number.real;
    else
        value->integer = number.integer;
    c->columns[i].otherwise = value;
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
        set_text_or_number(c, i, chosen->constant);
    else if (is_replaced(c->offer, chosen))
        set_text_or_number(c, i, chosen->otherwise);
    else if (column)
        c->columns[i] = *column;
    else if (fact != FACTS)
        set_fact(c, i, fact);
    else
        return complain_of_name(c->offer, chosen->name, error);
    if (!column || strcmp(chosen->title, chosen->name) != 0) /* else the name of its frame */
        c->columns[i].shown.name = chosen->title;
    if (!column && fact == FACTS) {
        c->columns[i].shown.unit = *chosen->unit ? chosen->unit : NULL;
        c->columns[i].shown.vounit = units_vounit(c->columns[i].shown.unit);
        return SRCFIND_OK;
    }
    enum srcfind_status status = column ? check_frame(&c->of->image, chosen, error) : SRCFIND_OK;
    if (status == SRCFIND_OK)
        status = convert(c, i, error);
    set_otherwise(c, i);
    return status;
}

/* --- rows --- */

_Static_assert(sizeof(struct derived_row) <= sizeof(union stored_row), "there is room for a row");

static bool read_rows(void *context, int64_t first, int64_t n, void *rows,
                      const struct row_image **images) {
    const struct choice *choice = context;
    struct derived_row *row = rows;
    for (int64_t i = 0; i < n; i++) {
        const int64_t place = sources_place(&choice->result->sources, first + i);
        row[i].source = choice->result->sources.rows[place];
        derived_set(choice->result, choice->places, place, &row[i].derived);
        images[i] = NULL;
    }
    return true;
}

/* Whether a column has cells beside those of the sources. */
static bool is_derived(const struct column *column) {
    return !column->constant && column->offset >= offsetof(struct derived_row, derived);
}

/* Has the table read its rows with what is derived, if it has such columns. False where memory ran
 * out. */
static bool derive_rows(struct choice *choice, struct table *table) {
    bool has_derived = false;
    for (int i = 0; i < table->columns.n; i++)
        has_derived = has_derived || is_derived(&table->columns.column[i]);
    if (!has_derived)
        return true;
    choice->places = derived_places(choice->result);
    table->rows = NULL;
    table->row_bytes = sizeof(struct derived_row);
    table->store = (struct row_store){choice, read_rows};
    return choice->places;
}

static void free_choice(void *memory) {
    struct choice *choice = memory;
    free(choice->path);
    free(choice->places);
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
    choice->result = result;
    choice->list = *list;
    const struct offer offer = offer_of(column_facts_of(&result->options, &result->image));
    struct chosen_table c = {result, &offer, choice, table->columns.column};
    table->kind = TABLE_OF_CHOSEN;
    table->field_ids = list->field_ids;
    table->columns.n = list->n;
    table->owned = (struct owned){choice, free_choice};
    for (int i = 0; status == SRCFIND_OK && i < list->n; i++)
        status = set_column(&c, i, error);
    if (status == SRCFIND_OK && !derive_rows(choice, table))
        status = error_memory(error, "choosing columns");
    return status;
}
