/* The results of srcfind_bench_file. */
#ifndef BENCH_H
#define BENCH_H

#include "srcfind.h"

struct srcfind_bench {
    struct srcfind_catalogue *catalogue; /* of the last round */
    int rounds;
    double *seconds[SRCFIND_STAGES]; /* of each round; NULL where there is no such stage */
};

#endif
