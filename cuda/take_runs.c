#include "take_runs.h"

#include <stdlib.h>

/* Whether a run goes on where another one was cut at the end of a tile. */
static bool goes_on(const struct listed_run *before, const struct listed_run *r) {
    return before->island == r->island && before->run.y == r->run.y &&
           before->run.x1 + (int64_t)1 == r->run.x0;
}

/* Joins runs that were cut, and returns the number of runs. */
static int64_t join_cut(struct listed_run *runs, int64_t n) {
    int64_t n_joined = 0;
    for (int64_t i = 0; i < n; i++) {
        if (n_joined > 0 && goes_on(&runs[n_joined - 1], &runs[i]))
            runs[n_joined - 1].run.x1 = runs[i].run.x1;
        else
            runs[n_joined++] = runs[i];
    }
    return n_joined;
}

/* Groups runs, which are in the order of the image, by island. False where memory ran out. */
static bool group(const struct listed_run *runs, int64_t n, struct segments *out) {
    int64_t *first = out->first_run = calloc((size_t)out->n + 2, sizeof *first);
    out->runs = malloc((size_t)n * sizeof *out->runs + 1);
    if (!first || !out->runs)
        return false;
    for (int64_t i = 0; i < n; i++)
        first[runs[i].island + 2]++;
    for (int64_t k = 0; k < out->n; k++)
        first[k + 2] += first[k + 1];
    for (int64_t i = 0; i < n; i++) /* first[k + 1] becomes where island k ends */
        out->runs[first[runs[i].island + 1]++] = runs[i].run;
    return true;
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
    if (status == SRCFIND_OK && !group(runs, join_cut(runs, n), segments))
        status = error_memory(error, doing);
    free(runs);
    return status;
}
