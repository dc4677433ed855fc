#include "catalogue.h"

enum { MOST_COLUMNS = 64 };

/* RFC 4180, but that lines end as the shell's tools want them. */
bool csv_write(const struct srcfind_catalogue *catalogue, FILE *stream) {
    char line[MOST_COLUMNS * (CELL_TEXT + 1)];
    const int n = catalogue_columns();
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s%c", catalogue_column(catalogue, i).name, i + 1 < n ? ',' : '\n');
    for (int64_t row = 0; row < catalogue->n_sources && !ferror(stream); row++) {
        size_t length = 0;
        for (int i = 0; i < n; i++) {
            length += (size_t)catalogue_cell(&catalogue->sources[row], i, line + length);
            line[length++] = i + 1 < n ? ',' : '\n';
        }
        fwrite(line, 1, length, stream);
    }
    return !ferror(stream);
}
