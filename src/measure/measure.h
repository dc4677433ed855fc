/* Makes rows of the catalogue from islands and their components: fluxes, position, size and their
 * errors. All backends share this code. */
#ifndef MEASURE_H
#define MEASURE_H

#include "backend/backend.h"
#include "measure/component.h"
#include "measure/view.h"

/* Makes the rows of one image, on several threads. */
struct measurer;

/* frame: of fits in the image, see beam_frame.h; n: islands that will be measured. The view must
 * outlive the measurer. NULL where memory ran out. */
struct measurer *measurer_make(const struct view *view, const struct fit_frame *frame, int64_t n,
                               struct threads *threads);
void measurer_free(struct measurer *measurer);

/* Makes one row for each island of the result, in their order. The caller frees *rows; it is NULL
 * on an error. Islands are freed as their rows are made, so that memory never holds all islands and
 * all rows; in the end the segments are empty, also after an error. */
enum srcfind_status measure_islands(const struct measurer *measurer, struct segments *segments,
                                    struct srcfind_source **rows, struct error *error);

/* Makes one row for each component, numbered from components->before + 1, in an array of their
 * number. is_fit: what has no fit gets a flag. */
enum srcfind_status measure_components(const struct measurer *measurer,
                                       const struct segments *segments,
                                       const struct components *components, bool is_fit,
                                       struct srcfind_source *rows, struct error *error);

/* Makes one row for each Gaussian of the sources that have several, in their order, in an array of
 * components->n_of_composites. id: that of the component; gaussian_id is not set. */
enum srcfind_status measure_gaussians(const struct measurer *measurer,
                                      const struct segments *segments,
                                      const struct components *components,
                                      struct srcfind_source *rows, struct error *error);

#endif
