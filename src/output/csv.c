/* CSV as in RFC 4180, but with LF at the end of lines, as shell tools expect. */
#include <string.h>

#include "output/writer.h"

static bool csv_begin(const struct table *table, FILE *stream) {
    const int n = table->columns.n;
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s%c", table->columns.column[i].shown.name, i + 1 < n ? ',' : '\n');
    return true;
}

/* Writes a free text, in quotes if it needs them. Returns the end. */
static char *put_text(const char *text, char *to) {
    const size_t length = strlen(text);
    const bool is_plain =
        !text[strcspn(text, ",\"")] && (length == 0 || (*text != ' ' && text[length - 1] != ' '));
    if (is_plain) {
        memcpy(to, text, length);
        return to + length;
    }
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *to++ = '"';
        *to++ = *text;
    }
    *to++ = '"';
    return to;
}

static size_t csv_rows(const struct table *table, const struct rows *rows, char *text) {
    const int n = table->columns.n;
    char *to = text;
    for (int64_t row = 0; row < rows->n; row++) {
        for (int i = 0; i < n; i++) {
            const struct column *column = &table->columns.column[i];
            to = column_is_free_text(column) ? put_text(cell_get(rows, row, column).text, to)
                                             : to + cell_print(rows, row, column, to);
            *to++ = i + 1 < n ? ',' : '\n';
        }
    }
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".csv", ".csv.gz", NULL};

const struct writer csv_writer = {
    .format = {"csv", suffixes},
    .about = "comma-separated values",
    .is_table = true,
    .ends = {"Source_id,", "\n"},
    .begin = csv_begin,
    .rows = {csv_rows, MOST_COLUMNS *(CELL_TEXT + 1)},
};
