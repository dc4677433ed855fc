/* JSON as srcfind writes it: one object with `columns`, `sources` (or `gaussians`, `injections`)
 * and other members.
 *
 * 1. read_member_of_document goes through the members in their order. cJSON reads small ones
 *    (columns, image, options), at most 4 MiB each; it would take a hundred bytes for each cell of
 *    `sources`.
 * 2. read_sources reads the sources by itself, cell by cell into a builder. Members of a source
 *    stand as a rule in the order of `columns`, so that each name is compared once.
 * 3. The texts of image, background and detection are kept, for a merged catalogue (take_entry).
 *
 * Always: each source has each column once; a member twice, or one too many, is an error with its
 * line. Nesting is at most 64 deep, a string at most 1 MiB. Numbers are those of RFC 8259: cJSON
 * takes more.
 *
 * Cost: the text once, and the cells of the columns. */
#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/json_tree.h"
#include "common/parse_number.h"
#include "input/table_metadata.h"
#include "input/tables/builder.h"
#include "input/tables/readers.h"
#include "input/tables/text_file.h"

/* MOST_TREE: cJSON takes up to thirty bytes of memory for a byte of text. */
enum { MOST_DEPTH = 64, MOST_STRING = 1 << 20, MOST_TREE = 1 << 22 };

struct string {
    const char *text; /* valid until the next string */
    size_t length;
};

struct json {
    const char *path;
    const char *begin, *at, *end;
    char *string; /* decoded */
    int64_t string_capacity;
    struct builder builder;
    int64_t *seen;   /* the number of the last row with each column, from 1 */
    int64_t n_found; /* columns in this row */
    bool has_sources;
    struct string image, background, detection; /* the texts of these members */
};

/* --- tokens --- */

/* Writes an error with the line of the reader. */
static enum srcfind_status wrong(const struct json *j, const char *what, struct error *error) {
    int64_t line = 1;
    for (const char *c = j->begin; c < j->at; c++)
        line += *c == '\n';
    if (j->at == j->end)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the file ends in line %lld, within its JSON: is it truncated?",
                         j->path, (long long)line);
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: line %lld: %s", j->path, (long long)line,
                     what);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Whether a number or word ends before this character. */
static bool ends_word(char c) {
    return c == ',' || c == '}' || c == ']' || c == ':' || c == '{' || c == '[' || c == '"' ||
           is_blank(c);
}

static void skip_blanks(struct json *j) {
    while (j->at < j->end && is_blank(*j->at))
        j->at++;
}

/* Skips blanks and this character; false if there is another. */
static bool skip(struct json *j, char c) {
    skip_blanks(j);
    if (j->at == j->end || *j->at != c)
        return false;
    j->at++;
    return true;
}

/* Skips to behind the closing quote of a string; *escaped is whether it has an escape. */
static enum srcfind_status skip_string(struct json *j, bool *escaped, struct error *error) {
    *escaped = false;
    if (!skip(j, '"'))
        return wrong(j, "a string in quotes is missing", error);
    const char *begin = j->at;
    for (; j->at < j->end && *j->at != '"'; j->at++) {
        if (j->at - begin > MOST_STRING)
            return wrong(j, "a string is too long: is it a catalogue?", error);
        if ((unsigned char)*j->at < ' ')
            return wrong(j, "a string has a control character", error);
        if (*j->at == '\\') {
            *escaped = true;
            j->at += j->end - j->at > 1;
        }
    }
    if (j->at == j->end)
        return wrong(j, "", error);
    j->at++;
    return SRCFIND_OK;
}

/* Decodes a string with escapes by cJSON. */
static enum srcfind_status decode(struct json *j, const char *begin, struct string *string,
                                  struct error *error) {
    cJSON *value = cJSON_ParseWithLength(begin, (size_t)(j->at - begin));
    if (!cJSON_IsString(value)) {
        cJSON_Delete(value);
        return wrong(j, "a string has a bad escape", error);
    }
    const size_t length = strlen(value->valuestring);
    const bool ok = GROW(j->string, j->string_capacity, (int64_t)length + 1);
    if (ok)
        memcpy(j->string, value->valuestring, length + 1);
    cJSON_Delete(value);
    *string = (struct string){j->string, length};
    return ok ? SRCFIND_OK : error_memory(error, "reading a catalogue");
}

