/* A list of paths, separated by commas; a comma in a path is written twice. */
#ifndef PATH_LIST_H
#define PATH_LIST_H

#include <stdbool.h>

/* The number of paths. */
int path_list_count(const char *list);

/* Writes the first path of a list that is not empty, which is as long as the list at most. Returns
 * the rest of the list: "" behind the last path. */
const char *path_list_next(const char *list, char *path);

/* Whether none of the paths is empty. */
bool path_list_is_valid(const char *list);

#endif
