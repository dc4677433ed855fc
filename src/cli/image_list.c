#include "cli/image_list.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/messages.h"
#include "common/arrays.h"
#include "common/path_lines.h"
#include "common/texts.h"

static bool add_image(struct image_list *list, const char *path) {
    if (!GROW(list->paths, list->capacity, list->n + 1))
        return false;
    char *copy = strdup(path);
    if (copy)
        list->paths[list->n++] = copy;
    return copy != NULL;
}

static int add_entries(const struct cli *cli, const char *what, struct image_list *list,
                       FILE *stream) {
    const int end = cli->ends_with_nul ? '\0' : '\n';
    char image[PATH_MAX];
    enum path_line kind;
    while ((kind = path_line_read(stream, end, image, sizeof image)) == PATH_LINE_THERE)
        if (cli->ends_with_nul && feof(stream) && strchr(image, '\n'))
            return messages_usage("%s: the list has lines, and no NUL at its end: leave -0 out",
                                  cli->files_from);
        else if (*image && !add_image(list, image))
            return messages_no_memory("listing paths");
    const char *path = cli->files_from;
    if (kind == PATH_LINE_WITH_NUL)
        return messages_usage("%s: the list has NUL characters: if its paths end with them, add -0",
                              path);
    if (kind == PATH_LINE_TOO_LONG)
        return messages_usage(
            cli->ends_with_nul
                ? "%s: a path is longer than paths can be: does each %s end with NUL? Else leave "
                  "-0 out"
                : "%s: a line is longer than any path: is this a list with a line for each %s?",
            path, what);
    return ferror(stream) ? messages_usage("%s: the list cannot be read: %s", path, strerror(errno))
                          : EXIT_OK;
}

static int add_list(const struct cli *cli, const char *what, struct image_list *list) {
    const char *path = cli->files_from;
    const bool from_input = strcmp(path, "-") == 0;
    FILE *stream = from_input ? stdin : fopen(path, "r");
    if (!stream)
        return messages_usage("%s: the list cannot be read: %s", path, strerror(errno));
    const int status = add_entries(cli, what, list, stream);
    if (!from_input)
        fclose(stream);
    return status;
}

/* Refuses what is no image, and was meant otherwise. Returns the exit status. */
static int check_image(const char *image, const char *what) {
    if (!*image)
        return messages_usage("an empty name is no %s: is a variable of the shell not set?", what);
    if (strcmp(image, "-") == 0)
        return messages_usage("%s: %ss are read from files, not from standard input", image, what);
    if ((strcmp(image, "help") == 0 || strcmp(image, "version") == 0) && access(image, F_OK) != 0)
        return messages_usage("there is no %s %s: did you mean --%s?", what, image, image);
    return EXIT_OK;
}

int image_list_read(const struct cli *cli, const char *what, struct image_list *list) {
    *list = (struct image_list){0};
    for (int i = 0; i < cli->n_images; i++) {
        const int status = check_image(cli->images[i], what);
        if (status != EXIT_OK)
            return status;
        if (!add_image(list, cli->images[i]))
            return messages_no_memory("listing paths");
    }
    const int status = cli->files_from ? add_list(cli, what, list) : EXIT_OK;
    if (status != EXIT_OK || list->n > 0)
        return status;
    return cli->files_from
               ? messages_usage("%s: the list is empty", cli->files_from)
               : messages_usage(
                     "no image given: try `srcfind -s image.fits -o catalogue.csv`, or --help");
}

int image_list_check_unique(const struct image_list *list) {
    const char *path;
    const char **sorted = malloc((size_t)list->n * sizeof *sorted + 1);
    if (!sorted)
        return messages_no_memory("listing paths");
    memcpy(sorted, list->paths, (size_t)list->n * sizeof *sorted);
    const int64_t n = texts_find_equal(sorted, list->n, &path);
    free((void *)sorted);
    return n > 1 ? messages_usage("%s is given twice", path) : EXIT_OK;
}

void image_list_clear(struct image_list *list) {
    for (int64_t i = 0; i < list->n; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct image_list){0};
}
