/* CSV: a line of names and lines of cells. Other programs write comments before, and some, as
 * PyBDSF, NumPy and TOPCAT, the names in the last of them; and other delimiters than commas. Selavy
 * has a comment with the units below that of the names, and a last column `comment` without cells.
 */
#include <string.h>

#include "common/parse_number.h"
#include "input/tables/delimited.h"
#include "input/tables/readers.h"
#include "input/tables/text_file.h"

static void skip_byte_order_mark(struct delimited *d) {
    if (d->end - d->at >= 3 && memcmp(d->at, "\xef\xbb\xbf", 3) == 0)
        d->at += 3;
}

/* Whether the line has a comment, which goes to its end; only its text is left of it. */
static bool is_comment(struct delimited *line) {
    while (line->at < line->end && strchr(" \t", *line->at))
        line->at++;
    const bool is = line->at < line->end && *line->at == '#';
    while (line->at < line->end && strchr(" \t#", *line->at))
        line->at++;
    for (const char *end = line->at; end < line->end; end++)
        if (*end == '\n' || *end == '\r')
            line->end = end;
    return is;
}

/* Takes the next word of a line, between blanks; one of length 0 at its end. */
static const char *next_word(struct delimited *line, size_t *length) {
    while (line->at < line->end && strchr(" \t", *line->at))
        line->at++;
    const char *word = line->at;
    while (line->at < line->end && !strchr(" \t", *line->at))
        line->at++;
    *length = (size_t)(line->at - word);
    return word;
}

/* Whether the words of a line are units: `[deg]`, or `--` for none. */
static bool has_units(struct delimited line) {
    bool has = false;
    size_t length;
    for (const char *word = next_word(&line, &length); length > 0;
         word = next_word(&line, &length)) {
        const bool is_unit = *word == '[' && word[length - 1] == ']';
        if (!is_unit && !(length == 2 && memcmp(word, "--", 2) == 0))
            return false;
        has = has || is_unit;
    }
    return has;
}

/* The most characters between the ends of a name and of its unit. */
enum { MOST_SHIFT = 3 };

/* The comments before the rows: the last one with a text that has no units, and the one with units
 * behind it. Those that are not there have no text. */
struct heading {
    struct delimited names, units;
};

/* Goes to the first line with a cell that is no comment. */
static void skip_comments(struct delimited *d, struct heading *heading) {
    heading->names = *d;
    heading->names.end = heading->names.at;
    heading->units = heading->names;
    while (delimited_next_row(d)) {
        struct delimited line = *d;
        if (!is_comment(&line))
            break;
        d->at = line.end;
        if (line.at < line.end && has_units(line)) {
            heading->units = line;
        } else if (line.at < line.end) {
            heading->names = line;
            heading->units.end = heading->units.at;
        }
    }
}

/* Takes a last name `comment` from names with units. */
static void drop_comment_column(struct heading *heading) {
    struct delimited line = heading->names;
    const char *last = NULL;
    size_t length, last_length = 0;
    for (const char *word = next_word(&line, &length); length > 0;
         word = next_word(&line, &length)) {
        last = word;
        last_length = length;
    }
    if (heading->units.at < heading->units.end && last_length == 7 &&
        memcmp(last, "comment", last_length) == 0)
        heading->names.end = last;
}

/* Sets the units of the columns that have names. A unit ends where its name does, give or take:
 * both lines have the width of the columns, and some units are left out. */
static void set_units(const struct heading *heading, struct builder *builder) {
    struct delimited names = heading->names, units = heading->units;
    char unit[SRCFIND_TEXT];
    size_t length, name_length;
    const char *word = next_word(&units, &length);
    for (int64_t i = 0; i < builder->n_columns && length > 0; i++) {
        next_word(&names, &name_length);
        const ptrdiff_t end = names.at - names.row;
        while (length > 0 && units.at - units.row < end - MOST_SHIFT)
            word = next_word(&units, &length);
        const bool is_below = length > 0 && units.at - units.row <= end + MOST_SHIFT;
        if (is_below && *word == '[' && length - 2 < sizeof unit) {
            memcpy(unit, word + 1, length - 2);
            unit[length - 2] = '\0';
            builder_set_unit(builder, i, unit);
        }
        if (is_below)
            word = next_word(&units, &length);
    }
}

struct line_counts {
    int64_t cells, numbers;
};

/* Counts the cells of a line, and those with a number; none where the line cannot be read. An error
 * if memory runs out. */
