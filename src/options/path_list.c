/* Lists of files: --measure-in a.fits,b.fits, --measure-in @LIST.
 *
 * A list keeps its paths, and one text of all of them, with commas, which options_get gives: lists
 * from files are in it path by path, so that the text does not depend on a file that may change. */
#include "options/path_list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/path_lines.h"
#include "common/text_stream.h"
#include "common/texts.h"

static const char ADDING[] = "listing files";

/* The character behind the first path of a text: a comma, or the end. */
static const char *end_of(const char *text) {
    while (*text && (*text != ',' || text[1] == ','))
        text += *text == ',' ? 2 : 1;
    return text;
}

/* Adds a path, which becomes the list's. */
static enum srcfind_status add_path(struct path_list *list, char *path, struct error *error) {
    if (!path || !GROW(list->paths, list->capacity, list->n + 1)) {
        free(path);
        return error_memory(error, ADDING);
    }
    list->paths[list->n++] = path;
    return SRCFIND_OK;
}

/* Notes that a list file was read. */
static enum srcfind_status add_file_name(struct path_list *list, const char *file,
                                         struct error *error) {
    char *copy = strdup(file);
    if (!copy || !GROW(list->files, list->files_capacity, list->n_files + 1)) {
        free(copy);
        return error_memory(error, ADDING);
    }
    list->files[list->n_files++] = copy;
    return SRCFIND_OK;
}

/* A path of a text, with single commas; to be freed. NULL where memory ran out. */
static char *copy_path(const char *text, const char *end) {
    char *path = malloc((size_t)(end - text) + 1), *to = path;
    for (; path && text < end; text += *text == ',' ? 2 : 1)
        *to++ = *text;
    if (path)
        *to = '\0';
    return path;
}

/* --- list files --- */

static enum srcfind_status add_lines(struct path_list *list, const char *option, const char *file,
                                     FILE *stream, struct error *error) {
    const int64_t before = list->n;
    char path[PATH_MAX];
    enum path_line line;
    while ((line = path_line_read(stream, '\n', path, sizeof path)) == PATH_LINE_THERE)
        if (*path && add_path(list, strdup(path), error) != SRCFIND_OK)
            return SRCFIND_ERROR_MEMORY;
    if (line != PATH_LINE_NONE)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: %s is no list of paths, one on each line: for a file whose name "
                         "begins with @ write ./@",
                         option, file);
    if (ferror(stream))
        return error_set(error, SRCFIND_ERROR_OPTIONS, "%s: the list %s cannot be read: %s", option,
                         file, strerror(errno));
    return list->n > before
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OPTIONS, "%s: the list %s is empty", option, file);
}

static enum srcfind_status add_file(struct path_list *list, const char *option, const char *file,
                                    struct error *error) {
    FILE *stream = *file ? fopen(file, "r") : NULL;
    if (!*file)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: the name of a list of files must follow @", option);
    if (!stream)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: the list %s cannot be read: %s: for a file whose name begins with @ "
                         "write ./@",
                         option, file, strerror(errno));
    const enum srcfind_status status = add_lines(list, option, file, stream, error);
    fclose(stream);
    return status == SRCFIND_OK ? add_file_name(list, file, error) : status;
}

/* --- the text --- */

/* Writes the list as path_list_add takes it, without list files. */
static bool write_text(struct path_list *list) {
    struct text text = {0};
    FILE *stream = text_stream_open(&text);
    for (int64_t i = 0; stream && i < list->n; i++) {
        fprintf(stream, "%s%s", i > 0 ? "," : "", *list->paths[i] == '@' ? "./" : "");
        for (const char *path = list->paths[i]; *path; path++)
            fprintf(stream, "%s%c", *path == ',' ? "," : "", *path);
    }
    const bool ok = stream && fclose(stream) == 0;
    free(ok ? list->text : text.at);
    if (ok)
        list->text = text.at;
    return ok;
}

/* --- lists --- */

static void drop_from(struct path_list *list, int64_t n, int64_t n_files) {
    while (list->n > n)
        free(list->paths[--list->n]);
    while (list->n_files > n_files)
        free(list->files[--list->n_files]);
}

/* A file that is named twice would count twice in spectra. */
static enum srcfind_status check_unique(const struct path_list *list, const char *option,
                                        struct error *error) {
    const char *path;
    const char **sorted = arrays_allocate(list->n, sizeof *sorted);
    if (!sorted)
        return error_memory(error, ADDING);
    memcpy(sorted, list->paths, (size_t)list->n * sizeof *sorted);
    const int64_t n = texts_find_equal(sorted, list->n, &path);
    free((void *)sorted);
    return n > 1 ? error_set(error, SRCFIND_ERROR_OPTIONS, "%s: %s is given twice", option, path)
                 : SRCFIND_OK;
}

static enum srcfind_status add_all(struct path_list *list, const char *option, const char *text,
                                   bool opens_lists, struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    for (bool more = true; more && status == SRCFIND_OK;) {
        const char *end = end_of(text);
        if (end == text)
            return error_set(error, SRCFIND_ERROR_OPTIONS,
                             "%s: one of the paths is empty: commas stand between paths, and a "
                             "comma in a path is written twice",
                             option);
        char *path = copy_path(text, end);
        if (opens_lists && path && *path == '@') {
            status = add_file(list, option, path + 1, error);
            free(path);
        } else {
            status = add_path(list, path, error);
        }
        more = *end;
        text = end + more;
    }
    return status;
}

enum srcfind_status path_list_add(struct path_list *list, const char *option, const char *text,
                                  bool opens_lists, struct error *error) {
    const int64_t n = list->n, n_files = list->n_files;
    enum srcfind_status status = add_all(list, option, text, opens_lists, error);
    if (status == SRCFIND_OK)
        status = check_unique(list, option, error);
    if (status == SRCFIND_OK && !write_text(list))
        status = error_memory(error, ADDING);
    if (status != SRCFIND_OK)
        drop_from(list, n, n_files);
    return status;
}

bool path_list_copy(struct path_list *copy, const struct path_list *list) {
    bool ok = true;
    struct error ignored;
    *copy = (struct path_list){0};
    for (int64_t i = 0; ok && i < list->n; i++)
        ok = add_path(copy, strdup(list->paths[i]), &ignored) == SRCFIND_OK;
    for (int64_t i = 0; ok && i < list->n_files; i++)
        ok = add_file_name(copy, list->files[i], &ignored) == SRCFIND_OK;
    ok = ok && (list->n == 0 || (copy->text = strdup(list->text)));
    if (!ok)
        path_list_clear(copy);
    return ok;
}

void path_list_clear(struct path_list *list) {
    drop_from(list, 0, 0);
    free(list->paths);
    free(list->files);
    free(list->text);
    *list = (struct path_list){0};
}
