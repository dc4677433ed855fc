/* Predicts from a sample of the pixels where the clip will end. The sample is the same for the same
 * image, and only the speed depends on it: what it predicts is verified afterwards. */
#ifndef PLAN_H
#define PLAN_H

#include "backend.h"
#include "cpu/scan.h"

/* Makes a plan for the scan. *useful is false where a list would be too long or the sample tells
 * nothing (discrete values, a flat image), unless the image is small enough to be listed whole. */
enum srcfind_status plan_scan(const struct pixel_source *source, const struct detection *detection,
                              struct scan_plan *plan, bool *useful, struct error *error);

#endif