static enum srcfind_status count_cells(struct delimited line, struct line_counts *counts,
                                       struct error *error) {
    struct delimited_cell cell = {0};
    enum srcfind_status status = SRCFIND_OK;
    line.row = line.at;
    line.unquoted = NULL;
    line.unquoted_capacity = 0;
    *counts = (struct line_counts){0};
    while (status == SRCFIND_OK && line.at < line.end && !cell.is_last) {
        status = delimited_next_cell(&line, &cell, error);
        if (status != SRCFIND_OK)
            break;
        counts->cells++;
        counts->numbers += parse_number(cell.text, cell.length).kind != NUMBER_NONE;
    }
    if (status != SRCFIND_OK)
        *counts = (struct line_counts){0};
    delimited_clear(&line);
    return status == SRCFIND_ERROR_MEMORY ? status : SRCFIND_OK;
}

/* Sets *has_names to whether the last comment has the names: several, as many as the first line has
 * cells, if that has numbers. */
static enum srcfind_status look_at_comment(const struct delimited *comment,
                                           const struct delimited *first, bool *has_names,
                                           struct error *error) {
    struct line_counts names, cells = {0};
    enum srcfind_status status = count_cells(*comment, &names, error);
    if (status == SRCFIND_OK)
        status = count_cells(*first, &cells, error);
    *has_names = status == SRCFIND_OK && names.cells > 1 && names.numbers == 0 &&
                 (cells.cells == 0 || (cells.cells == names.cells && cells.numbers > 0));
    return status;
}

/* Sets the delimiter, and *has_names as above: the first one that is between the names. */
static enum srcfind_status choose_delimiter(struct delimited *d, struct delimited *comment,
                                            bool *has_names, struct error *error) {
    static const char delimiters[] = ",\t;| ";
    enum srcfind_status status = SRCFIND_OK;
    for (const char *c = delimiters; *c && status == SRCFIND_OK; c++) {
        struct line_counts first;
        d->delimiter = comment->delimiter = *c;
        status = look_at_comment(comment, d, has_names, error);
        if (status == SRCFIND_OK)
            status = count_cells(*d, &first, error);
        if (status == SRCFIND_OK && (*has_names || first.cells > 1))
            return SRCFIND_OK;
    }
    d->delimiter = ',';
    return status;
}

static enum srcfind_status read_comment(struct delimited *comment, struct builder *builder,
                                        struct error *error) {
    comment->row = comment->at;
    const enum srcfind_status status = delimited_read_names(comment, builder, error);
    delimited_clear(comment);
    return status;
}

static enum srcfind_status read_names(struct delimited *d, struct builder *builder,
                                      struct error *error) {
    struct heading heading;
    bool has_names;
    skip_byte_order_mark(d);
    skip_comments(d, &heading);
    drop_comment_column(&heading);
    enum srcfind_status status = choose_delimiter(d, &heading.names, &has_names, error);
    if (status != SRCFIND_OK)
        return status;
    if (has_names) {
        struct delimited names = heading.names;
        status = read_comment(&names, builder, error);
        if (status == SRCFIND_OK)
            set_units(&heading, builder);
        return status;
    }
    if (d->at == d->end)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: no line with the names of columns: is the file empty?", d->path);
    return delimited_read_names(d, builder, error);
}

/* Returns an error for the table that srcfind writes to be read by eye, which has no line of units
 * that a program could tell from rows. */
static enum srcfind_status check_no_rounded_table(const char *path, const struct builder *b,
                                                  struct error *error) {
    static const char *const names[] = {"Source", "Xposn", "Flags"};
    static const int64_t columns[] = {0, 3, 9};
    if (b->n_columns != 10)
        return SRCFIND_OK;
    for (int i = 0; i < 3; i++)
        if (strcmp(b->columns[columns[i]].cells.name, names[i]) != 0)
            return SRCFIND_OK;
    return error_set(
        error, SRCFIND_ERROR_INPUT,
        "%s: this is a table of srcfind with rounded numbers, to be read by eye: write "
        "the catalogue as CSV (-f csv)",
        path);
}

static enum srcfind_status begin(struct delimited *d, struct builder *builder,
                                 struct table_file *table, struct error *error) {
    const enum srcfind_status status = read_names(d, builder, error);
    (void)table;
    return status == SRCFIND_OK ? check_no_rounded_table(d->path, builder, error) : status;
}

enum srcfind_status csv_table_read(const char *path, struct table_file *table,
                                   struct error *error) {
    return delimited_read(path, begin, table, error);
}

enum srcfind_status csv_table_read_blocks(const char *path, const struct table_sink *sink,
                                          struct table_file *table, bool *done,
                                          struct error *error) {
    return delimited_read_blocks(path, begin, sink, table, done, error);
}
