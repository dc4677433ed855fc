#include "output/writer.h"

#include <stdlib.h>

#include "common/ascii.h"
#include "common/text_stream.h"
#include "output/blocks.h"

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

/* No format makes more than two bytes of one of a text, and some that are beside it. */
size_t writer_row_bytes(const struct writer *writer, const struct srcfind_catalogue *catalogue) {
    const struct row_store *store = catalogue->store;
    size_t free_texts =
        store ? 2 * (store->path_bytes + store->date_bytes + store->plane_bytes) + 24 : 0;
    for (int i = 0; i < catalogue->n_columns; i++) /* a list of columns may have any texts */
        if (!catalogue->columns[i].of_image && catalogue->columns[i].shown.kind == SRCFIND_STRING)
            free_texts += 2 * catalogue->columns[i].width + 8;
    return writer->row_bytes + free_texts;
}

static bool write_begin(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                        FILE *stream) {
    return writer->begin(catalogue, stream) && !ferror(stream);
}

static bool write_end(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                      FILE *stream) {
    if (writer->after)
        fputs(writer->after, stream);
    if (writer->end)
        writer->end(catalogue, stream);
    return !ferror(stream);
}

static bool write_plain(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                        struct threads *threads, FILE *stream) {
    return write_begin(writer, catalogue, stream) &&
           blocks_write(writer, catalogue, threads, stream, NULL) &&
           write_end(writer, catalogue, stream);
}

/* Adds what a function writes. */
static bool add_text(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                     bool (*write)(const struct writer *writer,
                                   const struct srcfind_catalogue *catalogue, FILE *stream),
                     struct gzip *gzip) {
    struct text text = {0};
    struct gzip_piece piece = {0};
    FILE *stream = text_stream_open(&text);
    bool ok = stream && write(writer, catalogue, stream);
    ok = stream && fclose(stream) == 0 && ok && gzip_compress(text.at, (size_t)text.size, &piece) &&
         gzip_add(gzip, &piece);
    gzip_clear(&piece);
    free(text.at);
    return ok;
}

static bool write_compressed(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                             struct threads *threads, FILE *stream) {
    struct gzip gzip;
    return gzip_begin(&gzip, stream) && add_text(writer, catalogue, write_begin, &gzip) &&
           blocks_write(writer, catalogue, threads, stream, &gzip) &&
           add_text(writer, catalogue, write_end, &gzip) && gzip_end(&gzip);
}

bool writer_write(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                  struct threads *threads, FILE *stream, bool compressed) {
    return compressed ? write_compressed(writer, catalogue, threads, stream)
                      : write_plain(writer, catalogue, threads, stream);
}
