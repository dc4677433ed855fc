/* The interface of the backends. A backend takes pixels and detection parameters, and gives the
 * clip's background and the moments of each island. It knows nothing of files, options or
 * catalogues. Each result is an integer, the value of a pixel, or an exact value rounded once, so
 * that all backends give the same results. */
#ifndef BACKEND_H
#define BACKEND_H

#include "backend/noise_map.h"
#include "backend/segments.h"
#include "common/threads.h"
#include "input/pixel_change.h"

struct blanks;

/* Maps of the noise that are given, of the shape of the image; NULL where the noise map has it. The
 * pixels of the image are NaN where a map is blank. */
struct noise_sources {
    const struct pixel_source *background, *rms;
};

/* Whether any map is given. */
static inline bool noise_sources_exist(const struct noise_sources *maps) {
    return maps->background || maps->rms;
}

/* Whether several threads may read the maps at the same time. */
static inline bool noise_sources_are_parallel(const struct noise_sources *maps) {
    return (!maps->background || maps->background->parallel) && (!maps->rms || maps->rms->parallel);
}

struct detection {
    double kappa;
    double threshold, island; /* in units of the rms; island <= threshold */
    double background;        /* is subtracted; NAN: the clip's median */
    int connectivity;         /* 4 or 8 */
    int64_t min_pixels;
    bool keep_runs;    /* the segments have runs */
    bool noise_only;   /* no islands are found; only the CPU backend knows this */
    int64_t box, step; /* local noise: boxes of so many pixels, every so many; box 0: one noise */
    /* BMAJ x BMIN in pixels^2, 4 or more: bright wide islands are left out of the boxes; 0: none */
    double beam_squared;
    double rms;                /* in place of the clip's; 0: not given */
    struct noise_sources maps; /* in place of background and rms; only the CPU backend uses them */
    /* Pixels that are in no island, and count as blank at its edges, but not for the noise; NULL:
     * none. Only the CPU backend knows them. */
    const struct blanks *unsearched;
};

struct detection_result {
    struct srcfind_background background;
    struct noise_map noise; /* owned by the caller, like the segments: who clears both */
    struct segments segments;
    struct srcfind_timings timings;
    bool is_on_device; /* the device has the pixels until its next search */
};

/* Frees what a result owns. */
static inline void detection_result_clear(struct detection_result *result) {
    noise_map_clear(&result->noise);
    segments_clear(&result->segments);
}

/* The pixel thresholds that follow from a clip of the whole image: a pixel belongs to an island if
 * it is >= island, and an island counts if one of its pixels is >= detection. Both are infinite if
 * nothing can be detected. */
struct thresholds {
    float island, detection;
};

/* The noise map of an image whose clip ended with `median` and `rms`. */
EXACT_FUNCTION struct noise_map noise_of_clip(double median, double rms,
                                              const struct detection *d) {
    const double background = isnan(d->background) ? median : d->background;
    const struct noise_map map = {background, d->rms > 0 ? d->rms : rms, NULL, 0, 0, 1, false};
    return map;
}

/* empty: whether the clip left no pixel, and so gives no rms. */
EXACT_FUNCTION struct thresholds thresholds_of(const struct noise_map *noise, bool empty,
                                               const struct detection *d) {
    struct thresholds t = {INFINITY, INFINITY};
    if (!empty || d->rms > 0) {
        t.island = exact_above(noise->background + d->island * noise->rms);
        t.detection = exact_above(noise->background + d->threshold * noise->rms);
    }
    return t;
}

/* Pixels in the memory of a device: pixels[y * row_stride + x], row_stride in pixels. If swapped,
 * their byte order is not the host's. stream is a cudaStream_t, or NULL for the default stream; the
 * work submitted to it so far must end before the pixels are read. */
struct device_pixels {
    const float *pixels;
    int64_t width, height, row_stride;
    bool swapped;
    void *stream;
    struct pixel_change change; /* of the pixels before they are searched */
};

/* The error message for an image without a finite pixel; takes the number of pixels. */
#define BACKEND_NO_PIXELS                                                                          \
    "none of the %lld pixels has a finite value: is this the right plane, or is the image blank, " \
    "or all of it masked?"

/* Finds the islands of an image on the CPU. The caller clears result->noise and result->segments,
 * also after an error. */
enum srcfind_status cpu_detect(const struct pixel_source *source, const struct detection *detection,
                               struct threads *threads, struct detection_result *result,
                               struct error *error);

#endif
