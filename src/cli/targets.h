/* Which images are to be searched, and where their catalogues go. */
#ifndef TARGETS_H
#define TARGETS_H

#include "command_line.h"

struct target {
    char *image;
    char *catalogue; /* NULL: standard output */
    int64_t bytes;   /* that its pixels take, about; 0 where nobody knows */
};

struct targets {
    struct target *target;
    int64_t n;
    enum srcfind_format format;
};

/* Works out the targets of a command line, makes the directory that they need, and sees to it that
 * no catalogue would replace another, an image or their list. Returns the exit status: 0, or the
 * reason has gone to standard error. To be freed in each case. */
int targets_make(const struct cli *cli, struct targets *targets);
void targets_free(struct targets *targets);

#endif
