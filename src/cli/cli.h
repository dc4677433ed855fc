/* What the command line asks for. */
#ifndef CLI_H
#define CLI_H

#include "cli/help.h"
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
    bool maps[MAPS], tables[TABLES]; /* of tables: those of Gaussians and of islands */
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
    bool skip_existing, fail_fast, compare_cpu, quiet, verbose, version;
    struct help help;
    struct saved save;
    int bench;         /* rounds; 0: no --bench */
    int progress;      /* enum progress_choice */
    uint64_t given[2]; /* options: a bit for each, see command_line_gives */
    bool no_memory;    /* memory ran out while an option was set, which may be right */
    char **images;     /* arguments in argv; not owned */
    int n_images;
};

#endif
