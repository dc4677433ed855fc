/* How a file is saved:
 *
 * 1. Symbolic links are followed, so that the target of a link is replaced.
 * 2. A temporary file is written in the directory of the target, locked (partial_file.c).
 * 3. If all bytes were written, it is renamed to the target; else it is removed. Devices and pipes
 *    are written directly.
 * 4. A sky model with a file beside it (SAGECal's clusters) gets its name last: both are there, or
 *    neither.
 *
 * A reader of the path always sees the earlier file or the complete new one. Files are not synced
 * to the disk; save_is_whole finds those that a power failure cut, by their first and last bytes.
 * Checking a compressed file costs a read of all of it. */
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
#include "output/sky_model.h"
#include "output/write_table.h"

static enum srcfind_status write_rows(const struct table *table, const struct writer *writer,
                                      struct threads *threads, bool compressed, FILE *stream,
                                      const char *name, struct error *error) {
    errno = 0;
    if (table_write(writer, table, threads, stream, compressed) && fflush(stream) == 0)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the %s cannot be written: %s", name,
                     table_words[table->kind].what, strerror(errno ? errno : ENOMEM));
}

/* Sets *listed to the table to be written: the table itself or, for sky models, *model, which is
 * made of its result. Clear the model also after an error. */
static enum srcfind_status list_rows(const struct table *table, const struct writer *writer,
                                     struct table *model, const struct table **listed,
                                     struct error *error) {
    *listed = writer->is_sky_model ? model : table;
    *model = table_of(table->of, TABLE_OF_SKY_MODEL);
    return writer->is_sky_model ? sky_model_make(table->of, writer->format.name, model, error)
                                : SRCFIND_OK;
}

enum srcfind_status save_stream(const struct table *table, const struct writer *writer,
                                struct threads *threads, FILE *stream, const char *name,
                                struct error *error) {
    struct table model;
    const struct table *listed;
    if (writer->beside)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "format: the %s is written beside the file of the format %s, so a stream "
                         "will not do: name a file",
                         writer->beside->what, writer->format.name);
    enum srcfind_status status = list_rows(table, writer, &model, &listed, error);
    if (status == SRCFIND_OK)
        status = write_rows(listed, writer, threads, false, stream, name, error);
    table_clear(&model);
    return status;
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

/* A file beside the catalogue, saved after the catalogue is written and before it gets its name. */
struct save_first {
    const struct save_content *content;
    const char *path;
    bool is_saved;
};

/* The arguments of write_rows. */
struct table_content {
    const struct table *table;
    const struct writer *writer;
    struct threads *threads;
    bool compressed;
    struct save_first *first; /* NULL: none */
};

static enum srcfind_status write_content(void *context, FILE *stream, const char *name,
                                         struct error *error) {
    const struct table_content *c = context;
    enum srcfind_status status =
        write_rows(c->table, c->writer, c->threads, c->compressed, stream, name, error);
    if (status == SRCFIND_OK && c->first) {
        status = save_whole(c->first->content, c->first->path, error);
        c->first->is_saved = status == SRCFIND_OK;
    }
    return status;
}

static enum srcfind_status save_table(const struct table *table, const struct writer *writer,
                                      struct threads *threads, const char *path,
                                      struct save_first *first, struct error *error) {
    struct table_content c = {table, writer, threads, is_compressed(path), first};
    const struct save_content content = {table_words[table->kind].what, write_content, &c};
    return save_whole(&content, path, error);
}

/* --- the file beside a sky model --- */

char *save_beside(const struct writer *writer, const char *path) {
    const bool has_own = path_ends_with(path, writer->format.suffixes[0]);
    const int stem = has_own ? path_before_suffix(path) : (int)strlen(path);
    char *beside;
    return asprintf(&beside, "%.*s%s", stem, path, writer->beside->suffix) < 0 ? NULL : beside;
}

