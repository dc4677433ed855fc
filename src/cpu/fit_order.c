#include "cpu/fit_order.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"

enum { JOBS_A_SHARE = 512, CLASSES = 32 /* of costs, each half of the one before */ };

struct costs {
    const struct fit_job *jobs;
    float *cost;
    int64_t n;
};

/* About the time that a job takes: a round of its fit has a product for each pixel and pair of
 * parameters. */
static double cost_of(const struct fit_job *job) {
    const double n = job->set.n;
    return job->n_pixels * n * (n + 2) + 1;
}

static void find_costs(void *context, int share) {
    const struct costs *c = context;
    const int64_t first = (int64_t)share * JOBS_A_SHARE;
    for (int64_t i = first; i < c->n && i < first + JOBS_A_SHARE; i++)
        c->cost[i] = (float)cost_of(&c->jobs[i]);
}

/* The class of a cost: 0 is the greatest. */
static int class_of(float cost) {
    const int class = CLASSES - 1 - ilogbf(cost);
    return class < 0 ? 0 : class < CLASSES ? class : CLASSES - 1;
}

bool fit_order_make(struct fit_order *order, const struct fit_job *jobs, int64_t n,
                    struct threads *threads) {
    int64_t first[CLASSES + 1] = {0};
    *order = (struct fit_order){.job = arrays_allocate(n, sizeof *order->job),
                                .cost = arrays_allocate(n, sizeof *order->cost),
                                .n = n};
    if (!order->job || !order->cost)
        return false;
    struct costs costs = {jobs, order->cost, n};
    threads_run(threads, (int)((n + JOBS_A_SHARE - 1) / JOBS_A_SHARE), find_costs, &costs);
    for (int64_t i = 0; i < n; i++)
        first[class_of(order->cost[i]) + 1]++;
    for (int k = 0; k < CLASSES; k++)
        first[k + 1] += first[k];
    for (int64_t i = 0; i < n; i++)
        order->job[first[class_of(order->cost[i])]++] = (int32_t)i;
    return true;
}

void fit_order_clear(struct fit_order *order) {
    free(order->job);
    free(order->cost);
    *order = (struct fit_order){0};
}

int64_t fit_order_share(const struct fit_order *order, int64_t n_least, int64_t n_warps,
                        int n_threads, double slowness) {
    double left = 0, taken = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < order->n; i++)
        left += (double)order->cost[i];
    for (; n < order->n; n++) {
        const double cost = (double)order->cost[order->job[n]];
        const bool is_long = cost * (double)n_warps >= left;
        const bool is_faster_here = taken + cost <= n_threads * slowness * cost;
        if (n >= n_least && !(is_long && is_faster_here))
            break;
        taken += cost;
        left -= cost;
    }
    return n;
}
