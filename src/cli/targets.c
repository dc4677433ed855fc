#define _GNU_SOURCE /* asprintf */
#include "cli/targets.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/exit_status.h"
#include "common/arrays.h"
#include "common/path.h"

static int usage(const char *format, const char *first, const char *second) {
    fputs("srcfind: ", stderr);
    fprintf(stderr, format, first, second);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static int targets_no_memory(void) {
    fputs("srcfind: out of memory while listing the images\n", stderr);
    return EXIT_IMAGE;
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

/* --- images --- */

/* Suffixes of compressed files. They are assumed to have about a quarter of the original size. */
static const char *const compressed_suffixes[] = {".gz", ".fz"};

static int64_t count_bytes(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    for (size_t i = 0; i < sizeof compressed_suffixes / sizeof *compressed_suffixes; i++)
        if (ends_with(path, compressed_suffixes[i]))
            return 4 * (int64_t)info.st_size;
    return info.st_size;
}

static bool add_image(struct targets *t, int64_t *capacity, const char *path) {
    if (!GROW(t->target, *capacity, t->n + 1))
        return false;
    t->target[t->n] = (struct target){.image = strdup(path), .bytes = count_bytes(path)};
    return t->target[t->n++].image != NULL;
}

enum line { LINE_THERE, LINE_NONE, LINE_TOO_LONG, LINE_WITH_NUL };

/* Reads the next line, without its LF or CR LF. size is the capacity of line. */
static enum line read_line(FILE *stream, char *line, int size) {
    int length = 0, c;
    while ((c = getc(stream)) != EOF && c != '\n') {
        if (c == '\0')
            return LINE_WITH_NUL;
        if (length == size - 1)
            return LINE_TOO_LONG;
        line[length++] = (char)c;
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return c == EOF && length == 0 ? LINE_NONE : LINE_THERE;
}

static int add_lines(struct targets *t, int64_t *capacity, FILE *stream, const char *path) {
    char line[PATH_MAX];
    enum line kind;
    while ((kind = read_line(stream, line, sizeof line)) == LINE_THERE)
        if (*line && !add_image(t, capacity, line))
            return targets_no_memory();
    if (kind == LINE_WITH_NUL)
        return usage("%s: paths in a list end with newlines, not with NUL characters", path, NULL);
    if (kind == LINE_TOO_LONG)
        return usage("%s: a line is longer than any path: is this a list of images?", path, NULL);
    return ferror(stream) ? usage("%s: the list cannot be read: %s", path, strerror(errno))
                          : EXIT_OK;
}

static int add_list(struct targets *t, int64_t *capacity, const char *path) {
    const bool from_input = strcmp(path, "-") == 0;
    FILE *stream = from_input ? stdin : fopen(path, "r");
    if (!stream)
        return usage("%s: the list cannot be read: %s", path, strerror(errno));
    const int status = add_lines(t, capacity, stream, path);
    if (!from_input)
        fclose(stream);
    return status;
}

static int list_images(const struct cli *cli, struct targets *t) {
    int64_t capacity = 0;
    for (int i = 0; i < cli->n_images; i++) {
        if (strcmp(cli->images[i], "-") == 0)
            return usage("%s: images are read from files, not from standard input", cli->images[i],
                         NULL);
        if (!add_image(t, &capacity, cli->images[i]))
            return targets_no_memory();
    }
    const int status = cli->files_from ? add_list(t, &capacity, cli->files_from) : EXIT_OK;
    if (status == EXIT_OK && t->n == 0)
        return usage(cli->files_from ? "%s: no image in the list"
                                     : "no image given: try `srcfind image.fits`, or --help",
                     cli->files_from, NULL);
    return status;
}

/* --- names --- */

/* The length of a name without this suffix; a name that has nothing else keeps it. */
static size_t length_without(const char *name, size_t length, const char *suffix) {
    const size_t n = strlen(suffix);
    const bool has = length > n && strncasecmp(name + length - n, suffix, n) == 0;
    return has ? length - n : length;
}

/* The length of a name without .gz or .fz at its end, and without .fits, .fit or .fts before. */
static size_t stem_length(const char *name) {
    static const char *const suffixes[] = {".fits", ".fit", ".fts"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof compressed_suffixes / sizeof *compressed_suffixes; i++)
        length = length_without(name, length, compressed_suffixes[i]);
    const size_t with_suffix = length;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && length == with_suffix; i++)
        length = length_without(name, length, suffixes[i]);
    return length;
}

/* DIR/STEM.csv for an image .../STEM.fits; to be freed. NULL where memory ran out. */
static char *name_in_directory(const char *directory, const char *image,
                               const struct srcfind_format *format) {
    const char *name = image + path_directory(image);
    const char *separator = ends_with(directory, "/") ? "" : "/";
    const size_t length = stem_length(name);
    char *path;
    if (asprintf(&path, "%s%s%.*s%s", directory, separator, (int)length, name,
                 format->suffixes[0]) < 0)
        return NULL;
    return path;
}

static bool is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Makes a directory and those above it. */
static int make_directory(const char *path) {
    char *part = strdup(path);
    if (!part)
        return targets_no_memory();
    for (char *at = part + 1; *at; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(part, 0777);
            *at = '/';
        }
    }
    int code = mkdir(part, 0777) == 0 ? 0 : errno;
    if (code == EEXIST)
        code = ENOTDIR; /* something else has that name */
    free(part);
    if (code == 0 || is_directory(path))
        return EXIT_OK;
    fprintf(stderr, "srcfind: %s: the directory cannot be made: %s\n", path, strerror(code));
    return EXIT_IMAGE;
}

/* Checks before the search that the directory of a catalogue exists. Returns the exit status. */
static int check_directory(const char *path) {
    const int length = path_directory(path);
    char *directory = strndup(path, (size_t)length);
    if (!directory)
        return targets_no_memory();
    const bool exists = length == 0 || is_directory(directory);
    free(directory);
    if (exists)
        return EXIT_OK;
    fprintf(stderr, "srcfind: %s: the catalogue cannot be written: there is no such directory\n",
            path);
    return EXIT_IMAGE;
}

static const struct srcfind_format *format_of_suffix(const char *path) {
    for (int i = 0; srcfind_format(i); i++)
        for (const char *const *suffix = srcfind_format(i)->suffixes; *suffix; suffix++)
            if (ends_with(path, *suffix))
                return srcfind_format(i);
    return NULL;
}

static int name_catalogues(const struct cli *cli, struct targets *t) {
    const bool several = t->n > 1 || cli->files_from;
    if (!cli->output && t->n > 1 && !cli->compare_cpu && !cli->bench)
        return usage("standard output takes the catalogue of one image, and these are several (%s, "
                     "%s, ...): -o DIR writes a file for each",
                     t->target[0].image, t->target[1].image);
    if (!cli->output)
        return EXIT_OK;
    if (!several && !ends_with(cli->output, "/") && !is_directory(cli->output)) {
        t->target[0].catalogue = strdup(cli->output);
        return t->target[0].catalogue ? check_directory(cli->output) : targets_no_memory();
    }
    if (!is_directory(cli->output) && format_of_suffix(cli->output))
        return usage("%s: several images need a directory, and this is the name of a file",
                     cli->output, NULL);
    for (int64_t i = 0; i < t->n; i++) {
        t->target[i].catalogue = name_in_directory(cli->output, t->target[i].image, t->format);
        if (!t->target[i].catalogue)
            return targets_no_memory();
    }
    return EXIT_OK;
}

/* --- conflicts --- */

static int by_catalogue(const void *a, const void *b) {
    const struct target *const *first = a, *const *second = b;
    return strcmp((*first)->catalogue, (*second)->catalogue);
}

static int find_conflicts(const struct targets *t) {
    const struct target **sorted = malloc((size_t)t->n * sizeof *sorted);
    int status = EXIT_OK;
    if (!sorted)
        return targets_no_memory();
    for (int64_t i = 0; i < t->n; i++)
        sorted[i] = &t->target[i];
    qsort(sorted, (size_t)t->n, sizeof *sorted, by_catalogue);
    for (int64_t i = 1; i < t->n && status == EXIT_OK; i++) {
        if (strcmp(sorted[i - 1]->catalogue, sorted[i]->catalogue) != 0)
            continue;
        status = EXIT_USAGE;
        if (strcmp(sorted[i - 1]->image, sorted[i]->image) == 0)
            fprintf(stderr, "srcfind: %s is given twice\n", sorted[i]->image);
        else
            fprintf(stderr,
                    "srcfind: %s and %s would both write %s: search them in two runs, with two "
                    "directories\n",
                    sorted[i - 1]->image, sorted[i]->image, sorted[i]->catalogue);
    }
    free(sorted);
    return status;
}

/* Identifies a file, whatever its path. */
struct identity {
    dev_t device;
    ino_t number;
};

static bool identify(const char *path, struct identity *identity) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *identity = (struct identity){info.st_dev, info.st_ino};
    return true;
}

