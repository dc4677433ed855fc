/* The fits of the islands of a batch. */
#ifndef BATCH_FITS_H
#define BATCH_FITS_H

#include "measure/batches.h"

/* Fits the islands, and groups their Gaussians to sources. False on an error, of which the batch
 * has the status. */
bool batch_fits_run(struct batches *batches);

#endif