static enum srcfind_status read_string(struct json *j, struct string *string, struct error *error) {
    bool escaped;
    skip_blanks(j);
    const char *begin = j->at;
    const enum srcfind_status status = skip_string(j, &escaped, error);
    if (status != SRCFIND_OK)
        return status;
    if (escaped)
        return decode(j, begin, string, error);
    *string = (struct string){begin + 1, (size_t)(j->at - begin) - 2};
    return SRCFIND_OK;
}

/* Reads the name of a member and its colon. */
static enum srcfind_status read_name(struct json *j, struct string *name, struct error *error) {
    const enum srcfind_status status = read_string(j, name, error);
    if (status == SRCFIND_OK && !skip(j, ':'))
        return wrong(j, "a colon is missing", error);
    return status;
}

/* Reads a number or a word: null, true, false. */
static struct string read_word(struct json *j) {
    skip_blanks(j);
    const char *begin = j->at;
    while (j->at < j->end && !ends_word(*j->at))
        j->at++;
    return (struct string){begin, (size_t)(j->at - begin)};
}

static bool is_word(struct string string, const char *word) {
    return string.length == strlen(word) && memcmp(string.text, word, string.length) == 0;
}

static bool skip_digits(const char **c, const char *end) {
    const char *begin = *c;
    while (*c < end && isdigit((unsigned char)**c))
        ++*c;
    return *c > begin;
}

/* Whether a word may stand in JSON (RFC 8259). cJSON takes more: 01, 1., and control characters for
 * blanks. */
static bool is_value(struct string word) {
    const char *c = word.text, *end = c + word.length;
    if (is_word(word, "null") || is_word(word, "true") || is_word(word, "false"))
        return true;
    c += c < end && *c == '-';
    if (c < end && *c == '0')
        c++;
    else if (!skip_digits(&c, end))
        return false;
    if (c < end && *c == '.') {
        c++;
        if (!skip_digits(&c, end))
            return false;
    }
    if (c < end && (*c == 'e' || *c == 'E')) {
        c++;
        c += c < end && (*c == '+' || *c == '-');
        if (!skip_digits(&c, end))
            return false;
    }
    return c == end;
}

/* Goes behind a value of any kind. The order of commas and colons is not checked. */
static enum srcfind_status skip_value(struct json *j, struct error *error) {
    int64_t depth = 0;
    do {
        bool ignored;
        skip_blanks(j);
        if (j->at == j->end)
            return wrong(j, "", error);
        if (*j->at == '"') {
            const enum srcfind_status status = skip_string(j, &ignored, error);
            if (status != SRCFIND_OK)
                return status;
        } else if (strchr("[{", *j->at)) {
            depth++;
            j->at++;
        } else if (strchr("]}", *j->at)) {
            depth--;
            j->at++;
        } else if (depth > 0 && strchr(",:", *j->at)) {
            j->at++;
        } else if (!is_value(read_word(j))) {
            return wrong(j, "a value is missing, or is not valid JSON", error);
        }
        if (depth > MOST_DEPTH || depth < 0)
            return wrong(j, "brackets are nested too deeply, or do not match", error);
    } while (depth > 0);
    return SRCFIND_OK;
}

/* --- members --- */

/* Reads a value by cJSON, to be deleted. */
static enum srcfind_status read_tree(struct json *j, cJSON **tree, struct error *error) {
    skip_blanks(j);
    const char *begin = j->at;
    *tree = NULL;
    const enum srcfind_status status = skip_value(j, error);
    if (status != SRCFIND_OK)
        return status;
    if (j->at - begin > MOST_TREE)
        return wrong(j, "the value before is too long", error);
    *tree = cJSON_ParseWithLength(begin, (size_t)(j->at - begin));
    return *tree ? SRCFIND_OK : wrong(j, "the value before is not valid JSON", error);
}

