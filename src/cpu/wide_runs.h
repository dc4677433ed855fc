/* The runs of an image that are beyond a coarse noise, listed on the CPU. */
#ifndef WIDE_RUNS_H
#define WIDE_RUNS_H

#include "backend/backend.h"
#include "backend/wide_run.h"

/* All runs of an image: pieces in the order of the pixels. */
struct wide_runs {
    struct wide_piece *pieces;
    int64_t n_pieces;
    uint32_t *entries; /* of all pieces; NULL: each piece owns its entries */
};

/* Reads an image once, and lists the runs beyond `noise`, which has nodes. Clear the runs also
 * after an error. */
enum srcfind_status wide_runs_list(const struct pixel_source *source, const struct noise_map *noise,
                                   struct threads *threads, struct wide_runs *runs,
                                   struct error *error);

void wide_runs_clear(struct wide_runs *runs);

#endif
