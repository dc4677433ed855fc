#include "take_runs.h"

#include <stdlib.h>

#include "cpu/runs.h"

/* Gives run i and its island: see runs_group. */
static int64_t get_run(const void *context, int64_t i, struct run *run) {
    const struct listed_run *runs = context;
    *run = runs[i].run;
    return runs[i].island;
}

/* Lists the runs on the device; their number is then in cuda->state. */
static cudaError_t list(struct cuda *cuda, const struct params *params) {
    const cudaError_t code = launch_list_runs(params, cuda->stream);
    return code ? code : cuda_fetch(cuda, cuda->state, params->state, sizeof *cuda->state);
}

enum srcfind_status take_runs(struct cuda *cuda, const struct params *params,
                              struct segments *segments, struct error *error) {
    static const char doing[] = "taking islands from the device";
    enum srcfind_status status = cuda_check(cuda, list(cuda, params), doing, error);
    if (status != SRCFIND_OK)
        return status;
    const int64_t n = cuda->state->n_listed_runs;
    const size_t size = (size_t)n * sizeof(struct listed_run);
    struct listed_run *runs = malloc(size + 1);
    if (!runs)
        return error_memory(error, doing);
    status = cuda_check(cuda, cuda_fetch(cuda, runs, params->listed_runs, size), doing, error);
    if (status == SRCFIND_OK && !runs_group(get_run, runs, n, segments))
        status = error_memory(error, doing);
    free(runs);
    return status;
}
