/* The views of a search, and how they are made. */
#ifndef VIEWS_H
#define VIEWS_H

#include "api/backend_calls.h"
#include "api/input.h"
#include "measure/run_pixels.h"
#include "measure/view.h"

struct views {
    struct view measure;
    struct view other; /* where islands are found, with --detect-on; else they are in `measure` */
    bool are_two;
    struct blanks *blanks; /* of the images and maps together; NULL: the image is alone */
};

/* The view in which islands are found. */
static inline struct view *views_detect(struct views *views) {
    return views->are_two ? &views->other : &views->measure;
}

/* The parameters of a detection in an image. maps: maps that replace its noise. */
struct detection views_detection(const struct options *options, const struct noise_choice *noise,
                                 const struct noise_sources *maps,
                                 const struct srcfind_image *metadata);

/* Those of a search of the measured image of an input, whose maps and regions they point to. */
struct detection views_detection_of_input(const struct input *input,
                                          const struct srcfind_image *metadata,
                                          const struct options *options);

/* The noise options for images other than the measured one: all noise options apply to the measured
 * image alone, except `--background zero`, which applies to all. */
struct noise_choice views_noise_beside(const struct noise_choice *noise);

/* The views of an input. Input and blanks must outlive the views: see input_see. */
struct views views_of_input(const struct input *input, const struct srcfind_image *metadata,
                            const struct options *options, struct blanks *blanks);

/* Views of the same images that have no result yet. */
struct views views_again(const struct views *views);

/* How many pixels of an image are searched: those that are neither blank nor left out, as if blank
 * pixels were everywhere. unsearched: those left out; NULL: none. */
double views_searched(const struct srcfind_background *background, const struct blanks *unsearched);

/* Frees the noise and the islands that a search found. */
void views_clear(struct views *views);

/* Whether rows need the pixels of islands: if islands are divided or fitted, if the user gives maps
 * of the noise, or if islands are found in another image. */
bool views_need_pixels(const struct views *views, const struct options *options);

/* The pixels of a view whose noise is known. calls: the backend, whose device may have the pixels.
 */
struct run_source view_pixels(const struct view *view, struct backend_calls *calls);

#endif
