/* A CUDA module without CUDA, so that what is done with devices can be tested where there is none:
 * it searches with the CPU's backend, and is as slow, scarce or fragile as the environment says.
 *
 * FAKE_CUDA_DEVICES  how many devices there are (1); 0: none
 * FAKE_CUDA_START    milliseconds that opening a device takes (0)
 * FAKE_CUDA_SEARCH   milliseconds that a search takes at least (0)
 * FAKE_CUDA_LOST     the search of each context, from 1, in which it is lost (0: none)
 * FAKE_CUDA_REFUSED  the opening, from 1, from which on all are refused (0: none)
 * FAKE_CUDA_TOGETHER a search ends when so many have been at work at once (0); it fails if they do
 *                    not come in a minute
 * FAKE_CUDA_KEEPS    1: images stay on the device, which gathers their pixels and smooths them;
 *                    0: they only pass through (0)
 *
 * The memory of a device is that of the host. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdatomic.h>
#include <stdbool.h>

#include "gpu/gpu_backend.h"

enum { FAKE_DEVICES_MOST = 8, FAKE_FREE_MEMORY = 1 << 30 };

/* What has happened so far. */
struct fake_counts {
    atomic_int opened, closed, refused, searches,
        overlaps;                              /* overlaps: of one context; there must be none */
    atomic_int at_once, most_at_once;          /* searches */
    atomic_int searches_of[FAKE_DEVICES_MOST]; /* devices */
    atomic_int uploaders;                      /* that were asked for last */
    atomic_llong memory;                       /* that all contexts may use together */
    /* A search waits until this is true (NULL: it does not wait), so that the test decides what
     * happens at the same time, and not the scheduler. What has become true must stay true. */
    bool (*search_may_end)(const struct fake_counts *counts);
    atomic_int idle_finders; /* counted by the test */
};

SRCFIND_API extern struct fake_counts fake_counts;

#endif
