/* The images to search and the paths of their catalogues. */
#ifndef TARGETS_H
#define TARGETS_H

#include "cli/command_line.h"

struct target {
    char *image;
    char *catalogue; /* NULL: standard output */
    int64_t bytes;   /* approximate size of the pixels; 0 if unknown */
};

struct targets {
    struct target *target;
    int64_t n;
    const struct srcfind_format *format;
};

/* Finds the targets of a command line, checks that no catalogue would replace another one, an image
 * or the list of images, and makes the directory for the catalogues. Returns the exit status; on an
 * error the reason is on standard error. The targets are to be freed, also after an error. */
int targets_make(const struct cli *cli, struct targets *targets);
void targets_free(struct targets *targets);

bool targets_are_json(const struct targets *targets);

#endif