static enum srcfind_status add_column(struct json *j, const cJSON *column, struct error *error) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(column, "name"));
    if (!name || j->builder.n_columns == BUILDER_MOST_COLUMNS)
        return wrong(j, "`columns` has one without a name, or too many", error);
    const char *unit = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(column, "unit"));
    if (!builder_add_column(&j->builder, name, strlen(name)))
        return error_memory(error, "reading a catalogue");
    builder_set_unit(&j->builder, j->builder.n_columns - 1, unit ? unit : "");
    return SRCFIND_OK;
}

static enum srcfind_status read_columns(struct json *j, struct error *error) {
    cJSON *tree;
    enum srcfind_status status = read_tree(j, &tree, error);
    if (status == SRCFIND_OK && (j->builder.n_columns > 0 || !cJSON_IsArray(tree)))
        status = wrong(j, "`columns` is there twice, or not an array", error);
    for (const cJSON *column = status == SRCFIND_OK ? tree->child : NULL;
         column && status == SRCFIND_OK; column = column->next)
        status = add_column(j, column, error);
    cJSON_Delete(tree);
    return status;
}

static double number_of(const cJSON *object, const char *name, double other) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(value) ? value->valuedouble : other;
}

static void take_text(const cJSON *object, const char *name, char text[SRCFIND_TEXT]) {
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    snprintf(text, SRCFIND_TEXT, "%s", value ? value : "");
}

static enum srcfind_status take_image(const cJSON *image, struct table_file *table,
                                      struct error *error) {
    const cJSON *beam = cJSON_GetObjectItemCaseSensitive(image, "beam");
    const cJSON *shape = cJSON_GetObjectItemCaseSensitive(image, "shape");
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(image, "path"));
    struct table_file_image *to = &table->image;
    take_text(image, "frame", to->frame);
    take_text(image, "unit", to->unit);
    take_text(image, "flux_unit", to->flux_unit);
    take_text(image, "date_obs", to->date_obs);
    take_text(image, "telescope", to->telescope);
    take_text(image, "object", to->object);
    to->beam.major = number_of(beam, "major_deg", to->beam.major);
    to->beam.minor = number_of(beam, "minor_deg", to->beam.minor);
    to->beam.angle = number_of(beam, "angle_deg", to->beam.angle);
    to->equinox = number_of(image, "equinox", to->equinox);
    to->frequency = number_of(image, "frequency_hz", to->frequency);
    if (cJSON_GetArraySize(shape) == 2) {
        const cJSON *height = shape->child, *width = shape->child->next;
        to->height = cJSON_IsNumber(height) ? height->valuedouble : (double)NAN;
        to->width = cJSON_IsNumber(width) ? width->valuedouble : (double)NAN;
    }
    return !path || table_metadata_set(table, "image", path)
               ? SRCFIND_OK
               : error_memory(error, "reading a catalogue");
}

/* Reads a value by cJSON, to be deleted, and keeps its text for another document. */
static enum srcfind_status read_tree_and_text(struct json *j, cJSON **tree, struct string *text,
                                              struct error *error) {
    skip_blanks(j);
    const char *begin = j->at;
    const enum srcfind_status status = read_tree(j, tree, error);
    *text = (struct string){begin, (size_t)(j->at - begin)};
    return status;
}

static enum srcfind_status read_image(struct json *j, struct table_file *table,
                                      struct error *error) {
    cJSON *tree;
    enum srcfind_status status = read_tree_and_text(j, &tree, &j->image, error);
    if (status == SRCFIND_OK)
        status = take_image(tree, table, error);
    cJSON_Delete(tree);
    return status;
}

/* Checks a value, and keeps its text. */
static enum srcfind_status read_member_text(struct json *j, struct string *text,
                                            struct error *error) {
    cJSON *tree;
    const enum srcfind_status status = read_tree_and_text(j, &tree, text, error);
    cJSON_Delete(tree);
    return status;
}

static enum srcfind_status read_options(struct json *j, struct table_file *table,
                                        struct error *error) {
    struct string text = {"", 0};
    const enum srcfind_status status = read_member_text(j, &text, error);
    if (status != SRCFIND_OK)
        return status;
    return table_metadata_set_options(table, text.text, text.length)
               ? SRCFIND_OK
               : error_memory(error, "reading a catalogue");
}

