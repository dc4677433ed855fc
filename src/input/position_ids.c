#include "input/position_ids.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "common/format_double.h"

/* The columns that may have ids, the best first. */
static const char *const names[] = {"Entry_id",     "Gaus_id",
                                    "Source_id",    "Gaussian_id",
                                    "Source_Name",  "component_name",
                                    "component_id", "id",
                                    "name",         NULL /* island and source */,
                                    "uuid"};
enum { NAMES = sizeof names / sizeof *names };

bool position_ids_use(const char *name) {
    for (int i = 0; i < NAMES; i++)
        if (names[i] && ascii_same(name, names[i]))
            return true;
    return ascii_same(name, "island") || ascii_same(name, "source");
}

/* The one or two columns that ids are made of; none if `first` is NULL. */
struct id_columns {
    const struct table_file_column *first, *second;
};

static struct id_columns find_columns(const struct table_file *table) {
    struct id_columns c = {0};
    for (int i = 0; i < NAMES && !c.first; i++) {
        c.first = table_file_column(table, names[i] ? names[i] : "island");
        c.second = names[i] ? NULL : table_file_column(table, "source");
        if (!names[i] && !c.second)
            c.first = NULL;
    }
    return c;
}

/* Writes a cell as text, cut if it is too long; "" for an empty cell. */
static void write_cell(const struct table_file_column *column, int64_t row, char *text,
                       size_t size) {
    char number[FORMAT_TEXT];
    *text = '\0';
    if (column->kind == SRCFIND_STRING) {
        snprintf(text, size, "%s", table_file_text(column, row));
    } else if (column->kind == SRCFIND_INTEGER && column->integers[row] != INT64_MIN) {
        snprintf(text, size, "%lld", (long long)column->integers[row]);
    } else if (column->kind == SRCFIND_REAL && column->reals[row] == column->reals[row]) {
        format_double(column->reals[row], number);
        snprintf(text, size, "%s", number);
    }
}

static void make_plain(char *text) {
    for (; *text; text++) {
        const bool is_letter = (*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z');
        if (!is_letter && !(*text >= '0' && *text <= '9') && !strchr("+-._:", *text))
            *text = '_';
    }
}

void position_ids_fill(const struct table_file *table, const int64_t *numbers,
                       char (*ids)[SRCFIND_CELL]) {
    const struct id_columns c = find_columns(table);
    for (int64_t row = 0; row < table->n_rows; row++) {
        char *id = ids[row];
        *id = '\0';
        if (c.first)
            write_cell(c.first, row, id, SRCFIND_CELL);
        const size_t length = strlen(id);
        if (c.second && length > 0 && length + 1 < SRCFIND_CELL) {
            id[length] = '.';
            write_cell(c.second, row, id + length + 1, SRCFIND_CELL - length - 1);
        }
        if (!*id)
            snprintf(id, SRCFIND_CELL, "%lld", (long long)numbers[row]);
        make_plain(id);
    }
}
