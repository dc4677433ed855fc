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

static int usage(const char *format, const char *first, const char *second) {
    fputs("srcfind: ", stderr);
    fprintf(stderr, format, first, second);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static int no_memory(void) {
    fputs("srcfind: out of memory while listing the images\n", stderr);
    return EXIT_IMAGE;
}

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

/* --- images --- */

/* What packs a file, with the images in it, to something like a quarter. */
static const char *const packings[] = {".gz", ".fz"};

static int64_t count_bytes(const char *path) {
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return 0;
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (ends_with(path, packings[i]))
            return 4 * (int64_t)facts.st_size;
    return facts.st_size;
}

static bool add_image(struct targets *t, int64_t *room, const char *path) {
    if (!GROW(t->target, *room, t->n + 1))
        return false;
    t->target[t->n] = (struct target){.image = strdup(path), .bytes = count_bytes(path)};
    return t->target[t->n++].image != NULL;
}

enum line { LINE_THERE, LINE_NONE, LINE_TOO_LONG, LINE_WITH_NUL };

/* The next line, without what ends it. No more is read than a path may have characters. */
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

static int add_lines(struct targets *t, int64_t *room, FILE *stream, const char *path) {
    char line[PATH_MAX];
    enum line kind;
    while ((kind = read_line(stream, line, sizeof line)) == LINE_THERE)
        if (*line && !add_image(t, room, line))
            return no_memory();
    if (kind == LINE_WITH_NUL)
        return usage("%s: paths in a list end with newlines, not with NUL characters", path, NULL);
    if (kind == LINE_TOO_LONG)
        return usage("%s: a line is longer than any path: is this a list of images?", path, NULL);
    return ferror(stream) ? usage("%s: the list cannot be read: %s", path, strerror(errno))
                          : EXIT_OK;
}

static int add_list(struct targets *t, int64_t *room, const char *path) {
    const bool from_input = strcmp(path, "-") == 0;
    FILE *stream = from_input ? stdin : fopen(path, "r");
    if (!stream)
        return usage("%s: the list cannot be read: %s", path, strerror(errno));
    const int status = add_lines(t, room, stream, path);
    if (!from_input)
        fclose(stream);
    return status;
}

static int list_images(const struct cli *cli, struct targets *t) {
    int64_t room = 0;
    for (int i = 0; i < cli->n_images; i++) {
        if (strcmp(cli->images[i], "-") == 0)
            return usage("%s: images are read from files, not from standard input", cli->images[i],
                         NULL);
        if (!add_image(t, &room, cli->images[i]))
            return no_memory();
    }
    const int status = cli->files_from ? add_list(t, &room, cli->files_from) : EXIT_OK;
    if (status == EXIT_OK && t->n == 0)
        return usage(cli->files_from ? "%s: no image in the list"
                                     : "no image given: try `srcfind image.fits`, or --help",
                     cli->files_from, NULL);
    return status;
}

/* --- names --- */

/* Length of a name without its suffix, if it has that suffix and something before it. */
static size_t without(const char *name, size_t length, const char *suffix) {
    const size_t n = strlen(suffix);
    const bool has = length > n && strncasecmp(name + length - n, suffix, n) == 0;
    return has ? length - n : length;
}

/* The length of a name without .gz, .fz or the like at its end, and without .fits, .fit or .fts
 * before that; *is_fits tells whether it has one of these three. */
static size_t stem_length(const char *name, bool *is_fits) {
    static const char *const suffixes[] = {".fits", ".fit", ".fts"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        length = without(name, length, packings[i]);
    const size_t with_suffix = length;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && length == with_suffix; i++)
        length = without(name, length, suffixes[i]);
    *is_fits = length < with_suffix;
    return length;
}

/* DIR/STEM.csv for .../STEM.fits and the like. */
static char *name_in_directory(const char *directory, const char *image,
                               enum srcfind_format format) {
    const char *slash = strrchr(image, '/'), *name = slash ? slash + 1 : image;
    const char *separator = ends_with(directory, "/") ? "" : "/";
    bool is_fits;
    const size_t length = stem_length(name, &is_fits);
    char *path;
    if (asprintf(&path, "%s%s%.*s.%s", directory, separator, (int)length, name,
                 format == SRCFIND_JSON ? "json" : "csv") < 0)
        return NULL;
    return path;
}

static bool is_directory(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Makes a directory and those above it. */
static int make_directory(const char *path) {
    char *part = strdup(path);
    if (!part)
        return no_memory();
    for (char *at = part + 1; *at; at++) {
        if (*at == '/') {
            *at = '\0';
            mkdir(part, 0777);
            *at = '/';
        }
    }
    int code = mkdir(part, 0777) == 0 ? 0 : errno;
    if (code == EEXIST)
        code = ENOTDIR; /* something else of that name */
    free(part);
    if (code == 0 || is_directory(path))
        return EXIT_OK;
    fprintf(stderr, "srcfind: %s: the directory cannot be made: %s\n", path, strerror(code));
    return EXIT_IMAGE;
}

/* Whether a file can be in the directory that its name says, so that no search is in vain. */
static int check_directory(const char *path) {
    const char *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    if (slash && !directory)
        return no_memory();
    const bool exists = !slash || is_directory(directory);
    free(directory);
    if (exists)
        return EXIT_OK;
    fprintf(stderr, "srcfind: %s: the catalogue cannot be written: there is no such directory\n",
            path);
    return EXIT_IMAGE;
}

static int name_catalogues(const struct cli *cli, struct targets *t) {
    const bool several = t->n > 1 || cli->files_from;
    if (!cli->output && t->n > 1 && !cli->compare_cpu && !cli->bench)
        return usage("standard output takes the catalogue of one image: several need -o DIR", NULL,
                     NULL);
    if (!cli->output)
        return EXIT_OK;
    if (!several && !ends_with(cli->output, "/") && !is_directory(cli->output)) {
        t->target[0].catalogue = strdup(cli->output);
        return t->target[0].catalogue ? check_directory(cli->output) : no_memory();
    }
    if (!is_directory(cli->output) &&
        (ends_with(cli->output, ".csv") || ends_with(cli->output, ".json")))
        return usage("%s: several images need a directory, and this is the name of a file",
                     cli->output, NULL);
    for (int64_t i = 0; i < t->n; i++) {
        t->target[i].catalogue = name_in_directory(cli->output, t->target[i].image, t->format);
        if (!t->target[i].catalogue)
            return no_memory();
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
        return no_memory();
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

/* What tells one file from another. */
struct identity {
    dev_t device;
    ino_t number;
};

static bool identify(const char *path, struct identity *identity) {
    struct stat facts;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return false;
    *identity = (struct identity){facts.st_dev, facts.st_ino};
    return true;
}

static int by_identity(const void *a, const void *b) {
    const struct identity *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Whether a catalogue would replace an image of this run, or the list of them. */
static int find_replaced_inputs(const struct cli *cli, const struct targets *t) {
    struct identity *inputs = calloc((size_t)t->n + 1, sizeof *inputs);
    struct identity catalogue, list = {0};
    const bool has_list = cli->files_from && identify(cli->files_from, &list);
    size_t n = 0;
    int status = EXIT_OK;
    if (!inputs)
        return no_memory();
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

static int check(const struct cli *cli, const struct targets *t) {
    bool is_fits;
    if (!cli->output)
        return EXIT_OK;
    const int status = find_replaced_inputs(cli, t);
    if (status != EXIT_OK)
        return status;
    stem_length(cli->output, &is_fits);
    if (!cli->format_given && t->n == 1 && is_fits)
        return usage("%s: FITS catalogues are not written by this version: name it .csv or .json",
                     cli->output, NULL);
    return find_conflicts(t);
}

int targets_make(const struct cli *cli, struct targets *t) {
    *t = (struct targets){.format = cli->format};
    if (!cli->format_given && cli->output && ends_with(cli->output, ".json"))
        t->format = SRCFIND_JSON;
    int status = list_images(cli, t);
    if (status == EXIT_OK)
        status = name_catalogues(cli, t);
    if (status == EXIT_OK)
        status = check(cli, t);
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