/* Reads the images of a merged catalogue: all have the frame of the first. */
static enum srcfind_status read_images(struct json *j, struct table_file *table,
                                       struct error *error) {
    cJSON *tree;
    if (!skip(j, '['))
        return wrong(j, "`images` is not an array", error);
    if (skip(j, ']'))
        return SRCFIND_OK;
    enum srcfind_status status = read_tree(j, &tree, error);
    if (status == SRCFIND_OK)
        take_text(cJSON_GetObjectItemCaseSensitive(tree, "image"), "frame", table->image.frame);
    cJSON_Delete(tree);
    while (status == SRCFIND_OK && skip(j, ','))
        status = skip_value(j, error);
    return status == SRCFIND_OK && !skip(j, ']')
               ? wrong(j, "a comma or bracket is missing in `images`", error)
               : status;
}

/* --- sources --- */

static bool is_column(const struct json *j, int64_t i, struct string name) {
    const char *column = j->builder.columns[i].cells.name;
    return strncmp(column, name.text, name.length) == 0 && column[name.length] == '\0';
}

/* The column of a name; -1: there is none. It is mostly the expected one. */
static int64_t find_column(const struct json *j, struct string name, int64_t expected) {
    if (expected < j->builder.n_columns && is_column(j, expected, name))
        return expected;
    for (int64_t i = 0; i < j->builder.n_columns; i++)
        if (is_column(j, i, name))
            return i;
    return -1;
}

static enum srcfind_status read_cell(struct json *j, int64_t column, struct error *error) {
    struct string cell = {"", 0};
    enum builder_result result;
    skip_blanks(j);
    if (j->at < j->end && *j->at == '"') {
        const enum srcfind_status status = read_string(j, &cell, error);
        if (status != SRCFIND_OK)
            return status;
        result = builder_set_text(&j->builder, column, cell.text, cell.length);
    } else {
        cell = read_word(j);
        const bool is_null = is_word(cell, "null");
        if (!is_null &&
            (cell.length == 0 || !(isdigit((unsigned char)*cell.text) || *cell.text == '-') ||
             parse_number(cell.text, cell.length).kind == NUMBER_NONE))
            return wrong(j, "a cell is not a number, a string or null", error);
        if (!is_null && j->builder.columns[column].has_values &&
            j->builder.columns[column].cells.kind == SRCFIND_STRING)
            return wrong(j, "a column of `sources` has strings and numbers", error);
        result = builder_set(&j->builder, column, cell.text, is_null ? 0 : cell.length);
    }
    return result == BUILDER_OK ? SRCFIND_OK : error_memory(error, "reading a catalogue");
}

/* Reads a member of a source. *expected: the column that follows as a rule. */
static enum srcfind_status read_member(struct json *j, int64_t *expected, struct error *error) {
    struct string name;
    const enum srcfind_status status = read_name(j, &name, error);
    if (status != SRCFIND_OK)
        return status;
    const int64_t column = find_column(j, name, *expected);
    if (column < 0)
        return wrong(j, "a source has a member that is not in `columns`", error);
    if (j->seen[column] == j->builder.n_rows + 1)
        return wrong(j, "a source has two members of one name", error);
    j->seen[column] = j->builder.n_rows + 1;
    j->n_found++;
    *expected = column + 1;
    return read_cell(j, column, error);
}

/* Reads a source, which has all columns: the file has at least a byte for each cell in memory. */
static enum srcfind_status read_source(struct json *j, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    int64_t expected = 0;
    if (!skip(j, '{'))
        return wrong(j, "a source is not an object", error);
    if (!builder_begin_row(&j->builder))
        return error_memory(error, "reading a catalogue");
    j->n_found = 0;
    if (!skip(j, '}')) {
        do
            status = read_member(j, &expected, error);
        while (status == SRCFIND_OK && skip(j, ','));
        if (status == SRCFIND_OK && !skip(j, '}'))
            status = wrong(j, "a comma or brace is missing in a source", error);
    }
    if (status == SRCFIND_OK && j->n_found < j->builder.n_columns)
        status = wrong(j, "a source lacks a member that is in `columns`", error);
    builder_end_row(&j->builder);
    return status;
}

