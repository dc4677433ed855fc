#include "output/writer.h"

#include "common/ascii.h"

const struct writer *const writers[] = {
    &csv_writer, &json_writer, &votable_writer,  &fits_writer,    &ecsv_writer,
    &reg_writer, &crtf_writer, &skymodel_writer, &sagecal_writer, &table_writer};
const int n_writers = sizeof writers / sizeof *writers;

const struct writer *writer_named(const char *name) {
    for (int i = 0; i < n_writers; i++) {
        const struct srcfind_format *format = &writers[i]->format;
        const char *alias = writers[i]->alias;
        if (!name || ascii_same(name, format->name) || (alias && ascii_same(name, alias)))
            return writers[i];
        for (const char *const *suffix = format->suffixes; *suffix; suffix++)
            if (ascii_same(name, *suffix + 1))
                return writers[i];
    }
    return NULL;
}

/* Adds room for texts: formats write at most two bytes for one byte of a text, and 8 beside it. */
size_t writer_row_bytes(const struct writer *writer, const struct table *table) {
    size_t n = writer->rows.most_bytes;
    for (int i = 0; i < table->columns.n; i++)
        if (table->columns.column[i].shown.kind == SRCFIND_STRING)
            n += 2 * table->columns.column[i].width + 8;
    return n;
}
