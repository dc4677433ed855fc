/* The file of --report, which outlives the run: rows of images that are not searched again stay.
 *
 * 1. report_open locks the file and reads its rows. Each row is matched to a target by image and
 *    plane; it is current if version, options (digest.c), image file and outputs are unchanged.
 * 2. --skip-existing asks report_allows_skipping: only images with a current row are skipped.
 * 3. report_begin rewrites the file without the rows of images that are searched again. The new
 *    file is complete and locked before it takes the old one's name.
 * 4. report_add appends a row. A row that could not be written whole is cut off again.
 *
 * Rows without a newline at their end, and rows before a second header, do not count. */
#define _GNU_SOURCE /* memrchr */
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

#include "cli/digest.h"
#include "cli/directories.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "cli/signals.h"
#include "common/arrays.h"
#include "common/file_bytes.h"
#include "common/text_stream.h"
#include "input/tables/delimited.h"
#include "output/partial_file.h"
#include "output/save.h"

/* A row that was there before the run: bytes [start, end) of the text. */
struct old_row {
    int64_t start, end;
    const struct target *target; /* NULL for an image or a plane that is not of the run */
};

/* An image of the run, and its old row that is current, else the last one; -1 if there is none. */
struct known {
    const struct target *target;
    int64_t row;
    bool is_current; /* the row is of the same version, options, file and outputs */
};

struct report {
    const struct cli *cli;
    const struct targets *targets;
    const char *path;
    int descriptor; /* -1: closed */
    char *text;     /* of the file, at the beginning */
    int64_t size;
    struct old_row *rows;
    int64_t n_rows, rows_capacity;
    bool has_headers;    /* between the rows */
    struct known *known; /* by the paths of the images, and their planes */
    mtx_t lock;          /* protects all that follows */
    bool has_lock, has_failed;
    off_t end; /* of the file */
};

/* --- opening --- */

static int fail(const char *path, const char *doing) {
    messages_usage("%s: the report cannot be %s: %s", path, doing, strerror(errno));
    return EXIT_IMAGE;
}

/* Whether the file that is open is still that of the path: another process may have replaced it
 * before it was locked. */
