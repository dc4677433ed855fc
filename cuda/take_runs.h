/* The runs of islands, from the device. */
#ifndef TAKE_RUNS_H
#define TAKE_RUNS_H

#include "device.h"

/* Sets the runs of the segments, which have the islands of the search with these parameters. */
enum srcfind_status take_runs(struct cuda *cuda, const struct params *params,
                              struct segments *segments, struct error *error);

#endif