static int by_identity(const void *a, const void *b) {
    const struct identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Reports a catalogue that would replace an image of this run or the list of images. Returns the
 * exit status. */
static int find_replaced_inputs(const struct cli *cli, const struct targets *t) {
    struct identity *inputs = calloc((size_t)t->n + 1, sizeof *inputs);
    struct identity catalogue, list = {0};
    const bool has_list = cli->files_from && identify(cli->files_from, &list);
    size_t n = 0;
    int status = EXIT_OK;
    if (!inputs)
        return targets_no_memory();
    for (int64_t i = 0; i < t->n; i++)
        n += identify(t->target[i].image, &inputs[n]);
    if (has_list)
        inputs[n++] = list;
    qsort(inputs, n, sizeof *inputs, by_identity);
    for (int64_t i = 0; i < t->n && status == EXIT_OK; i++)
        if (identify(t->target[i].catalogue, &catalogue) &&
            bsearch(&catalogue, inputs, n, sizeof *inputs, by_identity))
            status = usage(has_list && by_identity(&catalogue, &list) == 0
                               ? "%s: the catalogue of %s would replace the list of images"
                               : "%s: the catalogue of %s would replace an image",
                           t->target[i].catalogue, t->target[i].image);
    free(inputs);
    return status;
}

/* --- formats --- */

static const struct srcfind_format *format_named(const char *name) {
    int i = 0;
    while (srcfind_format(i) && strcmp(srcfind_format(i)->name, name) != 0)
        i++;
    return srcfind_format(i);
}

static bool has_suffix(const char *path) {
    const char *name = path + path_directory(path), *point = strrchr(name, '.');
    return point && point > name;
}

/* Reports an unknown suffix: any format may not be what the user expects. Returns the exit status.
 */
static int refuse_suffix(const char *path) {
    char suffixes[256] = "";
    for (int i = 0; srcfind_format(i); i++)
        for (const char *const *suffix = srcfind_format(i)->suffixes; *suffix; suffix++)
            snprintf(suffixes + strlen(suffixes), sizeof suffixes - strlen(suffixes), "%s%s",
                     *suffixes ? ", " : "", *suffix);
    return usage("%s: no format has this suffix; there are %s: name it so, or say --format", path,
                 suffixes);
}

static int choose_format(const struct cli *cli, struct targets *t) {
    const bool is_file = cli->output && t->n == 1 && !cli->files_from &&
                         !ends_with(cli->output, "/") && !is_directory(cli->output);
    t->format = cli->format ? format_named(cli->format) : NULL;
    if (!t->format && is_file && has_suffix(cli->output)) {
        t->format = format_of_suffix(cli->output);
        if (!t->format)
            return refuse_suffix(cli->output);
    }
    if (!t->format)
        t->format = srcfind_format(0);
    return EXIT_OK;
}

bool targets_are_json(const struct targets *targets) {
    return strcmp(targets->format->name, "json") == 0;
}

/* --- targets --- */

int targets_make(const struct cli *cli, struct targets *t) {
    *t = (struct targets){0};
    int status = list_images(cli, t);
    if (status == EXIT_OK)
        status = choose_format(cli, t);
    if (status == EXIT_OK)
        status = name_catalogues(cli, t);
    if (status == EXIT_OK && cli->output)
        status = find_replaced_inputs(cli, t);
    if (status == EXIT_OK && cli->output)
        status = find_conflicts(t);
    const bool in_directory =
        status == EXIT_OK && cli->output && strcmp(t->target[0].catalogue, cli->output) != 0;
    return in_directory && !is_directory(cli->output) ? make_directory(cli->output) : status;
}

void targets_free(struct targets *t) {
    for (int64_t i = 0; i < t->n; i++) {
        free(t->target[i].image);
        free(t->target[i].catalogue);
    }
    free(t->target);
    *t = (struct targets){0};
}