static bool is_at(int descriptor, const char *path) {
    struct stat one, other;
    return fstat(descriptor, &one) == 0 && stat(path, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Opens the file, makes it if it is missing, and locks it. On a file system without locks it stays
 * without. */
static int open_locked(const char *path, int *descriptor) {
    struct stat info;
    if (strcmp(path, "-") == 0)
        return messages_usage("--report: a report is a file: name one");
    const int status = directory_make_for(path); /* it may be that of the catalogues */
    if (status != EXIT_OK)
        return status;
    do {
        *descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
        if (*descriptor < 0)
            return fail(path, "written");
        if (flock(*descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
            return messages_usage("%s: another run writes this report: wait for its end, or name "
                                  "another file",
                                  path);
        if (is_at(*descriptor, path))
            break;
        close(*descriptor);
        *descriptor = -1;
    } while (true);
    if (fstat(*descriptor, &info) != 0 || !S_ISREG(info.st_mode))
        return messages_usage("%s: a report is a file: name one", path);
    return EXIT_OK;
}

static int read_text(struct report *r) {
    struct stat info;
    if (fstat(r->descriptor, &info) != 0)
        return fail(r->path, "read");
    r->text = malloc((size_t)info.st_size + 1);
    if (!r->text)
        return messages_no_memory("reading the report");
    r->size = file_bytes_read(r->descriptor, r->text, info.st_size, 0);
    return r->size < 0 ? fail(r->path, "read") : EXIT_OK;
}

/* --- old rows --- */

static const char *plane_of(const struct target *target) {
    return target_plane_name(target) ? target_plane_name(target) : "";
}

/* An image, and the plane that is searched, "" where it is the only one; by these texts images of
 * the run are found. */
struct key {
    const char *image, *plane;
};

static struct key key_of(const struct known *known) {
    return (struct key){known->target->image, plane_of(known->target)};
}

static int compare_keys(struct key a, struct key b) {
    const int order = strcmp(a.image, b.image);
    return order ? order : strcmp(a.plane, b.plane);
}

static int by_key(const void *a, const void *b) {
    return compare_keys(key_of(a), key_of(b));
}

static int find_by_key(const void *key, const void *known) {
    return compare_keys(*(const struct key *)key, key_of(known));
}

static struct known *find_known(const struct report *r, const char *image, const char *plane) {
    const struct key key = {image, plane};
    return bsearch(&key, r->known, (size_t)r->targets->n, sizeof *r->known, find_by_key);
}

static int find_by_image(const void *image, const void *known) {
    return strcmp(image, ((const struct known *)known)->target->image);
}

/* The target that takes the place of an old row whose image or plane is not of the run: the image,
 * where the row is of one of its planes; a plane, where the row is of the image. NULL: there is
 * none. */
static const struct target *find_successor(const struct report *r, const char *image,
                                           const char *plane) {
    const struct known *found =
        bsearch(image, r->known, (size_t)r->targets->n, sizeof *r->known, find_by_image);
    return found && (!*plane || !target_plane_name(found->target)) ? found->target : NULL;
}

static bool are_of(const struct stat *info, const char *size, const char *time) {
    char its_size[REPORT_NUMBER], its_time[REPORT_NUMBER];
    report_format_version(info, its_size, its_time);
    return strcmp(size, its_size) == 0 && strcmp(time, its_time) == 0;
}

/* Whether a row is of the image as it is now, with these options, and of the outputs that are
 * there: a run with another report, or with none, may have replaced them. */
static bool is_current(const struct report *r, const struct target *target,
                       char *const cells[REPORT_COLUMNS]) {
    char digest[DIGEST_TEXT];
    struct stat image, outputs;
    if (strcmp(cells[REPORT_STATUS], "done") != 0 ||
        strcmp(cells[REPORT_VERSION], SRCFIND_VERSION) != 0 || stat(target->image, &image) != 0 ||
        !outputs_version(target, &outputs))
        return false;
    digest_make(r->cli, r->targets, target, digest);
    return strcmp(cells[REPORT_OPTIONS], digest) == 0 &&
           are_of(&image, cells[REPORT_SIZE], cells[REPORT_MTIME]) &&
           are_of(&outputs, cells[REPORT_OUTPUT_SIZE], cells[REPORT_OUTPUT_MTIME]);
}

/* Copies the cells of the next row, to be freed. */
static enum srcfind_status read_cells(struct delimited *d, char *cells[REPORT_COLUMNS],
                                      struct error *error) {
    const int64_t line = d->line;
    struct delimited_cell cell = {0};
    int n = 0;
    for (; !cell.is_last; n++) {
        const enum srcfind_status status = delimited_next_cell(d, &cell, error);
        if (status != SRCFIND_OK)
            return status;
        if (n < REPORT_COLUMNS && !(cells[n] = strndup(cell.text, cell.length)))
            return error_memory(error, "reading the report");
    }
    if (n == REPORT_COLUMNS)
        return SRCFIND_OK;
    return error_set(
        error, SRCFIND_ERROR_INPUT,
        "%s: line %lld has %d cells, but a report has %d: name another file, or remove it", d->path,
        (long long)line, n, REPORT_COLUMNS);
}

/* Whether a row ends with the header, as in reports that were joined by `cat`: what is before was
 * cut off, and does not count. */
static bool is_header(const struct report *r, int64_t start, int64_t end) {
    const int64_t length = (int64_t)strlen(REPORT_HEADER);
    return end - start >= length &&
           memcmp(r->text + end - length, REPORT_HEADER, (size_t)length) == 0;
}

static enum srcfind_status add_old_row(struct report *r, int64_t start, int64_t end,
                                       char *const cells[REPORT_COLUMNS], struct error *error) {
    struct known *known = find_known(r, cells[REPORT_IMAGE], cells[REPORT_PLANE]);
    if (!GROW(r->rows, r->rows_capacity, r->n_rows + 1))
        return error_memory(error, "reading the report");
    if (known && !known->is_current) {
        known->row = r->n_rows;
        known->is_current = is_current(r, known->target, cells);
    }
    r->rows[r->n_rows++] = (struct old_row){
        start, end,
        known ? known->target : find_successor(r, cells[REPORT_IMAGE], cells[REPORT_PLANE])};
    return SRCFIND_OK;
}

/* Reads the rows behind the header. What follows the last newline was cut off, and does not count.
 */
static enum srcfind_status read_rows(struct report *r, struct error *error) {
    struct delimited d = {.path = r->path, .line = 2, .delimiter = ','};
    const char *last = memrchr(r->text, '\n', (size_t)r->size);
    enum srcfind_status status = SRCFIND_OK;
    d.at = r->text + strlen(REPORT_HEADER);
    d.end = last + 1;
    while (status == SRCFIND_OK && delimited_next_row(&d)) {
        char *cells[REPORT_COLUMNS] = {NULL};
        const int64_t start = d.at - r->text;
        status = read_cells(&d, cells, error);
        if (is_header(r, start, d.at - r->text)) {
            r->has_headers = true;
            status = SRCFIND_OK;
        } else if (status == SRCFIND_OK)
            status = add_old_row(r, start, d.at - r->text, cells, error);
        for (int i = 0; i < REPORT_COLUMNS; i++)
            free(cells[i]);
    }
    delimited_clear(&d);
    return status;
}

static int read_old_rows(struct report *r) {
    struct error error;
    const int status = read_text(r);
    if (status != EXIT_OK || r->size == 0)
        return status;
    if (r->size < (int64_t)strlen(REPORT_HEADER) ||
        memcmp(r->text, REPORT_HEADER, strlen(REPORT_HEADER)) != 0)
        return messages_usage("%s: this file is no report of srcfind %s: name another file, or "
                              "remove it",
                              r->path, SRCFIND_VERSION);
    if (read_rows(r, &error) == SRCFIND_OK)
        return EXIT_OK;
    return messages_usage("%s", error.text);
}

static bool know_images(struct report *r) {
    r->known = malloc((size_t)r->targets->n * sizeof *r->known + 1);
    for (int64_t i = 0; r->known && i < r->targets->n; i++)
        r->known[i] = (struct known){.target = &r->targets->target[i], .row = -1};
    if (r->known)
        qsort(r->known, (size_t)r->targets->n, sizeof *r->known, by_key);
    return r->known;
}

int report_open(const struct cli *cli, const struct targets *targets, struct report **report) {
    *report = NULL;
    if (!cli->report)
        return EXIT_OK;
    struct report *r = *report = calloc(1, sizeof *r);
    if (!r)
        return messages_no_memory("opening the report");
    *r = (struct report){.cli = cli, .targets = targets, .path = cli->report, .descriptor = -1};
    r->has_lock = mtx_init(&r->lock, mtx_plain) == thrd_success;
    if (!r->has_lock || !know_images(r))
        return messages_no_memory("opening the report");
    const int status = open_locked(r->path, &r->descriptor);
    return status == EXIT_OK ? read_old_rows(r) : status;
}

void report_close(struct report *r) {
    if (!r)
        return;
    if (r->descriptor >= 0)
        close(r->descriptor);
    if (r->has_lock)
        mtx_destroy(&r->lock);
    free(r->text);
    free(r->rows);
    free(r->known);
    free(r);
}

bool report_allows_skipping(const struct report *r, const struct target *target) {
    const struct known *known = r ? find_known(r, target->image, plane_of(target)) : NULL;
    return !r || (known && known->is_current);
}

/* --- rows that stay --- */

/* Whether an old row stays: of an image of the run, the known one, if the image is skipped. */
static bool stays(const struct report *r, int64_t row) {
    const struct target *target = r->rows[row].target;
    return !target ||
           (target->is_done && find_known(r, target->image, plane_of(target))->row == row);
}

static bool write_rows(const struct report *r, FILE *stream) {
    fputs(REPORT_HEADER, stream);
    for (int64_t i = 0; i < r->n_rows; i++)
        if (stays(r, i))
            fwrite(r->text + r->rows[i].start, 1, (size_t)(r->rows[i].end - r->rows[i].start),
                   stream);
    return !ferror(stream);
}

/* Writes a file without the rows that go in place of that of the path. Returns its descriptor; -1
 * with errno. */
static int write_anew(const struct report *r, const char *path) {
    struct partial_file file;
    if (!partial_file_open(path, &file))
        return -1;
    if (write_rows(r, file.stream))
        return partial_file_keep(&file, path);
    const int code = errno;
    partial_file_discard(&file);
    errno = code;
    return -1;
}

/* Replaces the file by one without the rows that go. The new one is locked, too. Signals wait, so
 * that no temporary file stays. */
static int replace_file(struct report *r) {
    char *final = save_final_path(r->path);
    signals_hold();
    const int descriptor = final ? write_anew(r, final) : -1;
    signals_release();
    free(final);
    if (descriptor < 0)
        return fail(r->path, "written");
    close(r->descriptor);
    r->descriptor = descriptor;
    return EXIT_OK;
}

int report_begin(struct report *r) {
    if (!r)
        return EXIT_OK;
    bool all_stay = r->size > 0 && !r->has_headers;
    for (int64_t i = 0; all_stay && i < r->n_rows; i++)
        all_stay = stays(r, i);
    const int64_t end = r->n_rows > 0 ? r->rows[r->n_rows - 1].end : (int64_t)strlen(REPORT_HEADER);
    const int status = all_stay && end == r->size ? EXIT_OK : replace_file(r);
    free(r->text);
    r->text = NULL;
    r->end = status == EXIT_OK ? lseek(r->descriptor, 0, SEEK_END) : 0;
    return r->end < 0 ? fail(r->path, "written") : status;
}

/* --- new rows --- */

/* Writes all bytes at the end of the file, or none. */
static bool append(struct report *r, const char *bytes, int64_t n) {
    if (!file_bytes_write(r->descriptor, bytes, n, r->end)) {
        const int code = errno;
        const bool is_whole = ftruncate(r->descriptor, r->end) == 0;
        (void)is_whole; /* else what has no newline does not count */
        errno = code;
        return false;
    }
    r->end += n;
    return true;
}

bool report_add(struct report *r, const struct report_row *row, bool *first) {
    struct text text = {0};
    if (!r)
        return true;
    char digest[DIGEST_TEXT];
    mtx_lock(&r->lock); /* also since the options keep the text that they gave last */
    digest_make(r->cli, r->targets, row->target, digest);
    FILE *stream = text_stream_open(&text);
    if (stream)
        report_row_write(row, digest, stream);
    bool ok = stream && fclose(stream) == 0;
    if (!ok)
        errno = ENOMEM;
    ok = ok && append(r, text.at, text.size);
    *first = !ok && !r->has_failed;
    r->has_failed = r->has_failed || !ok;
    mtx_unlock(&r->lock);
    free(text.at);
    return ok;
}
