/* --bench: how long images take, stage by stage. */
#ifndef BENCH_H
#define BENCH_H

#include "command_line.h"

/* Measures all images, and writes what was found to standard output. Returns the exit status. */
int bench_run(const struct cli *cli);

#endif
