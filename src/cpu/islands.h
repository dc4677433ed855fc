/* Makes islands of the candidates of a scan: cuts them into runs of pixels above the threshold,
 * joins runs that touch, numbers the islands in the order of their first pixels, and sums their
 * moments in integers. Other pixels of the image are not read again. The threads work on different
 * bands of the image. */
#ifndef ISLANDS_H
#define ISLANDS_H

#include "backend/backend.h"
#include "cpu/scan.h"

/* Finds the islands of pixels >= thresholds->island, 4- or 8-connected, that contain a pixel >=
 * thresholds->detection and have min_pixels pixels. With local noise (scan->noise.thresholds), all
 * pixels of the scan belong to islands, and the values of their moments are value - background;
 * with maps of the user (scan->noise.maps) there are no moments. The scan must have kept all pixels
 * of islands; its runs are freed. The caller clears the segments, also after an error. */
enum srcfind_status islands_find(struct scan *scan, const struct thresholds *thresholds,
                                 const struct detection *detection, struct threads *threads,
                                 struct segments *segments, struct error *error);

#endif
