/* The images to search and the paths of their catalogues. */
#ifndef TARGETS_H
#define TARGETS_H

#include "cli/command_line.h"
#include "input/given.h"

enum { MOST_MAPS = 8 };

struct target {
    char *image;
    char *catalogue;          /* NULL: standard output */
    char *maps[MOST_MAPS];    /* for each srcfind_map(i) that is to be saved; else NULL */
    char *given[GIVEN_KINDS]; /* mask and maps of the noise that are read; else NULL */
    int64_t bytes;            /* approximate size of the pixels; 0 if unknown */
};

struct targets {
    struct target *target;
    int64_t n;
    const struct srcfind_format *format;
};

/* Finds the targets of a command line, checks that no catalogue or map would replace another one,
 * an image or the list of images, and makes the directory for the catalogues. Returns the exit
 * status; on an error the reason is on standard error. The targets are to be freed, also after an
 * error. */
int targets_make(const struct cli *cli, struct targets *targets);
void targets_free(struct targets *targets);

bool targets_are_json(const struct targets *targets);

#endif
