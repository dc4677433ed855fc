/* The order in which jobs of fits are carried out: the most costly ones first, so that no thread
 * begins with one of these when all others have ended. */
#ifndef FIT_ORDER_H
#define FIT_ORDER_H

#include "backend/fit.h"
#include "common/threads.h"

struct fit_order {
    int32_t *job; /* indices, by falling cost, to a factor of 2 */
    float *cost;  /* of each job, in its place among the jobs: in no unit */
    int64_t n;
};

/* n is less than 2^31. False where memory ran out. Clear the order, also after a failure. */
bool fit_order_make(struct fit_order *order, const struct fit_job *jobs, int64_t n,
                    struct threads *threads);
void fit_order_clear(struct fit_order *order);

/* How many jobs, of the first of an order, the host carries out while a device carries out the
 * others; a warp of the device, which carries out a job, takes `slowness` times as long as a thread
 * of the host. These are jobs that alone would take longer than all others together, as many as the
 * threads finish in the time that the next one would take there; and at least the first n_least. */
int64_t fit_order_share(const struct fit_order *order, int64_t n_least, int64_t n_warps,
                        int n_threads, double slowness);

#endif
