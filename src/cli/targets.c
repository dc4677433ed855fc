#define _GNU_SOURCE /* asprintf */
#include "cli/targets.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/conflicts.h"
#include "cli/exit_status.h"
#include "common/arrays.h"
#include "common/path.h"
#include "output/writer.h"

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

/* --- images --- */

/* A compressed file is assumed to have about a quarter of the original size. */
static int64_t count_bytes(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    return (path_is_compressed(path) ? 4 : 1) * (int64_t)info.st_size;
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

/* Refuses what is no image, and was meant otherwise. Returns the exit status. */
static int check_image(const char *image) {
    if (!*image)
        return usage("an empty name is no image: is a variable of the shell not set?", NULL, NULL);
    if (strcmp(image, "-") == 0)
        return usage("%s: images are read from files, not from standard input", image, NULL);
    if ((strcmp(image, "help") == 0 || strcmp(image, "version") == 0) && access(image, F_OK) != 0)
        return usage("there is no image %s: did you mean --%s?", image, image);
    return EXIT_OK;
}

static int list_images(const struct cli *cli, struct targets *t) {
    int64_t capacity = 0;
    for (int i = 0; i < cli->n_images; i++) {
        const int status = check_image(cli->images[i]);
        if (status != EXIT_OK)
            return status;
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

/* DIR/STEM.csv for an image .../STEM.fits; to be freed. NULL where memory ran out. */
static char *name_in_directory(const char *directory, const char *image,
                               const struct srcfind_format *format) {
    const char *name = image + path_directory(image);
    const char *separator = path_ends_with(directory, "/") ? "" : "/";
    char *path;
    if (asprintf(&path, "%s%s%.*s%s", directory, separator, path_stem(name), name,
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

/* Reports several images with the path of one file, perhaps since an option's value counts as an
 * image. Returns the exit status. */
static int refuse_file(const char *path, const struct targets *t) {
    struct stat info;
    for (int64_t i = 0; i < t->n; i++)
        if (stat(t->target[i].image, &info) != 0)
            return usage("%s: several images need a directory, and this is the name of a file; "
                         "there is no image %s",
                         path, t->target[i].image);
    return usage("%s: several images need a directory, and this is the name of a file", path, NULL);
}

/* Reports several images without -o, perhaps since the last one is the name of a catalogue. Returns
 * the exit status. */
static int refuse_several(const struct targets *t) {
    const char *last = t->target[t->n - 1].image;
    const struct srcfind_format *format = srcfind_format_of(last);
    if (format && strcmp(format->name, "fits") != 0 && access(last, F_OK) != 0)
        return usage("there is no image %s: did you mean -o %s?", last, last);
    return usage("standard output takes the catalogue of one image, and these are several (%s, %s, "
                 "...): -o DIR writes a file for each",
                 t->target[0].image, t->target[1].image);
}

static int name_catalogues(const struct cli *cli, struct targets *t) {
    const bool several = t->n > 1 || cli->files_from;
    if (!cli->output && t->n > 1 && !cli->compare_cpu && !cli->bench)
        return refuse_several(t);
    if (!cli->output)
        return EXIT_OK;
    if (!several && !path_ends_with(cli->output, "/") && !is_directory(cli->output)) {
        t->target[0].catalogue = strdup(cli->output);
        return t->target[0].catalogue ? check_directory(cli->output) : targets_no_memory();
    }
    if (!is_directory(cli->output) && srcfind_format_of(cli->output))
        return refuse_file(cli->output, t);
    for (int64_t i = 0; i < t->n; i++) {
        t->target[i].catalogue = name_in_directory(cli->output, t->target[i].image, t->format);
        if (!t->target[i].catalogue)
            return targets_no_memory();
    }
    return EXIT_OK;
}

static bool has_suffix(const char *path) {
    const char *name = path + path_directory(path), *point = strrchr(name, '.');
    return point && point > name;
}

/* The length of a path without its suffix, or without both of .csv.gz. */
static int length_of_stem(const char *path) {
    const size_t gz = path_ends_with(path, ".gz") ? strlen(".gz") : 0;
    char *rest = strndup(path, strlen(path) - gz);
    const int length = !rest              ? -1
                       : has_suffix(rest) ? (int)(strrchr(rest, '.') - rest)
                                          : (int)strlen(rest);
    free(rest);
    return length;
}

/* A path for a map: STEM.rms.fits or STEM.picture.png, where STEM is the catalogue's path without
 * its suffix or, where the catalogue is no file, the image's name. To be freed; NULL where memory
 * ran out. */
static char *name_map(const struct target *t, int map) {
    const bool is_beside = t->catalogue && !path_is_stream(t->catalogue);
    const char *stem = is_beside ? t->catalogue : t->image + path_directory(t->image);
    const int length = is_beside ? length_of_stem(stem) : path_stem(stem);
    char *path;
    return length < 0 || asprintf(&path, "%.*s.%s%s", length, stem, srcfind_map(map),
                                  srcfind_map_suffix(map)) < 0
               ? NULL
               : path;
}

static int name_maps(const struct cli *cli, struct targets *t) {
    for (int64_t i = 0; i < t->n; i++) {
        for (int map = 0; srcfind_map(map); map++) {
            if (!(cli->save >> map & 1))
                continue;
            t->target[i].maps[map] = name_map(&t->target[i], map);
            if (!t->target[i].maps[map])
                return targets_no_memory();
        }
    }
    return EXIT_OK;
}

/* --- mask and maps of the noise --- */

/* Names what one option gives for each image. */
static int name_given(const struct cli *cli, const char *option, enum given_kind kind,
                      struct targets *t) {
    const char *path = srcfind_options_get(cli->find, option);
    if (!*path)
        return EXIT_OK;
    if ((t->n > 1 || cli->files_from) && !is_directory(path))
        return usage("--%s: %s is no directory, and several images need one, with STEM.fits for "
                     "each",
                     option, path);
    for (int64_t i = 0; i < t->n; i++)
        if (!(t->target[i].given[kind] = given_path(kind, path, t->target[i].image)))
            return targets_no_memory();
    return EXIT_OK;
}

static int name_all_given(const struct cli *cli, struct targets *t) {
    int status = name_given(cli, "mask", GIVEN_MASK, t);
    if (status == EXIT_OK)
        status = name_given(cli, "rms-map", GIVEN_RMS, t);
    if (status == EXIT_OK)
        status = name_given(cli, "background-map", GIVEN_BACKGROUND, t);
    return status;
}

/* --- formats --- */

static const struct srcfind_format *format_named(const char *name) {
    int i = 0;
    while (srcfind_format(i) && strcmp(srcfind_format(i)->name, name) != 0)
        i++;
    return srcfind_format(i);
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
                         !path_ends_with(cli->output, "/") && !is_directory(cli->output);
    t->format = cli->format ? format_named(cli->format) : NULL;
    if (!t->format && is_file && has_suffix(cli->output)) {
        t->format = srcfind_format_of(cli->output);
        if (!t->format)
            return refuse_suffix(cli->output);
    }
    if (!t->format)
        t->format = srcfind_format(0);
    if (!cli->output && isatty(STDOUT_FILENO) && writer_named(t->format->name)->is_binary)
        return usage("--format %s: not for a terminal: name a file with -o, as catalogue%s",
                     t->format->name, t->format->suffixes[0]);
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
    if (status == EXIT_OK)
        status = name_maps(cli, t);
    if (status == EXIT_OK)
        status = name_all_given(cli, t);
    if (status == EXIT_OK && !conflicts_check(cli, t, &status))
        status = targets_no_memory();
    const bool in_directory =
        status == EXIT_OK && cli->output && strcmp(t->target[0].catalogue, cli->output) != 0;
    return in_directory && !is_directory(cli->output) ? make_directory(cli->output) : status;
}

void targets_free(struct targets *t) {
    for (int64_t i = 0; i < t->n; i++) {
        free(t->target[i].image);
        free(t->target[i].catalogue);
        for (int map = 0; map < MOST_MAPS; map++)
            free(t->target[i].maps[map]);
        for (int kind = 0; kind < GIVEN_KINDS; kind++)
            free(t->target[i].given[kind]);
    }
    free(t->target);
    *t = (struct targets){0};
}
