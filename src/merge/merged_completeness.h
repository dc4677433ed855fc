/* The sources that were injected into the images of a merged catalogue. */
#ifndef MERGED_COMPLETENESS_H
#define MERGED_COMPLETENESS_H

#include "measure/injection.h"
#include "merge/spool.h"

/* The injected sources of an image, in the spool. */
struct merged_injections {
    char *why;  /* message if they are not known; NULL: they are known; owned */
    int64_t at; /* their offset: all sources of a width, one width after the other */
    int64_t n_a_width;
    int n_widths;
    double widths[INJECTION_WIDTHS];
    double area; /* see struct injections */
};

/* Adds a list to the spool. False with errno. */
bool merged_injections_keep(struct spool *spool, const struct injections *list,
                            struct merged_injections *kept);

/* Sets the widths of the list to all widths of n images, each once. False if a list has no room for
 * so many. */
bool merged_injections_widths(const struct merged_injections *const *kept, int64_t n,
                              struct injections *list);

/* Makes one list of the injected sources of n images, with weights: the weights of the sources of
 * one width in an image add up to the area of the image. If there are many images, each gives only
 * its first sources, some 200,000 of a width in all. The widths of the list are set before; the
 * caller frees list->all. False with errno. */
bool merged_injections_list(const struct spool *spool, const struct merged_injections *const *kept,
                            int64_t n, struct injections *list);

#endif
