/* How islands become components, batch by batch. */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include "measure/component.h"

/* The batches of the islands of an image, which use the same memory. */
struct batches;

/* Segments must have runs; setting, segments and threads must outlive the batches. NULL where
 * memory ran out. */
struct batches *components_begin(const struct component_setting *setting,
                                 const struct segments *segments, struct threads *threads);

/* Divides the islands of the batch that begins with island *next, which becomes the first one
 * behind the batch. Sets their peaks and moments, too, if the user gives maps of the noise, or
 * another image was searched. The components are valid until the next call. */
enum srcfind_status components_find(struct batches *batches, int64_t *next,
                                    const struct components **components, struct error *error);

/* Frees the batches; NULL is allowed. */
void components_end(struct batches *batches);

#endif
