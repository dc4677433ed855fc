/* ECSV (astropy APE 6): CSV behind a header of YAML, in comments.
 *
 * 1. copy_yaml takes the marks of comments off; find_sections finds `datatype`, `meta` and
 *    `delimiter`.
 * 2. The line of names follows; delimited.c reads it, and then the rows.
 * 3. read_maps goes through the maps of a section, in lines or in braces, and hands each pair over:
 *    types and units of columns, and the metadata that srcfind writes to `meta`.
 *
 * Always: of YAML only this much is known: maps in lines and in braces, and scalars of one line.
 * Anything else is passed over, and takes no metadata. There are as many maps in `datatype` as
 * names.
 *
 * Cost: a copy of the header; the rows as in delimited.c. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/table_metadata.h"
#include "input/tables/delimited.h"
#include "input/tables/readers.h"
#include "input/tables/text_file.h"

struct span {
    const char *at, *end;
};

struct header {
    char *yaml; /* without the marks of comments */
    struct span types, metadata;
    char delimiter;
    int64_t n_maps; /* of the list that is read */
    struct builder *builder;
    struct table_file *table;
    bool no_memory;
};

/* --- YAML --- */

static bool begins(struct span text, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(text.end - text.at) >= length && memcmp(text.at, word, length) == 0;
}

static bool equals(struct span text, const char *word) {
    return (size_t)(text.end - text.at) == strlen(word) &&
           ascii_same_start(text.at, word, strlen(word));
}

static struct span trimmed(struct span text) {
    while (text.at < text.end && strchr(" \t\n", *text.at))
        text.at++;
    while (text.at < text.end && strchr(" \t\n", text.end[-1]))
        text.end--;
    return text;
}

/* Cuts the first line off a text. */
static struct span next_line(struct span *text) {
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    const struct span line = {text->at, end ? end : text->end};
    text->at = end ? end + 1 : text->end;
    return line;
}

/* Cuts a text before the next line that begins a new section: a line that begins without a blank
 * or, if items are wanted, with a dash. */
static struct span next_section(struct span *text, bool items) {
    struct span section = {text->at, text->at};
    next_line(text);
    while (text->at < text->end && (strchr(" \t\n", *text->at) || (!items && *text->at == '-')))
        next_line(text);
    section.end = text->at;
    return section;
}

/* Cuts the text before a separator outside of quotes and brackets. A quote counts where a scalar
 * begins. */
static struct span next_of(struct span *text, char separator) {
    struct span piece = *text;
    int64_t depth = 0;
    char quote = '\0';
    bool is_begin = true;
    const char *at = text->at;
    for (; at < text->end && (quote || depth > 0 || *at != separator); at++) {
        if (quote == '"' && *at == '\\' && at + 1 < text->end)
            at++;
        else if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (is_begin && (*at == '"' || *at == '\''))
            quote = *at;
        else
            depth += (strchr("{[", *at) != NULL) - (strchr("}]", *at) != NULL);
        is_begin = strchr(",:{[", *at) || (is_begin && strchr(" \n", *at));
    }
    piece.end = at;
    text->at = at < text->end ? at + 1 : at;
    return piece;
}

typedef void take_value(struct header *header, struct span key, struct span value);

/* Takes the pairs of a map in braces, or in lines of the same indentation. */
static void read_map(struct header *header, struct span map, take_value *take) {
    struct span rest = trimmed(map);
    const bool braces = begins(rest, "{");
    int64_t indentation = -1;
    if (braces)
        rest = (struct span){rest.at + 1, rest.end - (rest.end - rest.at > 1)};
    else
        rest = map;
    while (rest.at < rest.end) {
        struct span pair = braces ? next_of(&rest, ',') : next_line(&rest);
        const struct span text = trimmed(pair);
        if (text.at == text.end)
            continue;
        if (indentation < 0)
            indentation = text.at - pair.at;
        if (!braces && text.at - pair.at != indentation)
            continue;
        pair = text;
        const struct span key = next_of(&pair, ':');
        take(header, trimmed(key), trimmed(pair));
    }
}

/* The text of a scalar: plain, in single quotes, or in double quotes, as a string of JSON. To be
 * freed; NULL where memory ran out. */
static char *scalar(struct span value) {
    const size_t length = (size_t)(value.end - value.at);
    if (length < 2 || *value.at != value.end[-1] || (*value.at != '"' && *value.at != '\''))
        return strndup(value.at, length);
    cJSON *json = *value.at == '"' ? cJSON_ParseWithLength(value.at, length) : NULL;
    char *text =
        cJSON_IsString(json) ? strdup(json->valuestring) : strndup(value.at + 1, length - 2);
    cJSON_Delete(json);
    return text;
}

