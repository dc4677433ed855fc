/* What is added to a merged catalogue: the result of an image. */
#ifndef MERGE_INPUT_H
#define MERGE_INPUT_H

#include "output/result.h"

/* Where the rows of a catalogue, and those of its Gaussians, are in the spool of a merge. */
struct kept_rows {
    int64_t at, gaussians_at;
    int64_t n_gaussians; /* 0: they are not merged */
};

struct merge_input {
    const struct result *result;  /* with injections, if they are merged */
    const struct kept_rows *kept; /* its rows; NULL: it has them itself */
    const char *no_injections;    /* why it has none; NULL: it has them, or they are not merged */
    const char *name;             /* what stands in the column Image, */
    const char *other_name;       /* or this, if two images have that name; NULL: the same */
    const char *plane; /* rows of other planes are no duplicates; NULL: it is none of several */
    const struct plane_option *searched; /* the plane */
    const char *entry;                   /* JSON of the image; NULL: as the result has it */
    bool knows_image;   /* else its unit and frame are taken for those of the others */
    bool knows_options; /* else options are those that the columns tell */
};

#endif
