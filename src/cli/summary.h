/* The summary line of an image. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "cli/messages.h"

/* Writes what a search found and how; with --verbose also the time of each stage. seconds: from the
 * file to the catalogue, of which write_seconds were for writing. */
void summary_write(const struct messages *messages, const struct srcfind_catalogue *catalogue,
                   double seconds, double write_seconds);

#endif
