/* A search: from the pixels of views to rows, on a GPU or on the CPU. It opens no file. */
#ifndef SEARCH_H
#define SEARCH_H

#include "api/finder.h"
#include "api/sources.h"
#include "input/positions.h"
#include "measure/at_rows.h"

/* The point-spread function as the sources of an image show it. */
struct measured_psf {
    int n;                /* points; 0: too few */
    double middle, edges; /* area in that of the beam in the middle of the image, and its mean at
                             the edges */
    struct psf psf;
};

/* Times and device of a search, and the scales that it left out. Each search adds its times. */
struct search_report {
    struct srcfind_timings timings;
    struct srcfind_run run;
    double widest_left_out; /* the widest scale that the image has no room for, in beams; 0: none */
};

struct search {
    struct srcfind *finder; /* its threads and GPUs are used, and it gets the error */
    const struct options *options;
    struct views *views; /* the search sets their noise */
    unsigned labels;     /* to be kept: 1 << enum label_kind */
    struct sources *sources;
    const struct sources
        *opposite; /* of the image of which this is the negative; NULL: it is none */
    struct search_report *report;
    struct measured_psf *psf; /* is set, with a fit and a beam; NULL: it is not wanted */
};

/* Finds islands and makes their rows, and then searches the scales. Memory of the islands is freed
 * as rows are made. The caller clears views and sources, also after an error. */
enum srcfind_status search_run(const struct search *search);

/* Finds the noise, and measures at positions that are given. */
enum srcfind_status search_at(const struct search *search, const struct positions *positions);

#endif
