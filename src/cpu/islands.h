/* Islands from the candidates of a scan: runs of pixels above the threshold, joined with union-find
 * where they touch, numbered by their first pixels, and measured in integers. The rest of the image
 * is not looked at again. */
#ifndef ISLANDS_H
#define ISLANDS_H

#include "backend/backend.h"
#include "cpu/scan.h"

/* Finds the islands of pixels >= thresholds->island, 4- or 8-connected, that hold a pixel >=
 * thresholds->detection and min_pixels pixels. The scan must have kept all pixels >= the island
 * threshold; it loses its runs. list->islands is the caller's. */
enum srcfind_status islands_find(struct scan *scan, const struct thresholds *thresholds,
                                 const struct detection *detection, struct island_list *list,
                                 struct error *error);

#endif
