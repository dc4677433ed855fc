/* How a result is made:
 *
 * 1. The header and the corners of the image are kept. Mask and maps of the noise are read for
 *    their blank pixels.
 * 2. The views of the images are searched (search.c), or measured at the positions of --at. The
 *    first read of the pixels keeps a sample of them for quality.c.
 * 3. What follows is a client of the search, each of its own: trials with injected sources
 *    (completeness.c), the negated image (negative.c), planes of other images (planes.c).
 * 4. Quality (quality.c) and notes (notes.c) are made of the result.
 *
 * The input is open already. Only the table of --at and planes.c open further files. */
#include "api/find.h"

#include <math.h>
#include <string.h>

#include "api/at_search.h"
#include "api/completeness.h"
#include "api/negative.h"
#include "api/noise.h"
#include "api/notes.h"
#include "api/planes.h"
#include "api/psf_option.h"
#include "api/quality.h"
#include "api/unmeasured.h"
#include "common/clock.h"
#include "gpu/pool.h"
#include "input/header_lines.h"
#include "measure/setting.h"
#include "output/row_order.h"

/* --- the image --- */

/* Finds the sky positions of the four corners, in order around the image from the first pixel. */
static enum srcfind_status find_footprint(const struct image *image, struct result *result,
                                          struct error *error) {
    const double right = (double)result->image.width - 0.5;
    const double top = (double)result->image.height - 0.5;
    const double x[] = {-0.5, right, right, -0.5}, y[] = {-0.5, -0.5, top, top};
    double lon[4] = {NAN, NAN, NAN, NAN}, lat[4] = {NAN, NAN, NAN, NAN};
    const enum srcfind_status status =
        image->wcs ? wcs_positions(image->wcs, 4, x, y, lon, lat, error) : SRCFIND_OK;
    for (int i = 0; i < 4; i++) {
        result->origin.footprint[2 * i] = lon[i];
        result->origin.footprint[2 * i + 1] = lat[i];
    }
    return status;
}

/* Keeps what is known of the image before it is read. */
static enum srcfind_status describe_image(const struct srcfind *finder, const struct image *image,
                                          struct result *result, struct error *error) {
    if (!options_copy(&result->options, &finder->options))
        return error_memory(error, "keeping the options");
    result->origin.header = header_lines(&image->hdu.header, &result->image);
    return result->origin.header ? find_footprint(image, result, error)
                                 : error_memory(error, "keeping the header");
}

/* --- the search --- */

/* Measures at the positions of --at. */
static enum srcfind_status find_at(const struct search *search, const struct input *input,
                                   struct result *result) {
    const struct options *o = search->options;
    const struct srcfind_image *image = &result->image;
    struct error *error = &search->finder->error;
    const struct flux_units units = entry_models_units(&search->views->measure);
    struct positions positions;
    enum srcfind_status status =
        o->at_fixed
            ? positions_read_models(search->finder->at, o->at, image, &units, &positions, error)
            : positions_read(search->finder->at, o->at, image->frame, image->equinox,
                             image->lon_name, image->lat_name, options_fit(o), &positions, error);
    if (status == SRCFIND_OK) {
        positions_to_part(&positions, image);
        status = search_at(search, &positions);
    }
    positions_clear(&positions);
    if (status != SRCFIND_OK || !o->at_search)
        return status;
    const struct detection detection = views_detection_of_input(input, image, o);
    return at_search_run(search, &detection);
}

/* Whether all pixels of a view are blank. */
static bool is_blank(const struct view *view) {
    const struct srcfind_background *b = &view->result.background;
    return b->n_pixels > 0 && b->n_blank == b->n_pixels;
}

/* Searches the image, through a source that keeps a sample of its pixels, and describes its noise.
 */
static enum srcfind_status find_positive(const struct search *search, const struct input *input,
                                         struct sampled *sample, struct result *result) {
    struct view *view = &search->views->measure;
    const struct pixel_source *pixels = view->source;
    struct error *error = &search->finder->error;
    struct pixel_source sampled;
    if (!view->on_device && !sampled_source(sample, pixels, &sampled))
        return error_memory(error, "keeping a sample");
    if (!view->on_device)
        view->source = &sampled;
    enum srcfind_status status =
        *search->options->at ? find_at(search, input, result) : search_run(search);
    const double start = clock_seconds();
    view->source = pixels;
    if (status == SRCFIND_OK &&
        !noise_describe(&view->detection, &view->result.noise, search->finder->threads,
                        &view->result.background, &result->quality))
        status = error_memory(error, "measuring local noise");
    if (status == SRCFIND_OK && options_fit(search->options) &&
        !noise_describe_correlation(&view->correlation, &result->correlation))
        status = error_memory(error, "measuring the noise");
    search->report->timings.describe += clock_seconds() - start;
    if (status == SRCFIND_ERROR_INPUT && user_maps_exist(&input->maps) &&
        (is_blank(view) || is_blank(views_detect(search->views))))
        status = user_maps_explain_blank(&input->maps, view->source->width * view->source->height,
                                         error);
    return status;
}

enum srcfind_status find_sources(const struct search *search) {
    const enum srcfind_status status = search_run(search);
    return status == SRCFIND_OK && search->options->negative ? negative_search(search) : status;
}