enum srcfind_status save_check_form(const struct writer *writer, const char *path,
                                    struct error *error) {
    const struct beside *beside = writer->beside;
    if (writer->is_sky_model && is_compressed(path))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: files of the format %s are not compressed: leave .gz out", path,
                         writer->format.name);
    if (beside && path_is_stream(path))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: the %s is written beside the file of the format %s, and this is no "
                         "file: name one, as model%s",
                         path, beside->what, writer->format.name, writer->format.suffixes[0]);
    if (beside && path_ends_with(path, beside->suffix))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: the %s has this name: choose another one, as model%s", path,
                         beside->what, writer->format.suffixes[0]);
    return SRCFIND_OK;
}

/* The arguments of write_beside. */
struct beside_content {
    const struct beside *beside;
    const struct table *model;
};

static enum srcfind_status write_beside(void *context, FILE *stream, const char *name,
                                        struct error *error) {
    const struct beside_content *c = context;
    errno = 0;
    c->beside->write(c->model, stream);
    if (fflush(stream) == 0 && !ferror(stream))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the %s cannot be written: %s", name,
                     c->beside->what, strerror(errno ? errno : EIO));
}

/* Saves a sky model and the file beside it. If one cannot be saved, neither is. */
static enum srcfind_status save_both(const struct table *model, const struct writer *writer,
                                     struct threads *threads, const char *path,
                                     struct error *error) {
    struct beside_content c = {writer->beside, model};
    const struct save_content content = {writer->beside->what, write_beside, &c};
    char *beside = save_beside(writer, path);
    if (!beside)
        return error_memory(error, "naming what belongs beside a catalogue");
    struct save_first first = {&content, beside, false};
    enum srcfind_status status = save_check(beside, writer->beside->what, error);
    if (status == SRCFIND_OK)
        status = save_table(model, writer, threads, path, &first, error);
    if (status != SRCFIND_OK && first.is_saved) /* the catalogue did not get its name */
        unlink(beside);
    free(beside);
    return status;
}

enum srcfind_status save_file(const struct table *table, const struct writer *writer,
                              struct threads *threads, const char *path, struct error *error) {
    struct table model;
    const struct table *listed;
    enum srcfind_status status = list_rows(table, writer, &model, &listed, error);
    if (status == SRCFIND_OK)
        status = writer->beside ? save_both(listed, writer, threads, path, error)
                                : save_table(listed, writer, threads, path, NULL, error);
    table_clear(&model);
    return status;
}

void save_clean(const char *path) {
    char *final = path_is_stream(path) ? NULL : save_final_path(path);
    if (final)
        partial_file_remove_abandoned(final);
    free(final);
}

/* --- existing catalogues --- */

/* Whether a compressed catalogue is complete. It is read to its end. */
static bool compressed_is_whole(const struct writer *writer, const char *first_bytes,
                                const char *path) {
    const size_t n_first = strlen(first_bytes), n_last = strlen(writer->ends.last);
    char text[1 << 14], end[2 * MOST_MARK] = "";
    size_t n_end = 0;
    bool whole = true, first = true;
    gzFile file = gzopen(path, "rb");
    if (!file)
        return false;
    for (int n; whole && (n = gzread(file, text, sizeof text)) != 0; first = false) {
        const size_t size = n > 0 ? (size_t)n : 0, kept = size < MOST_MARK ? size : MOST_MARK;
        whole = n > 0 && (!first || (size >= n_first && memcmp(text, first_bytes, n_first) == 0));
        const size_t before = n_end < MOST_MARK ? n_end : MOST_MARK;
        memmove(end, end + n_end - before, before);
        memcpy(end + before, text + size - kept, kept);
        n_end = before + kept;
    }
    whole = gzclose(file) == Z_OK && whole && !first && n_end >= n_last;
    return whole && memcmp(end + n_end - n_last, writer->ends.last, n_last) == 0;
}

bool save_is_whole(const struct writer *writer, const char *csv_first, const char *path) {
    const char *first = csv_first && writer == &csv_writer ? csv_first : writer->ends.first;
    if (path_is_stream(path))
        return false;
    if (writer->is_whole)
        return writer->is_whole(path);
    if (is_compressed(path))
        return compressed_is_whole(writer, first, path);
    const size_t n_last = strlen(writer->ends.last);
    return path_has_bytes(path, 0, SEEK_SET, first, strlen(first)) &&
           path_has_bytes(path, -(long)n_last, SEEK_END, writer->ends.last, n_last);
}
