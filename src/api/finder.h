/* The structs behind the public calls, and functions that several of these calls use. */
#ifndef FINDER_H
#define FINDER_H

#include "gpu/pool.h"
#include "input/regions/shared_regions.h"
#include "input/shared_table.h"
#include "options/options.h"

struct srcfind_options {
    struct options values;
    /* the tables of the options at and inject, shared with copies and finders */
    struct shared_table *at, *inject;
    struct shared_regions *regions; /* of the option mask, the same */
    struct error error;
};

struct srcfind {
    struct options options;
    struct shared_table *at, *inject; /* shared with the options; NULL for default options */
    struct shared_regions *regions;   /* the same */
    struct threads *threads;
    struct gpu *gpu; /* NULL if only the CPU may be used; shared by finders made together */
    unsigned labels; /* to be kept for maps: 1 << enum label_kind */
    struct error error;
};

/* Begins a call that may be interrupted. */
void finder_begin(struct srcfind *finder);

/* Tells the finders that were made together how many images they will search. */
void finder_expect(struct srcfind *finder, double n_images);

/* Gives a finder n threads for its next searches. */
void finder_use_threads(struct srcfind *finder, int n);

/* True if the option `device` names a GPU or "all"; false for "cpu" and "auto". */
bool finder_wants_gpu(const struct options *options);

#endif
