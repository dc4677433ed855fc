/* Takes pixels that are not searched out of the candidates of a scan. */
#ifndef SCAN_LEAVE_OUT_H
#define SCAN_LEAVE_OUT_H

#include "cpu/scan.h"
#include "input/blanks.h"

/* Makes the values of such candidates NaN, which no threshold admits, and such pixels blank for the
 * edges of islands. A scan with more candidates for it drops no island: what was swept had no peak
 * with these pixels either. */
enum srcfind_status scan_leave_out(struct scan *scan, const struct blanks *unsearched,
                                   struct error *error);

#endif
