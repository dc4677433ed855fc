/* Reads the command line. */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include "cli/cli.h"

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

/* True if only the CPU can search: with maps of rms or background, or with regions. */
bool command_line_is_for_cpu(const struct cli *cli);

#endif
