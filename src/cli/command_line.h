/* Reads the command line. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "cli/plane_ranges.h"
#include "output/products.h"
#include "srcfind.h"

/* Of the images, every n-th, beginning with number k, from 1. n is 0 for all of them. */
struct shard {
    int64_t k, n;
};

enum { NOT_GIVEN = -1 };

/* What --save names. */
struct saved {
    bool maps[MAPS], gaussians;
};

struct cli {
    struct srcfind_options *find;        /* the library's options */
    const char *output;                  /* NULL: standard output */
    const struct srcfind_format *format; /* NULL: by the suffix of output */
    const char *columns;                 /* of catalogues; NULL: all that there are */
    const char *files_from;              /* NULL: no list */
    bool ends_with_nul;                  /* the paths of this list */
    struct shard shard;
    struct plane_ranges planes; /* that --plane gives, if not one plane, which is in `find` */
    const char *report;         /* NULL: none */
    const char *merge;          /* the merged catalogue; "-": on standard output; NULL: none */
    int merge_duplicates;       /* enum duplicates_choice; NOT_GIVEN: drop */
    bool at_positions;          /* fluxes at given positions are measured */
    bool skip_existing, fail_fast, compare_cpu, quiet, verbose, help, version;
    struct saved save;
    int bench;      /* rounds; 0: no --bench */
    int progress;   /* enum progress_choice */
    uint64_t given; /* options: a bit for each, see command_line_gives */
    char **images;  /* arguments in argv; not owned */
    int n_images;
};

/* Reads the command line. Returns an exit status; on an error the reason is on standard error.
 * *cli is to be cleared, also after an error. */
int command_line_read(int argc, char **argv, struct cli *cli);
void command_line_clear(struct cli *cli);

/* True if an option was given, by its name. */
bool command_line_gives(const struct cli *cli, const char *name);

/* True if the option `device` has this value. */
bool command_line_has_device(const struct cli *cli, const char *device);

/* A copy of the library's options, with another device unless it is NULL; to be destroyed. NULL
 * where memory ran out. */
struct srcfind_options *command_line_options(const struct cli *cli, const char *device);

/* True if only the CPU can search: with maps of rms or background. */
bool command_line_is_for_cpu(const struct cli *cli);

/* Writes the text of --help. */
void command_line_help(FILE *stream);

#endif
