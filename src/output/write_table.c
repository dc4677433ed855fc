#include "output/write_table.h"

#include <stdlib.h>

#include "common/text_stream.h"
#include "output/blocks.h"

static bool write_begin(const struct writer *writer, const struct table *table, FILE *stream) {
    return writer->begin(table, stream) && !ferror(stream);
}

static bool write_end(const struct writer *writer, const struct table *table, FILE *stream) {
    if (writer->after)
        fputs(writer->after, stream);
    if (writer->end)
        writer->end(table, stream);
    return !ferror(stream);
}

static bool write_plain(const struct writer *writer, const struct table *table,
                        struct threads *threads, FILE *stream) {
    return write_begin(writer, table, stream) &&
           blocks_write(writer, table, threads, stream, NULL) && write_end(writer, table, stream);
}

/* Adds what a function writes. */
static bool add_text(const struct writer *writer, const struct table *table,
                     bool (*write)(const struct writer *writer, const struct table *table,
                                   FILE *stream),
                     struct gzip *gzip) {
    struct text text = {0};
    struct gzip_piece piece = {0};
    FILE *stream = text_stream_open(&text);
    bool ok = stream && write(writer, table, stream);
    ok = stream && fclose(stream) == 0 && ok && gzip_compress(text.at, (size_t)text.size, &piece) &&
         gzip_add(gzip, &piece);
    gzip_clear(&piece);
    free(text.at);
    return ok;
}

static bool write_compressed(const struct writer *writer, const struct table *table,
                             struct threads *threads, FILE *stream) {
    struct gzip gzip;
    return gzip_begin(&gzip, stream) && add_text(writer, table, write_begin, &gzip) &&
           blocks_write(writer, table, threads, stream, &gzip) &&
           add_text(writer, table, write_end, &gzip) && gzip_end(&gzip);
}

bool table_write(const struct writer *writer, const struct table *table, struct threads *threads,
                 FILE *stream, bool compressed) {
    return compressed ? write_compressed(writer, table, threads, stream)
                      : write_plain(writer, table, threads, stream);
}
