#define _GNU_SOURCE /* asprintf, memmem */
#include "cli/earlier.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/ascii.h"
#include "common/path.h"
#include "common/texts.h"
#include "input/srcfind_map.h"
#include "output/picture/png.h"
#include "output/products.h"
#include "output/table.h"

/* --- whether srcfind wrote a file --- */

enum { BLOCK = 1 << 16, OVERLAP = 128, MOST_BLOCKS = 1 << 10 };

/* Whether a file, unpacked if it is gzipped, begins with a text and has another one. NULL: none. */
static bool has_texts(const char *path, const char *first, const char *text) {
    char *block = malloc(OVERLAP + BLOCK);
    gzFile file = block ? gzopen(path, "rb") : NULL;
    bool has = false, begins = !first;
    size_t before = 0;
    for (int i = 0, n; file && !has && i < MOST_BLOCKS; i++) {
        if ((n = gzread(file, block + before, BLOCK)) <= 0)
            break;
        const size_t size = before + (size_t)n;
        if (i == 0 && first)
            begins = size >= strlen(first) && memcmp(block, first, strlen(first)) == 0;
        if (!begins)
            break;
        has = !text || memmem(block, size, text, strlen(text));
        before = size < OVERLAP ? size : OVERLAP;
        memmove(block, block + size - before, before);
    }
    if (file)
        gzclose(file);
    free(block);
    return has;
}

/* Whether a file has these column names; merged tables have others before them. */
static bool has_columns(const char *path, const char *first, const struct table_product *table) {
    char text[OVERLAP];
    const bool is_first = first && !*first; /* the file begins with it */
    if (is_first && has_texts(path, table->columns, NULL))
        return true;
    snprintf(text, sizeof text, "\n%s", table->columns);
    if (!is_first && has_texts(path, first, text))
        return true;
    snprintf(text, sizeof text, ",%s", table->columns);
    return has_texts(path, is_first ? "Image,Date_obs," : first, text);
}

/* Whether a file is a table as srcfind writes it. */
static bool is_own_table(const char *path, const struct writer *writer,
                         const struct table_product *table) {
    const char *rows = table_words[table->kind].rows;
    char text[OVERLAP];
    if (writer == &csv_writer)
        return has_columns(path, "", table);
    if (writer == &ecsv_writer)
        return has_texts(path, writer->ends.first, "\n#   srcfind: ") &&
               has_columns(path, writer->ends.first, table);
    if (writer == &fits_writer) {
        snprintf(text, sizeof text, "EXTNAME = '%s", rows);
        for (char *c = text; *c; c++)
            *c = ascii_upper(*c);
        return has_texts(path, "SIMPLE  =", text) && has_texts(path, NULL, "SRCFIND = '");
    }
    if (writer == &json_writer) {
        snprintf(text, sizeof text, "\n\"%s\":[", rows);
        return has_texts(path, writer->ends.first, text);
    }
    snprintf(text, sizeof text, "<TABLE name=\"%s\"", rows);
    return has_texts(path, writer->ends.first, text) &&
           has_texts(path, NULL, "<PARAM name=\"srcfind\"");
}

/* --- names --- */

static bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether two paths name one file; equal paths do, even if stat fails. */
static bool are_one(const char *a, const char *b) {
    return strcmp(a, b) == 0 || path_is_same_file(a, b);
}

/* Whether a file belongs to this run. */
static bool is_kept(const struct replaced *r, const char *path) {
    if (are_one(path, r->catalogue))
        return true;
    for (int i = 0; i < r->n_files; i++)
        if (are_one(path, r->files[i].path))
            return true;
    for (int i = 0; i < r->n_kept; i++)
        if (r->kept[i] && are_one(path, r->kept[i]))
            return true;
    return false;
}

/* STEM.NAME and a suffix; NULL where memory ran out, or there is no such file of another run. */
static char *find_beside(const struct replaced *r, const char *name, const char *suffix) {
    const int stem = path_before_suffix(r->catalogue);
    char *path;
    if (asprintf(&path, "%.*s%s%s", stem, r->catalogue, name, suffix) < 0)
        return NULL;
    if (is_there(path) && !is_kept(r, path))
        return path;
    free(path);
    return NULL;
}

/* Paths, for a note. */
enum { LIST_TEXT = 4096 };
struct lists {
    char removed[LIST_TEXT], named[LIST_TEXT];
};

static void list(char *text, const char *path) {
    texts_append(text, LIST_TEXT, "%s%s", *text ? ", " : "", path);
}

/* --- what is beside a catalogue --- */

/* Region files and sky models have CSV tables beside them; if STEM.csv exists, they are its own,
 * and stay. */
static void remove_table(const struct replaced *r, const struct table_product *table,
                         struct lists *lists) {
    const struct writer *writer = r->writer->is_table ? r->writer : &csv_writer;
    const bool has_suffix = r->writer->is_table && path_has_suffix(r->catalogue);
    const char *suffix =
        has_suffix ? r->catalogue + path_before_suffix(r->catalogue) : writer->format.suffixes[0];
    char name[OVERLAP];
    char *other = r->writer->is_table ? NULL : find_beside(r, "", ".csv");
    snprintf(name, sizeof name, ".%s", table->name);
    char *path = other ? NULL : find_beside(r, name, suffix);
    if (path && is_own_table(path, writer, table) && unlink(path) == 0)
        list(lists->removed, path);
    else if (path)
        list(lists->named, path);
    free(other);
    free(path);
}

static void name_maps(const struct replaced *r, struct lists *lists) {
    for (enum map map = 0; map < MAPS; map++) {
        char name[OVERLAP];
        snprintf(name, sizeof name, ".%s", map_products[map].name);
        char *path = find_beside(r, name, map_products[map].suffix);
        if (path && (map == MAP_PICTURE ? png_is_own(path) : is_srcfind_map(path)))
            list(lists->named, path);
        free(path);
    }
}

static void name_regions(const struct replaced *r, struct lists *lists) {
    static const struct {
        const char *suffix, *first;
    } regions[] = {
        {".reg", "# Region file format: DS9 version 4.1\nglobal color=green\n"},
        {".reg.gz", "# Region file format: DS9 version 4.1\nglobal color=green\n"},
        {".crtf", "#CRTFv0 CASA Region Text Format version 0\nellipse [["},
    };
    for (size_t i = 0; r->writer->is_table && i < sizeof regions / sizeof *regions; i++) {
        char *path = find_beside(r, "", regions[i].suffix);
        if (path && has_texts(path, regions[i].first, NULL))
            list(lists->named, path);
        free(path);
    }
}

void earlier_remove(const struct replaced *r, const struct messages *messages) {
    struct lists lists = {"", ""};
    if (!r->catalogue || path_is_stream(r->catalogue))
        return;
    for (int i = 0; i < TABLES; i++)
        remove_table(r, &table_products[i], &lists);
    if (r->has_maps) {
        name_maps(r, &lists);
        name_regions(r, &lists);
    }
    if (*lists.removed)
        messages_note(messages, "%s: removed the tables of an earlier run: %s", r->catalogue,
                      lists.removed);
    if (*lists.named)
        messages_note(messages, "%s: these files of another run may not match it: %s", r->catalogue,
                      lists.named);
}