/* Reads the maps of a list, or one map, and counts them. */
static void read_maps(struct header *header, struct span text, take_value *take) {
    header->n_maps = 0;
    while (text.at < text.end) {
        struct span map = next_section(&text, true);
        if (begins(map, "-"))
            header->yaml[map.at - header->yaml] = ' '; /* the first line is as the others */
        if (begins(trimmed(map), "!"))                 /* a tag: !!omap */
            next_line(&map);
        if (trimmed(map).at == trimmed(map).end)
            continue;
        read_map(header, map, take);
        header->n_maps++;
    }
}

/* --- the header --- */

static void take_unit(struct header *header, struct span value) {
    char *unit = scalar(value);
    if (unit)
        builder_set_unit(header->builder, header->n_maps, unit);
    header->no_memory = header->no_memory || !unit;
    free(unit);
}

static void take_type(struct header *header, struct span key, struct span value) {
    if (header->n_maps >= header->builder->n_columns)
        return;
    if (equals(key, "unit"))
        take_unit(header, value);
    if (!equals(key, "datatype"))
        return;
    if (begins(value, "float"))
        builder_declare(header->builder, header->n_maps, SRCFIND_REAL);
    else if (begins(value, "int") || (begins(value, "uint") && !equals(value, "uint64")))
        builder_declare(header->builder, header->n_maps, SRCFIND_INTEGER);
    else if (!equals(value, "uint64")) /* int64_t may not hold it */
        builder_declare(header->builder, header->n_maps, SRCFIND_STRING);
}

static void take_metadata(struct header *header, struct span key, struct span value) {
    char *name = strndup(key.at, (size_t)(key.end - key.at)), *text = scalar(value);
    bool ok = name && text;
    if (ok)
        ok = strcmp(name, "options") == 0
                 ? table_metadata_set_options(header->table, text, strlen(text))
                 : table_metadata_set(header->table, name, text);
    header->no_memory = header->no_memory || !ok;
    free(name);
    free(text);
}

/* Copies the lines of comments without their marks, and goes behind them. */
static bool copy_yaml(struct delimited *d, struct header *header, int64_t *length) {
    char *to = header->yaml = malloc((size_t)(d->end - d->at) + 1);
    if (!to)
        return false;
    struct span rest = {d->at, d->end};
    while (rest.at < rest.end && *rest.at == '#') {
        struct span line = next_line(&rest);
        line.at += line.end - line.at > 1 && line.at[1] == ' ' ? 2 : 1;
        line.end -= line.end > line.at && line.end[-1] == '\r';
        memcpy(to, line.at, (size_t)(line.end - line.at));
        to += line.end - line.at;
        *to++ = '\n';
        d->line++;
    }
    d->at = rest.at;
    *length = to - header->yaml;
    return true;
}

/* Finds the sections of the header. */
static void find_sections(struct header *header, int64_t length) {
    struct span rest = {header->yaml, header->yaml + length};
    while (rest.at < rest.end) {
        struct span section = next_section(&rest, false);
        const struct span key = trimmed(next_of(&section, ':'));
        if (equals(key, "datatype"))
            header->types = section;
        else if (equals(key, "meta"))
            header->metadata = section;
        else if (equals(key, "delimiter") &&
                 memchr(section.at, ',', (size_t)(section.end - section.at)))
            header->delimiter = ',';
    }
}

static enum srcfind_status read_header(struct delimited *d, struct header *header,
                                       struct error *error) {
    int64_t length;
    if (!begins((struct span){d->at, d->end}, "# %ECSV "))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: line 1 is not `# %%ECSV 1.0`: is the file CSV?", d->path);
    if (!copy_yaml(d, header, &length))
        return error_memory(error, "reading a catalogue");
    find_sections(header, length);
    d->delimiter = header->delimiter;
    d->comments = true;
    if (!delimited_next_row(d))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: no line with the names of columns behind the header: is the file "
                         "truncated?",
                         d->path);
    const enum srcfind_status status = delimited_read_names(d, header->builder, error);
    if (status != SRCFIND_OK)
        return status;
    read_maps(header, header->metadata, take_metadata);
    read_maps(header, header->types, take_type);
    if (header->no_memory)
        return error_memory(error, "reading a catalogue");
    if (header->n_maps == header->builder->n_columns)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: the header has %lld columns, but line %lld has %lld names: is the file "
                     "damaged?",
                     d->path, (long long)header->n_maps, (long long)(d->line - 1),
                     (long long)header->builder->n_columns);
}

static enum srcfind_status begin(struct delimited *d, struct builder *builder,
                                 struct table_file *table, struct error *error) {
    struct header header = {.delimiter = ' ', .builder = builder, .table = table};
    const enum srcfind_status status = read_header(d, &header, error);
    free(header.yaml);
    return status;
}

enum srcfind_status ecsv_table_read(const char *path, struct table_file *table,
                                    struct error *error) {
    return delimited_read(path, begin, table, error);
}

enum srcfind_status ecsv_table_read_blocks(const char *path, const struct table_sink *sink,
                                           struct table_file *table, bool *done,
                                           struct error *error) {
    return delimited_read_blocks(path, begin, sink, table, done, error);
}
