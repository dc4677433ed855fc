/* How views are made: the measured image is a view with its grid, its noise options and the maps of
 * the noise. With --detect-on the image for detection is another view: it has the same options for
 * islands, its own noise or its own maps of it, boxes as wide as those of the measured image, and
 * its own beam, if known.
 *
 * A view borrows all it points to, and owns its result alone, noise and islands, which views_clear
 * frees. No pixel is read here. */
#include "api/views.h"

#include <math.h>

#include "api/noise.h"

struct detection views_detection(const struct options *o, const struct noise_choice *noise,
                                 const struct noise_sources *maps,
                                 const struct srcfind_image *metadata) {
    struct detection detection = {.kappa = noise->kappa,
                                  .threshold = o->threshold,
                                  .island = o->island,
                                  .background = noise->background,
                                  .rms = noise->rms,
                                  .connectivity = o->connectivity == CONNECTIVITY_8 ? 8 : 4,
                                  .min_pixels = o->min_pixels,
                                  .maps = *maps};
    noise_choose_box(noise, metadata, &detection);
    detection.beam_squared = noise_beam_squared(metadata);
    return detection;
}

struct noise_choice views_noise_beside(const struct noise_choice *noise) {
    struct noise_choice own = *noise;
    own.rms = 0;
    own.background = noise->background == 0 ? 0 : NAN;
    return own;
}

/* The view of the image for detection. Its boxes are as wide as those of the measured image. Its
 * beam is its own or, if none is known, the beam of the measured image. */
static struct view view_of_other(const struct input *input, const struct view *measured,
                                 const struct options *options) {
    const struct noise_sources maps = {user_map_source(&input->maps, USER_DETECTION_BACKGROUND),
                                       user_map_source(&input->maps, USER_DETECTION_RMS)};
    const struct noise_choice noise = views_noise_beside(&options->noise);
    const struct user_map *map = input->maps.images[USER_DETECTION];
    struct view view = *measured;
    view.source = &input->detected;
    view.detection = views_detection(options, &noise, &maps, measured->metadata);
    view.detection.keep_runs = true;
    view.detection.unsearched = input->unsearched;
    view.unit = map->metadata.unit;
    if (isfinite(map->metadata.beam_pixels)) {
        view.image = &map->image;
        view.metadata = &map->metadata;
    }
    return view;
}

struct detection views_detection_of_input(const struct input *input,
                                          const struct srcfind_image *metadata,
                                          const struct options *options) {
    const struct noise_sources maps = {user_map_source(&input->maps, USER_BACKGROUND),
                                       user_map_source(&input->maps, USER_RMS)};
    struct detection detection = views_detection(options, &options->noise, &maps, metadata);
    detection.unsearched = input->unsearched;
    return detection;
}

struct views views_of_input(const struct input *input, const struct srcfind_image *metadata,
                            const struct options *options, struct blanks *blanks) {
    struct views views = {
        .measure = {.source = &input->pixels,
                    .on_device = input->on_device,
                    .image = &input->image,
                    .metadata = metadata,
                    .unit = metadata->unit,
                    .grid = &GRID_OF_IMAGE,
                    .position_error = options->position_error,
                    .detection = views_detection_of_input(input, metadata, options)},
        .are_two = input->maps.images[USER_DETECTION],
        .blanks = blanks};
    if (views.are_two)
        views.other = view_of_other(input, &views.measure, options);
    views.measure.detection.keep_runs = views_need_pixels(&views, options);
    if (*options->at) { /* positions are given, and no islands are found */
        views.measure.detection = noise_detection(views.measure.detection);
        views.measure.detection.unsearched = NULL;
    }
    return views;
}

struct views views_again(const struct views *views) {
    struct views again = *views;
    again.measure.result = again.other.result = (struct detection_result){0};
    return again;
}

double views_searched(const struct srcfind_background *b, const struct blanks *unsearched) {
    const double n = (double)b->n_pixels, left_out = unsearched ? (double)unsearched->n_added : 0;
    return (n - (double)b->n_blank) * (1 - left_out / n);
}

void views_clear(struct views *views) {
    view_clear(&views->measure);
    view_clear(&views->other);
}

bool views_need_pixels(const struct views *views, const struct options *options) {
    return options_deblend(options) || noise_sources_exist(&views->measure.detection.maps) ||
           views->are_two;
}

struct run_source view_pixels(const struct view *view, struct backend_calls *calls) {
    return (struct run_source){.source = view->source,
                               .noise = &view->result.noise,
                               .user = view->detection.maps,
                               .gather = view->result.is_on_device ? backend_gather : NULL,
                               .context = calls};
}
