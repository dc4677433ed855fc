/* What is asked of sky models before an image is read. */
#ifndef SKY_MODELS_H
#define SKY_MODELS_H

#include "cli/target.h"

/* Checks that the options suit the format of the catalogues, which may be that of a sky model.
 * Returns the exit status. */
int sky_models_check(const struct cli *cli, const struct targets *targets);

/* Names what belongs beside the catalogues. The same. */
int sky_models_name(struct targets *targets);

#endif