/* Injects sources, and counts those that the search finds. */
static enum srcfind_status measure_completeness(const struct search *search,
                                                struct result *result) {
    const double start = clock_seconds();
    struct search_report report = {.run = search->report->run}; /* of the trials alone */
    struct search trials = *search;
    trials.report = &report;
    const enum srcfind_status status = completeness_measure(&trials, &result->injections);
    const struct srcfind_background *b = &search->views->measure.result.background;
    const double pixel = result->image.pixel_area;
    result->injections.area = views_searched(b, result->unsearched) * (pixel > 0 ? pixel : 1);
    search->report->timings.completeness = clock_seconds() - start;
    return status;
}

static void describe_psf(const struct measured_psf *measured, struct srcfind_quality *quality) {
    const bool is_known = measured->n > 0;
    quality->psf_points = measured->n;
    quality->psf_middle = is_known ? measured->middle : (double)NAN;
    quality->psf_edges = is_known ? measured->edges : (double)NAN;
}

/* Moves noise, times and device of the search to the result, also after an error. */
static void give_results(const struct search *search, enum srcfind_status status,
                         struct result *result) {
    struct views *views = search->views;
    result->timings = search->report->timings;
    result->run = search->report->run;
    result->quality.widest_left_out = search->report->widest_left_out;
    result->background = views->measure.result.background;
    result->noise = views->measure.result.noise;
    result->detection_noise = views->other.result.noise;
    views->measure.result.noise = views->other.result.noise = (struct noise_map){0};
    result->sources.has_labels = status == SRCFIND_OK ? search->labels : 0;
}

/* --- all of it --- */

/* The search and its repetitions: every step that needs the views. */
static enum srcfind_status search_input(struct srcfind *finder, const struct input *input,
                                        struct sampled *sample, struct result *result) {
    struct views views = views_of_input(input, &result->image, &finder->options, result->blanks);
    struct search_report report = {.timings.open = result->timings.open,
                                   .run.threads = finder->options.threads};
    struct measured_psf found = {0}, taken = {0};
    const struct search search = {.finder = finder,
                                  .options = &finder->options,
                                  .views = &views,
                                  .labels = finder->labels,
                                  .sources = &result->sources,
                                  .report = &report,
                                  .psf = &found};
    enum srcfind_status status =
        *finder->options.psf ? psf_option_find(&search, input, &taken) : SRCFIND_OK;
    result->psf = taken.psf;
    views.measure.psf = result->psf.n_x > 0 ? &result->psf : NULL;
    if (status == SRCFIND_OK)
        status = find_positive(&search, input, sample, result);
    describe_psf(taken.n > 0 ? &taken : &found, &result->quality);
    if (status == SRCFIND_OK && options_inject(&finder->options))
        status = measure_completeness(&search, result);
    if (status == SRCFIND_OK && finder->options.negative)
        status = negative_search(&search);
    give_results(&search, status, result);
    views_clear(&views);
    psf_clear(&found.psf);
    return status;
}

/* Gives all positions in pixels of the part that was searched as those of the whole image. */
static void count_in_whole_image(struct result *r) {
    const struct srcfind_image *image = &r->image;
    rows_move(r->sources.rows, r->sources.n, image->first_x, image->first_y);
    rows_move(r->sources.parts, r->sources.n_parts, image->first_x, image->first_y);
    for (int64_t i = 0; i < r->injections.n; i++) {
        r->injections.all[i].x += (double)image->first_x;
        r->injections.all[i].y += (double)image->first_y;
    }
}

enum srcfind_status find_catalogue(struct srcfind *finder, struct input *input,
                                   struct result *result) {
    struct error *error = &finder->error;
    struct sampled sample = {0};
    enum srcfind_status status = describe_image(finder, &input->image, result, error);
    if (status == SRCFIND_OK)
        status = planes_check(finder, input, result);
    if (status == SRCFIND_OK)
        status = input_read_blanks(input, &finder->options, &result->image, &result->blanks,
                                   &result->unsearched, finder->regions, finder->threads, error);
    if (status == SRCFIND_OK)
        status = search_input(finder, input, &sample, result);
    if (status == SRCFIND_OK && finder->options.measure_in.n > 0)
        status = planes_measure(finder, input, result);
    if (status == SRCFIND_OK)
        count_in_whole_image(result);
    const double start = clock_seconds();
    if (status == SRCFIND_OK && !quality_find(&sample, finder->threads, result))
        status = error_memory(error, "comparing the noise from place to place");
    if (status == SRCFIND_OK &&
        !unmeasured_find(setting_to_flux(&input->image, &result->image), result))
        status = error_memory(error, "summing the background");
    if (status == SRCFIND_OK && !row_order_make(result->sources.rows, result->sources.n,
                                                finder->options.sort, &result->sources.order))
        status = error_memory(error, "sorting the sources");
    if (status == SRCFIND_OK && !notes_make(result, &input->maps))
        status = error_memory(error, "writing notes");
    result->timings.describe += clock_seconds() - start;
    if (finder->gpu && !result->origin.on_device)
        gpu_end_image(finder->gpu, (double)result->image.width * (double)result->image.height);
    sampled_clear(&sample);
    return status;
}
