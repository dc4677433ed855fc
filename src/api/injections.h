/* The sources that are injected into an image: how many, where and how bright. */
#ifndef INJECTIONS_H
#define INJECTIONS_H

#include "common/threads.h"
#include "measure/injection.h"
#include "measure/run_pixels.h"

/* A search has at most one source in so many areas of its FWHM. */
enum { INJECTION_AREAS = 400 };

/* Where an injected source is put. */
struct injection_position {
    double x, y; /* pixels */
    /* The value of its pixel, with the background, in the measured image and in the one for
     * detection. */
    double value, value_detected;
    double rms, rms_detected;
    /* The Gaussian in both images. */
    double peak, peak_detected;
    struct tensor form, form_detected;
};

/* The trials of sources of one width: trial t has those from t * n_a_trial on. */
struct injection_plan {
    int64_t n_trials, n_a_trial, n;
};

/* Plans the trials of each width of `list`: at most one source at a time in 400 areas of its FWHM,
 * and at most 64 trials in all, so that fewer sources may be planned than are wanted. n_pixels:
 * pixels of the image that are not blank. */
void injections_plan(const struct injections *list, double n_pixels, double beam_pixels,
                     struct injection_plan *plans);

/* Where positions are drawn. */
struct injection_field {
    const struct run_source *measure, *detect; /* of both images; the same pointer for one */
    const struct blanks *unsearched;           /* no source is put there; NULL: none is left out */
    int64_t width, height;
    uint64_t seed;
};

/* Allocates the sources of all widths of the list, and draws S/N and position of those that are
 * planned, and tells their trials. A source for which no pixel with a value and an rms is found is
 * not added (is_added). The caller frees list->all and *positions, also after an error. */
enum srcfind_status injections_draw(struct injections *list, const struct injection_plan *plans,
                                    const struct injection_field *field, struct threads *threads,
                                    struct injection_position **positions, struct error *error);

/* Looks at given positions inside of the field, those of the sources of the list that are to be
 * added: one whose pixel has no value or no rms is not (is_added). */
enum srcfind_status injections_look(struct injections *list, const struct injection_field *field,
                                    struct threads *threads, struct injection_position *positions,
                                    struct error *error);

#endif
