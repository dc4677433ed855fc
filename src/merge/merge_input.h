/* The input of a merge: the result of an image. */
#ifndef MERGE_INPUT_H
#define MERGE_INPUT_H

#include "output/result.h"

/* Where the rows of sources and of Gaussians of a catalogue are in the spool of a merge. */
struct kept_rows {
    int64_t at, gaussians_at;
    int64_t n_gaussians; /* 0: none are merged */
};

struct merge_input {
    const struct result *result;  /* with injections, if they are merged */
    const struct kept_rows *kept; /* where its rows are; NULL: in the result */
    const char *no_injections;    /* why they are not known; NULL: known, or not merged */
    const char *name;             /* the text in the column Image, */
    const char *other_name;       /* or this text, if two images have that name; NULL: the same */
    const char *plane;            /* rows of other planes are no duplicates; NULL: one plane */
    const struct plane_option *searched; /* the plane */
    const char *entry;                   /* its entry of JSON; NULL: to be made of the result */
    bool knows_image;   /* else its unit and frame are assumed to be those of the others */
    bool knows_options; /* else options are guessed from the columns */
};

#endif
