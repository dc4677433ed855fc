#include "cli/names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/path.h"
#include "input/srcfind_map.h"

/* --- stems --- */

static const char *stem_of(const char *image, int *length) {
    const char *name = image + path_directory(image);
    *length = path_stem(name);
    return name;
}

static int by_stem(const void *a, const void *b) {
    int m, n;
    const char *x = stem_of(*(char *const *)a, &m);
    const char *y = stem_of(*(char *const *)b, &n);
    const int order = memcmp(x, y, (size_t)(m < n ? m : n));
    return order ? order : m - n;
}

/* Whether two images, which are no maps of srcfind, have one stem. Sorts the images. */
static bool two_have_one_stem(char **images, int64_t n) {
    qsort(images, (size_t)n, sizeof *images, by_stem);
    for (int64_t i = 0, end; i < n; i = end) {
        int found = 0;
        for (end = i + 1; end < n && by_stem(&images[i], &images[end]) == 0; end++)
            continue;
        for (int64_t k = i; end > i + 1 && k < end && found < 2; k++)
            found += !is_srcfind_map(images[k]);
        if (found == 2)
            return true;
    }
    return false;
}

/* --- paths --- */

/* Adds the parts of a path to one that ends in a slash or is empty; drops `.`, and `..` with the
 * part before it. `path` has room. Returns the end. */
static char *add_parts(char *path, char *end, const char *parts) {
    while (*parts) {
        const size_t length = strcspn(parts, "/");
        if (length == 2 && memcmp(parts, "..", 2) == 0) {
            end -= end > path;
            while (end > path && end[-1] != '/')
                end--;
        } else if (length > 0 && !(length == 1 && *parts == '.')) {
            memcpy(end, parts, length);
            end[length] = '/';
            end += length + 1;
        }
        parts += length + (parts[length] == '/');
    }
    return end;
}

/* The absolute path of an image, without its first slash; to be freed. Symbolic links are not
 * followed. NULL where memory ran out. */
static char *absolute(const char *image, const char *directory) {
    char *path = malloc(strlen(directory) + strlen(image) + 3);
    if (!path)
        return NULL;
    char *end = *image == '/' ? path : add_parts(path, path, directory);
    end = add_parts(path, end, image);
    end[end > path ? -1 : 0] = '\0';
    return path;
}

/* The length of what two paths share, up to a slash, if it is at most `length`. */
static int shared(const char *a, const char *b, int length) {
    int n = 0;
    for (int i = 0; i < length && a[i] == b[i] && a[i]; i++)
        if (a[i] == '/')
            n = i + 1;
    return n;
}

/* Replaces absolute paths by what differs of them, without suffixes. False where memory ran out. */
static bool shorten(char **paths, int64_t n) {
    int length = path_directory(paths[0]);
    for (int64_t i = 1; i < n; i++)
        length = shared(paths[0], paths[i], length);
    for (int64_t i = 0; i < n; i++) {
        const char *rest = paths[i] + length;
        const int directory = path_directory(rest);
        char *name = strndup(rest, (size_t)(directory + path_stem(rest + directory)));
        if (!name)
            return false;
        free(paths[i]);
        paths[i] = name;
    }
    return true;
}

static bool name_by_paths(char *const *images, int64_t n, char **names) {
    char directory[PATH_MAX];
    if (!getcwd(directory, sizeof directory))
        *directory = '\0';
    for (int64_t i = 0; i < n; i++)
        if (!(names[i] = absolute(images[i], directory)))
            return false;
    return shorten(names, n);
}

static bool name_by_stems(char *const *images, int64_t n, char **names) {
    for (int64_t i = 0; i < n; i++) {
        int length;
        const char *stem = stem_of(images[i], &length);
        if (!(names[i] = strndup(stem, (size_t)length)))
            return false;
    }
    return true;
}

bool names_make(char *const *images, int64_t n, char **names) {
    char **sorted = malloc((size_t)n * sizeof *sorted + 1);
    memset(names, 0, (size_t)n * sizeof *names);
    if (!sorted)
        return false;
    memcpy(sorted, images, (size_t)n * sizeof *sorted);
    const bool by_paths = two_have_one_stem(sorted, n);
    free(sorted);
    return by_paths ? name_by_paths(images, n, names) : name_by_stems(images, n, names);
}
