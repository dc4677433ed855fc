/* The sources that are added to an image: how many, where and how bright. */
#ifndef INJECTIONS_H
#define INJECTIONS_H

#include "common/threads.h"
#include "measure/injection.h"
#include "measure/run_pixels.h"

/* Where an injected source is put. */
struct injection_place {
    double x, y; /* pixels */
    /* At its pixel, with the background: in the image that is measured, and where islands are
     * found. */
    double value, value_detected;
    double rms, rms_detected;
};

/* The trials of sources of one width: trial t has those from t * n_a_trial on. */
struct injection_plan {
    int64_t n_trials, n_a_trial, n;
};

/* Plans the trials of each width of `list`, so that there are at most so many sources at a time
 * that they do not disturb each other: one in 400 areas of FWHM; and at most 64 trials in all, so
 * that fewer sources may be planned than are wanted. n_pixels: of the image, that are not blank. */
void injections_plan(const struct injections *list, double n_pixels, double beam_pixels,
                     struct injection_plan *plans);

/* What places are drawn from. */
struct injection_field {
    const struct run_source *measure, *detect; /* of both images; the same pointer for one */
    int64_t width, height;
    uint64_t seed;
};

/* Allocates the sources of the widths that the list has, and draws S/N and place of those planned:
 * the same ones for a seed, however many there are. Those for which no pixel is found that is
 * not blank and has an rms are not added (is_added). The caller frees list->all and *places, also
 * after an error. */
enum srcfind_status injections_draw(struct injections *list, const struct injection_plan *plans,
                                    const struct injection_field *field, struct threads *threads,
                                    struct injection_place **places, struct error *error);

#endif
