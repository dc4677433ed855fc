/* --compare-cpu: searches each image on the CPU and on the GPU, and reports on standard output
 * whether the catalogues are the same bytes, and how long each took. */
#ifndef COMPARE_H
#define COMPARE_H

#include "cli/cli.h"

/* Returns the exit status. */
int compare_run(const struct cli *cli);

#endif
