/* The merged catalogue of a run: what --merge adds to it, and says of it. */
#ifndef MERGING_H
#define MERGING_H

#include "cli/messages.h"
#include "cli/target.h"
#include "merge/merge.h"

struct merging;

/* Begins the merged catalogue; *merging is NULL without --merge. Returns the exit status; on an
 * error the reason is on standard error. End it also after an error. */
int merging_begin(const struct cli *cli, const struct targets *targets, struct merging **merging);
void merging_end(struct merging *merging);

/* Adds the catalogue of image i. What is wrong is said by merging_finish. Threads may call this at
 * the same time; merging may be NULL. */
void merging_add(struct merging *merging, int64_t i, const struct srcfind_catalogue *catalogue);

/* The same for the catalogue of an image that is skipped, which is read. finder: that would search
 * it. False with an error if it cannot be read. */
bool merging_add_existing(struct merging *merging, int64_t i, const struct srcfind *finder,
                          struct error *error);

/* Writes the merged catalogue, if all images had their turn, and says how many rows it has. Returns
 * the exit status. */
int merging_finish(struct merging *merging, bool all_done, struct threads *threads,
                   struct messages *messages);

#endif
