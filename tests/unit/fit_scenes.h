/* Pixels and starts of fits to test with: ordinary and odd. */
#ifndef FIT_SCENES_H
#define FIT_SCENES_H

#include "backend/fit.h"
#include "pictures.h"

/* A fit and its pixels. */
struct fit_scene {
    struct fit_job job;
    struct fit_pixel *pixels;
};

/* The frame of a beam whose FWHM are in pixels; angle: of the major axis, from x to y, in radians.
 */
struct fit_frame frame_of_beam(double major, double minor, double angle);

enum { FIT_SCENES = 11 };

/* A scene of one of the kinds, with 1 to 8 sources on up to side x side pixels, to be freed. */
struct fit_scene fit_scene_make(int kind, int side, struct random *random);
const char *fit_scene_name(int kind);
void fit_scene_free(struct fit_scene *scene);

#endif
