/* CSV as in RFC 4180, but with LF at the end of lines, as shell tools expect. */
#include "output/catalogue.h"
#include "output/writer.h"

static bool csv_begin(const struct srcfind_catalogue *catalogue, FILE *stream) {
    const int n = catalogue_columns();
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s%c", catalogue->columns[i].name, i + 1 < n ? ',' : '\n');
    return true;
}

static size_t csv_rows(const struct srcfind_catalogue *catalogue, int64_t first, int64_t end,
                       char *text) {
    const int n = catalogue_columns();
    char *to = text;
    for (int64_t row = first; row < end; row++) {
        for (int i = 0; i < n; i++) {
            to += catalogue_cell(&catalogue->sources[row], i, to);
            *to++ = i + 1 < n ? ',' : '\n';
        }
    }
    return (size_t)(to - text);
}

static const char *const suffixes[] = {".csv", ".csv.gz", NULL};

const struct writer csv_writer = {
    .format = {"csv", suffixes},
    .first = "Source_id,",
    .last = "\n",
    .begin = csv_begin,
    .rows = csv_rows,
    .row_bytes = MOST_COLUMNS * (CELL_TEXT + 1),
};