static enum srcfind_status read_sources(struct json *j, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    if (j->has_sources || j->builder.n_columns == 0)
        return wrong(j, "`sources` is there twice, or without `columns` before", error);
    j->has_sources = true;
    if (!j->seen && !(j->seen = calloc((size_t)j->builder.n_columns, sizeof *j->seen)))
        return error_memory(error, "reading a catalogue");
    if (!skip(j, '['))
        return wrong(j, "`sources` is not an array", error);
    if (skip(j, ']'))
        return SRCFIND_OK;
    do
        status = read_source(j, error);
    while (status == SRCFIND_OK && skip(j, ','));
    if (status == SRCFIND_OK && !skip(j, ']'))
        status = wrong(j, "a comma or bracket is missing behind a source", error);
    if (status == SRCFIND_OK && builder_restarts(&j->builder))
        status = wrong(j, "a column of `sources` has strings and numbers", error);
    return status;
}

/* --- the document --- */

static enum srcfind_status read_member_of_document(struct json *j, struct table_file *table,
                                                   struct error *error) {
    struct string name;
    const enum srcfind_status status = read_name(j, &name, error);
    if (status != SRCFIND_OK)
        return status;
    if (is_word(name, "columns"))
        return read_columns(j, error);
    if (is_word(name, "sources") || is_word(name, "gaussians") || is_word(name, "injections"))
        return read_sources(j, error);
    if (is_word(name, "image"))
        return read_image(j, table, error);
    if (is_word(name, "images"))
        return read_images(j, table, error);
    if (is_word(name, "options"))
        return read_options(j, table, error);
    if (is_word(name, "background"))
        return read_member_text(j, &j->background, error);
    if (is_word(name, "detection"))
        return read_member_text(j, &j->detection, error);
    return skip_value(j, error);
}

static enum srcfind_status read_document(struct json *j, struct table_file *table,
                                         struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    if (!skip(j, '{'))
        return wrong(j, "the file is not a catalogue of srcfind, which is one object", error);
    do
        status = read_member_of_document(j, table, error);
    while (status == SRCFIND_OK && skip(j, ','));
    if (status != SRCFIND_OK)
        return status;
    if (!skip(j, '}'))
        return wrong(j, "a comma or brace is missing", error);
    skip_blanks(j);
    if (j->at < j->end)
        return wrong(j, "something follows the end of the JSON", error);
    if (!j->has_sources)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: there is no member `sources`: is it a catalogue of srcfind?",
                         j->path);
    return SRCFIND_OK;
}

/* Joins the texts of image, background and detection to an object. */
static bool take_entry(const struct json *j, struct table_file *table) {
    static const char names[3][32] = {"{\"image\":", ",\n\"background\":", ",\n\"detection\":"};
    const struct string *const texts[] = {&j->image, &j->background, &j->detection};
    size_t length = 2;
    for (int i = 0; i < 3; i++)
        length += strlen(names[i]) + texts[i]->length;
    if (!j->image.text || !j->background.text || !j->detection.text)
        return true;
    char *to = table->entry = malloc(length);
    for (int i = 0; to && i < 3; i++) {
        to = stpcpy(to, names[i]);
        memcpy(to, texts[i]->text, texts[i]->length);
        to += texts[i]->length;
    }
    if (!to)
        return false;
    memcpy(to, "}", 2);
    json_replace_invalid(table->entry);
    return true;
}

enum srcfind_status json_table_read(const char *path, struct table_file *table,
                                    struct error *error) {
    struct text_file file;
    struct json j = {.path = path};
    enum srcfind_status status = text_file_open(&file, path, error);
    j.begin = j.at = file.text;
    j.end = file.text + file.size;
    if (status == SRCFIND_OK)
        status = read_document(&j, table, error);
    if (status == SRCFIND_OK && !(builder_finish(&j.builder, table) && take_entry(&j, table)))
        status = error_memory(error, "reading a catalogue");
    free(j.string);
    free(j.seen);
    builder_clear(&j.builder);
    text_file_close(&file);
    return status;
}
