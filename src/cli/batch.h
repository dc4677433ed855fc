/* The work: image after image, each to its catalogue. */
#ifndef BATCH_H
#define BATCH_H

#include "cli/targets.h"

/* Searches all targets, and returns the exit status. */
int batch_run(const struct cli *cli, const struct targets *targets);

#endif
