#include <string.h>

#include "catalogue.h"

enum { MOST_COLUMNS = 64 };

/* Cell i, with the comma or the line's end behind it, is text[start[i]] ... text[start[i + 1] - 1].
 */
struct line {
    size_t start[MOST_COLUMNS + 1];
    char text[MOST_COLUMNS * (CELL_TEXT + 1)];
};

/* Writes the line of a row. What is the same number as in the row before, as the noise is, has the
 * text that it has in that line. */
static void write_line(const struct srcfind_source *row, int n, const struct line *before,
                       struct line *line) {
    size_t length = 0;
    for (int i = 0; i < n; i++) {
        line->start[i] = length;
        if (before && catalogue_same(row, row - 1, i)) {
            const size_t start = before->start[i], count = before->start[i + 1] - start;
            memcpy(line->text + length, before->text + start, count);
            length += count;
        } else {
            length += (size_t)catalogue_cell(row, i, line->text + length);
            line->text[length++] = i + 1 < n ? ',' : '\n';
        }
    }
    line->start[n] = length;
}

/* RFC 4180, but that lines end as the shell's tools want them. */
bool csv_write(const struct srcfind_catalogue *catalogue, FILE *stream) {
    struct line lines[2];
    const int n = catalogue_columns();
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s%c", catalogue_column(catalogue, i).name, i + 1 < n ? ',' : '\n');
    for (int64_t row = 0; row < catalogue->n_sources && !ferror(stream); row++) {
        struct line *line = &lines[row % 2];
        write_line(&catalogue->sources[row], n, row > 0 ? &lines[(row + 1) % 2] : NULL, line);
        fwrite(line->text, 1, line->start[n], stream);
    }
    return !ferror(stream);
}
