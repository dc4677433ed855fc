/* The files of an option that takes any number of them. */
#ifndef PATH_LIST_H
#define PATH_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* A zeroed list has no path. */
struct path_list {
    int64_t n, capacity;
    char **paths;
    int64_t n_files, files_capacity;
    char **files; /* the list files that were read */
    char *text;   /* as path_list_add takes it; NULL without a path */
};

/* Adds the paths of a text: commas stand between paths, and a comma in a path is written twice.
 * With `opens_lists`, @LIST stands for the paths in the file LIST, one on each line, and a path
 * that begins with @ is written ./@; else no file is opened. No path may be there twice. On an
 * error, whose message begins with the option's name, the list is unchanged. */
enum srcfind_status path_list_add(struct path_list *list, const char *option, const char *text,
                                  bool opens_lists, struct error *error);

/* False where memory ran out: the copy is then empty. */
bool path_list_copy(struct path_list *copy, const struct path_list *list);

void path_list_clear(struct path_list *list);

#endif
