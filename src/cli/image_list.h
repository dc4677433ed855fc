/* The images of a run: those of the command line, and those of a list in a file. */
#ifndef IMAGE_LIST_H
#define IMAGE_LIST_H

#include "cli/cli.h"

struct image_list {
    char **paths;
    int64_t n, capacity;
};

/* Reads the paths of all images, one or more; messages call them `what`. Returns the exit status;
 * on an error the reason is on standard error. Clear the list also after an error. */
int image_list_read(const struct cli *cli, const char *what, struct image_list *list);

/* Refuses a path that is given twice. Returns the exit status. */
int image_list_check_unique(const struct image_list *list);

void image_list_clear(struct image_list *list);

#endif
