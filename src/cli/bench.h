/* --bench: measures the time of each stage of a search. */
#ifndef BENCH_H
#define BENCH_H

#include "cli/cli.h"

/* Measures all images and writes the results to standard output. Returns the exit status. */
int bench_run(const struct cli *cli);

#endif
