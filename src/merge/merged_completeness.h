/* The sources that were injected into the images of a merged catalogue, to see which are found. */
#ifndef MERGED_COMPLETENESS_H
#define MERGED_COMPLETENESS_H

#include "measure/injection.h"
#include "merge/spool.h"

/* Those of an image, in the spool. */
struct merged_injections {
    char *why;  /* they are not known: a message; NULL: they are; owned */
    int64_t at; /* all of a width, one width after the other */
    int64_t n_a_width;
    int n_widths;
    double widths[INJECTION_WIDTHS];
    double area; /* see struct injections */
};

/* Adds a list to the spool. False with errno. */
bool merged_injections_keep(struct spool *spool, const struct injections *list,
                            struct merged_injections *kept);

/* Sets the widths of the list to all that n images have, each once. False where there are more than
 * a list has room for. */
bool merged_injections_widths(const struct merged_injections *const *kept, int64_t n,
                              struct injections *list);

/* Makes one list of those of n images, with weights: of a width, all of an image that has it have
 * the area of that image together. Of many images each gives only its first ones, so that there are
 * some 200,000 of a width. The list has its widths; the caller frees list->all. False with errno.
 */
bool merged_injections_list(const struct spool *spool, const struct merged_injections *const *kept,
                            int64_t n, struct injections *list);

#endif
