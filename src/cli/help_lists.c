#include "cli/help_lists.h"

#include <string.h>

#include "common/texts.h"
#include "common/wrapped_text.h"
#include "output/chosen_table.h"
#include "output/column_list.h"
#include "output/products.h"
#include "output/writer.h"

enum { NAME_COLUMN = 14, UNIT_COLUMN = 32, HEAD = 80 };

/* Writes a name, and what it means, from this column on. */
static void put_line(const char *name, const char *meaning, int column, FILE *stream) {
    const int at = fprintf(stream, "  %-*s  ", column - 4, name);
    wrapped_text_write(meaning, strlen(meaning), at, column, stream);
}

void help_list_formats(FILE *stream) {
    fputs("Formats of --format, and the suffixes that choose them without it:\n\n", stream);
    for (int i = 0; i < n_writers; i++) {
        const struct writer *w = writers[i];
        char name[HEAD] = "", meaning[2 * HEAD] = "";
        texts_append(name, sizeof name, "%s%s%s", w->format.name, w->alias ? ", " : "",
                     w->alias ? w->alias : "");
        texts_append(meaning, sizeof meaning, "%s (", w->about);
        for (const char *const *suffix = w->format.suffixes; *suffix; suffix++)
            texts_append(meaning, sizeof meaning, "%s%s", *suffix, suffix[1] ? " " : ")");
        put_line(name, meaning, NAME_COLUMN + 6, stream);
    }
    fputs("\n.gz behind the suffix of a table compresses it. More: srcfind --help=formats\n",
          stream);
}

void help_list_maps(FILE *stream) {
    fputs("Maps and tables of --save:\n\n", stream);
    for (enum map map = 0; map < MAPS; map++)
        put_line(map_products[map].name, map_products[map].about, NAME_COLUMN, stream);
    put_line("gaussians", "a table with a row for each Gaussian; needs --fit", NAME_COLUMN, stream);
    put_line("islands_table", "a table with a row for each island", NAME_COLUMN, stream);
    put_line("covariance", "a table with pairs of correlated fluxes; needs --at --fit", NAME_COLUMN,
             stream);
    fputs("\nMore: srcfind --help=maps\n", stream);
}

/* --- columns --- */

static const struct {
    const char *name, *unit, *when, *description;
} columns[] = {
#define COLUMN(name, unit, ucd, member, kind, when, description) {name, unit, #when, description},
#define OTHERWISE(...)
#define WITH_SCALES(...)
#include "output/columns.inc"
#undef COLUMN
#undef OTHERWISE
#undef WITH_SCALES
};

static const struct {
    const char *when, *with;
} conditions[] = {
    {"DEBLENDED", "--deblend: "}, {"FITTED", "--fit: "},    {"FITTED_SOURCES", "--fit: "},
    {"GIVEN", "--at: "},          {"SCALED", "--scales: "}, {"MEASURED", "--measure-in: "},
    {"FORCED", "--at --fit: "},
};

static const char *condition_of(const char *when) {
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (strcmp(conditions[i].when, when) == 0)
            return conditions[i].with;
    return "";
}

static const char *shown_unit(const char *unit) {
    return !unit                       ? ""
           : strcmp(unit, "map") == 0  ? "map unit"
           : strcmp(unit, "flux") == 0 ? "Jy"
           : strcmp(unit, "size") == 0 ? "deg"
                                       : unit;
}

static void put_column(const char *name, const char *unit, const char *when,
                       const char *description, FILE *stream) {
    char head[HEAD] = "", meaning[8 * HEAD] = "";
    texts_append(head, sizeof head, "%-17s %s", name, shown_unit(unit));
    texts_append(meaning, sizeof meaning, "%s%s", condition_of(when), description);
    put_line(head, meaning, UNIT_COLUMN, stream);
}

void help_list_columns(FILE *stream) {
    const struct srcfind_column *more;
    bool needs_fit;
    fputs("Columns of --columns, which is a list of NAME[:UNIT][|NUMBER][=NEW] with commas:\n\n",
          stream);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(columns[i].when, "GAUSSIANS") != 0)
            put_column(columns[i].name, columns[i].unit, columns[i].when, columns[i].description,
                       stream);
    fputs("\nColumns that catalogues have only if they are chosen:\n\n", stream);
    for (int i = 0; (more = chosen_table_column(i, &needs_fit)); i++)
        put_column(more->name, more->unit, needs_fit ? "FITTED" : "ALWAYS", more->description,
                   stream);
    fputs("\nLists with a name, beside which other columns may stand:\n\n", stream);
    for (int i = 0; column_list_name(i); i++) {
        const char *about = column_list_text(i) + strlen("# ");
        const int at = fprintf(stream, "  @%-*s", NAME_COLUMN - 3, column_list_name(i));
        wrapped_text_write(about, strcspn(about, "\n"), at, NAME_COLUMN, stream);
    }
    fputs("\nMore: srcfind --help='columns of other programs'\n", stream);
}
