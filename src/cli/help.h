/* The texts of -h and --help, which come from the table of options. */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

enum help_topic {
    HELP_NOT_ASKED,
    HELP_DAILY,   /* -h: the options that are used every day */
    HELP_ALL,     /* --help: all options, in groups */
    HELP_OPTION,  /* --help=OPTION: what the manual says of it */
    HELP_SECTION, /* --help=SECTION, of the manual */
    HELP_FORMATS, /* --format help */
    HELP_MAPS,    /* --save help */
    HELP_COLUMNS  /* --columns help */
};

struct help {
    enum help_topic topic;
    int option;  /* of HELP_OPTION: its index in options.inc */
    int section; /* of HELP_SECTION: as help_manual_section has it */
};

void help_write(const struct help *help, FILE *stream);

#endif
