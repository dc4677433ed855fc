/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "srcfind.h"

enum progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* As --NAME=VALUE; not owned. */
struct given_option {
    const char *name, *value;
};
enum { MOST_SEARCH_OPTIONS = 16 };

struct cli {
    struct srcfind_options find;
    const char *output; /* NULL: standard output */
    bool format_given;
    enum srcfind_format format;
    const char *files_from; /* NULL: no list */
    bool skip_existing, fail_fast, compare_cpu, quiet, verbose, help, version;
    int bench; /* rounds; 0: not asked for */
    enum progress progress;
    struct given_option search[MOST_SEARCH_OPTIONS]; /* options that a search depends on */
    int n_search;
    char **images; /* of the command line; not owned */
    int n_images;
};

/* Reads the command line. On an error the reason has gone to standard error. */
bool options_read(int argc, char **argv, struct cli *cli);

/* Writes what --help shows. */
void options_help(FILE *stream);

#endif
