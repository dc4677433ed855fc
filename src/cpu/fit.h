/* Fits Gaussians on the CPU. */
#ifndef CPU_FIT_H
#define CPU_FIT_H

#include "backend/fit.h"
#include "common/error.h"
#include "common/threads.h"

/* Carries out the jobs, whose pixels are in one array, and sets their results. */
enum srcfind_status cpu_fit(const struct fit_pixel *pixels, struct fit_job *jobs, int64_t n,
                            struct threads *threads, struct error *error);

#endif
