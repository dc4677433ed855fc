#define _GNU_SOURCE /* asprintf */
#include "output/save.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/path.h"
#include "output/fits_table.h"
#include "output/partial_file.h"

static enum srcfind_status write_catalogue(const struct srcfind_catalogue *catalogue,
                                           const struct writer *writer, struct threads *threads,
                                           bool compressed, FILE *stream, const char *name,
                                           struct error *error) {
    errno = 0;
    if (writer_write(writer, catalogue, threads, stream, compressed) && fflush(stream) == 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the catalogue cannot be written: %s", name,
                     strerror(errno ? errno : ENOMEM));
}

enum srcfind_status save_stream(const struct srcfind_catalogue *catalogue,
                                const struct writer *writer, struct threads *threads, FILE *stream,
                                const char *name, struct error *error) {
    return write_catalogue(catalogue, writer, threads, false, stream, name, error);
}

enum { MOST_LINKS = 16, MOST_MARK = 32 };

char *save_final_path(const char *path) {
    char target[PATH_MAX], *next, *at = strdup(path);
    for (int i = 0; at; i++) {
        const ssize_t length = readlink(at, target, sizeof target - 1);
        if (length < 0)
            return at;
        target[length] = '\0';
        const int kept = target[0] == '/' ? 0 : path_directory(at);
        if (asprintf(&next, "%.*s%s", kept, at, target) < 0)
            next = NULL;
        free(at);
        at = next;
        if (i == MOST_LINKS) {
            free(at);
            errno = ELOOP;
            return NULL;
        }
    }
    return at;
}

static enum srcfind_status save_error(const struct save_content *content, const char *path,
                                      struct error *error) {
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the %s cannot be written: %s", path,
                     content->what, strerror(errno));
}

static enum srcfind_status save_in_place(const struct save_content *content, const char *path,
                                         struct error *error) {
    FILE *stream = fopen(path, "w");
    if (!stream)
        return save_error(content, path, error);
    enum srcfind_status status = content->write(content->context, stream, path, error);
    if (fclose(stream) != 0 && status == SRCFIND_OK)
        status = save_error(content, path, error);
    return status;
}

enum srcfind_status save_whole(const struct save_content *content, const char *path,
                               struct error *error) {
    struct partial_file file;
    if (path_is_stream(path))
        return save_in_place(content, path, error);
    char *final = save_final_path(path);
    if (!final || !partial_file_open(final, &file)) {
        const enum srcfind_status status = save_error(content, path, error);
        free(final);
        return status;
    }
    enum srcfind_status status = content->write(content->context, file.stream, path, error);
    if (status != SRCFIND_OK)
        partial_file_discard(&file);
    else if (!partial_file_finish(&file, final))
        status = save_error(content, path, error);
    free(final);
    return status;
}

enum srcfind_status save_check(const char *path, const char *what, struct error *error) {
    if (!fits_table_is_foreign(path))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "%s: the %s would replace this file, which is no catalogue of srcfind: name "
                     "another file, or remove it",
                     path, what);
}

static bool is_compressed(const char *path) {
    return path_ends_with(path, ".gz");
}

/* What write_catalogue needs. */
struct catalogue_content {
    const struct srcfind_catalogue *catalogue;
    const struct writer *writer;
    struct threads *threads;
    bool compressed;
};

static enum srcfind_status write_content(void *context, FILE *stream, const char *name,
                                         struct error *error) {
    const struct catalogue_content *c = context;
    return write_catalogue(c->catalogue, c->writer, c->threads, c->compressed, stream, name, error);
}

enum srcfind_status save_file(const struct srcfind_catalogue *catalogue,
                              const struct writer *writer, struct threads *threads,
                              const char *path, struct error *error) {
    struct catalogue_content c = {catalogue, writer, threads, is_compressed(path)};
    const struct save_content content = {"catalogue", write_content, &c};
    return save_whole(&content, path, error);
}

void save_clean(const char *path) {
    char *final = path_is_stream(path) ? NULL : save_final_path(path);
    if (final)
        partial_file_remove_abandoned(final);
    free(final);
}

/* --- existing catalogues --- */

/* Whether a compressed catalogue is whole: to know, it has to be read to its end. */
static bool compressed_is_whole(const struct writer *writer, const char *path) {
    const size_t n_first = strlen(writer->first), n_last = strlen(writer->last);
    char text[1 << 14], end[2 * MOST_MARK] = "";
    size_t n_end = 0;
    bool whole = true, first = true;
    gzFile file = gzopen(path, "rb");
    if (!file)
        return false;
    for (int n; whole && (n = gzread(file, text, sizeof text)) != 0; first = false) {
        const size_t size = n > 0 ? (size_t)n : 0, kept = size < MOST_MARK ? size : MOST_MARK;
        whole = n > 0 && (!first || (size >= n_first && memcmp(text, writer->first, n_first) == 0));
        const size_t before = n_end < MOST_MARK ? n_end : MOST_MARK;
        memmove(end, end + n_end - before, before);
        memcpy(end + before, text + size - kept, kept);
        n_end = before + kept;
    }
    whole = gzclose(file) == Z_OK && whole && !first && n_end >= n_last;
    return whole && memcmp(end + n_end - n_last, writer->last, n_last) == 0;
}

bool save_is_whole(const struct writer *writer, const char *path) {
    if (path_is_stream(path))
        return false;
    if (writer->is_whole)
        return writer->is_whole(path);
    if (is_compressed(path))
        return compressed_is_whole(writer, path);
    const size_t n_last = strlen(writer->last);
    return path_has_bytes(path, 0, SEEK_SET, writer->first, strlen(writer->first)) &&
           path_has_bytes(path, -(long)n_last, SEEK_END, writer->last, n_last);
}
