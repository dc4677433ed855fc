/* ECSV 1.0, astropy's table format: CSV after a header in YAML (astropy APE 6). */
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"
#include "common/json_tree.h"
#include "options/options_json.h"
#include "output/catalogue_metadata.h"
#include "output/writer.h"

/* Writes `name: value`, or nothing for an empty text. A string of JSON is a string of YAML, too. */
static bool write_text(const char *name, const char *text, FILE *stream) {
    if (!text || !*text)
        return true;
    fprintf(stream, ", %s: ", name);
    return json_print(json_string(text), "", "", stream);
}

static const char *type_of(enum srcfind_kind kind) {
    switch (kind) {
    case SRCFIND_INTEGER:
        return "int64";
    case SRCFIND_REAL:
        return "float64";
    case SRCFIND_STRING:
        return "string";
    }
    return "";
}

static bool write_column(const struct srcfind_column *column, FILE *stream) {
    fprintf(stream, "# - {name: %s", column->name);
    const bool ok = write_text("unit", column->vounit, stream);
    fprintf(stream, ", datatype: %s", type_of(column->kind));
    if (!ok || !write_text("description", column->description, stream))
        return false;
    fprintf(stream, ", meta: {ucd: \"%s\"}}\n", column->ucd);
    return true;
}

/* Writes a number with a point: YAML 1.1 takes 1e-05 for a text. */
static void write_number(double value, FILE *stream) {
    char text[FORMAT_TEXT];
    format_double(value, text);
    const size_t digits = strcspn(text, "e");
    const bool needs_point = text[digits] == 'e' && strcspn(text, ".") > digits;
    fprintf(stream, "%.*s%s%s", (int)digits, text, needs_point ? ".0" : "", text + digits);
}

static bool write_item(const struct metadata_item *item, FILE *stream) {
    fprintf(stream, "#   %s: ", item->name);
    if (item->text)
        return json_print(json_string(item->text), "", "\n", stream);
    write_number(item->number, stream);
    fputc('\n', stream);
    return true;
}

static bool ecsv_begin(const struct table *table, FILE *stream) {
    struct metadata_item items[MOST_METADATA];
    const int n_columns = table->columns.n, n_items = catalogue_metadata(table->of, items);
    bool ok = true;
    fputs("# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n", stream);
    for (int i = 0; ok && i < n_columns; i++)
        ok = write_column(&table->columns.column[i].shown, stream);
    fputs("# meta:\n", stream);
    for (int i = 0; ok && i < n_items; i++)
        ok = write_item(&items[i], stream);
    if (!table->images.options_differ)
        ok = ok && json_print(options_json(&table->of->options), "#   options: ", "\n", stream);
    fputs("# schema: astropy-2.0\n", stream);
    return ok && csv_writer.begin(table, stream);
}

static const char *const suffixes[] = {".ecsv", ".ecsv.gz", NULL};

static size_t ecsv_rows(const struct table *table, const struct rows *rows, char *text) {
    return csv_writer.rows.format(table, rows, text);
}

const struct writer ecsv_writer = {
    .format = {"ecsv", suffixes},
    .about = "enhanced CSV of astropy, with units",
    .is_table = true,
    .ends = {"# %ECSV 1.0\n", "\n"},
    .begin = ecsv_begin,
    .rows = {ecsv_rows, MOST_COLUMNS *(CELL_TEXT + 1)},
};
