/* The plain version of a fit: one number after the other, and in the order that fit_lanes.h
 * promises. */
#ifndef FIT_ORACLE_H
#define FIT_ORACLE_H

#include "backend/fit.h"

/* Carries out a job. */
void oracle_fit(const struct fit_pixel *pixels, struct fit_job *job);

#endif
