/* A batch of islands while it is worked on, and the loops over its islands: what components.c and
 * batch_fits.c share. See components.c for how a batch works. */
#ifndef BATCHES_H
#define BATCHES_H

#include <stdalign.h>
#include <stdatomic.h>

#include "common/arrays.h"
#include "measure/component.h"
#include "measure/grouped.h"

enum { ISLANDS_A_SHARE = 32 }; /* that a thread takes at a time */

/* What the arrays of a batch have of its islands: pixels of islands and of margins; jobs and pixels
 * of fits, of islands with one part and with several; and the components. */
enum element {
    INSIDE,
    MARGIN,
    JOBS,
    FIT_PIXELS,
    LARGE_JOBS,
    LARGE_FIT_PIXELS,
    COMPONENTS,
    GAUSSIANS,
    COMPOSITES,
    OF_COMPOSITES, /* their Gaussians */
    ELEMENTS
};

/* Of each kind of element, a number, or the index of the first one. */
struct counts {
    int64_t of[ELEMENTS];
};

/* An island of the batch. */
struct item {
    struct fit_frame frame; /* its unit circle is a point at the island's highest pixel */
    struct island_pixels pixels;
    struct island_pixels detected; /* the same pixels, where the island was found */
    struct deblended deblended;
    struct deblended more; /* the start of its second fit */
    struct island_fit fit;
    bool is_due, is_second; /* a fit is wanted; it is the second one */
    struct fitted_sources fitted;
    struct grouped_sources grouped;
    struct margin margin; /* empty without a fit */
    struct arena *arena;  /* of the thread that works on the island */
    struct counts first;  /* in the arrays of the batch */
};

/* The jobs of the islands that are due: those of islands with several parts are the first ones. */
struct batch_jobs {
    struct fit_job *job;
    struct fit_pixel *pixels;
    int64_t capacity, pixels_capacity;
};

/* Pixels of the islands, then those of the margins. */
struct batch_pixels {
    struct run_pixels measured;
    struct run_pixels detected; /* the same, where islands were found in other pixels */
    struct run_set *sets;
    int64_t sets_capacity;
};

/* The capacities of the arrays of the components. */
struct capacities {
    int64_t component, gaussian, composite, source_of_pixel;
};

/* A share, and how many pixels its fits have. */
struct fitted_share {
    int64_t n_pixels;
    int share;
};

/* Alone in a cache line, which the thread that has it writes to. */
struct thread_arena {
    alignas(64) struct arena arena;
    atomic_bool is_taken;
};

struct batches {
    const struct component_setting *setting;
    const struct segments *segments;
    struct threads *threads;
    int64_t most_islands; /* of a batch */
    /* The batch: islands [first, first + n). */
    int64_t first, n;
    struct item *items;
    struct thread_arena *arenas; /* as many as threads */
    struct counts *shares;       /* what each share has, or the first that it has */
    struct fitted_share *order;  /* of the shares in the loop; NULL: that of the islands */
    struct counts total;         /* what the batch has */
    struct arena_pool pool;      /* of the arenas */
    struct batch_pixels read;
    struct batch_jobs jobs;
    struct components components;
    struct capacities capacities;
    /* The loop over islands: what it does, or which elements it counts. */
    bool (*work)(struct batches *batch, struct item *item, int64_t island);
    void (*count)(const struct batches *batch, const struct item *item, int64_t island,
                  int64_t *counts);
    enum element from, to;
    /* Of the loop that failed; SRCFIND_OK after a failure: memory ran out. */
    enum srcfind_status status;
    const char *doing; /* for error_memory */
    struct error *error;
};

/* Whether the islands were found in another image than that which is measured. */
static inline bool has_two_images(const struct batches *b) {
    return b->setting->detect != b->setting->measure;
}

/* The pixels of the detection image. */
static inline const struct run_pixels *detected_pixels(const struct batches *b) {
    return has_two_images(b) ? &b->read.detected : &b->read.measured;
}

/* The number of shares of some islands. */
int batches_shares(int64_t n_islands);

/* Calls `work` for all islands of the batch, on all threads. False where a call failed. */
bool batches_each(struct batches *batches,
                  bool (*work)(struct batches *, struct item *, int64_t island));

/* Sets the first of each island's elements of the kinds from ... to, and their totals. `count`
 * counts those of an island. */
void batches_place(struct batches *batches, enum element from, enum element to,
                   void (*count)(const struct batches *, const struct item *, int64_t island,
                                 int64_t *counts));

#endif
