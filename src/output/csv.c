#include "output/catalogue.h"

/* RFC 4180, but that lines end as the shell's tools want them. */
bool csv_write(const struct srcfind_catalogue *catalogue, FILE *stream) {
    struct catalogue_line lines[2];
    const int n = catalogue_columns();
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s%c", catalogue_column(catalogue, i).name, i + 1 < n ? ',' : '\n');
    for (int64_t row = 0; row < catalogue->n_sources && !ferror(stream); row++) {
        const struct catalogue_line *before = row > 0 ? &lines[(row + 1) % 2] : NULL;
        struct catalogue_line *line = &lines[row % 2];
        fwrite(line->text, 1, catalogue_write_line(&catalogue->sources[row], before, line), stream);
    }
    return !ferror(stream);
}
