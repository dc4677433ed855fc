/* How rows are made of islands:
 *
 * 1. If no pixels are needed, each row is made of the moments of its island (measure_islands).
 * 2. Else islands are taken in batches, in their order. components_find divides and fits the
 *    islands of a batch; rows, Gaussians and labels of its components follow those of the batches
 *    before, in the arrays of the result.
 * 3. Labels of a scale are turned to pixels of the image.
 *
 * Rows are always in the order of the islands, however many batches and threads there are.
 * The pixels of each island are read once from each image. A batch limits the memory for pixels;
 * the arrays have room for the rows that are likely, and pages that have none take no memory. */
#include "api/sources.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "measure/beam_frame.h"
#include "measure/measure.h"
#include "measure/setting.h"

struct source_maker {
    struct segments *segments;
    const struct measurer *measurer; /* NULL: Gaussians alone are wanted, and no rows */
    struct component_setting setting;
    const struct grid *grid;
    struct threads *threads;
    unsigned labels;
    struct sources *sources; /* what is made */
    struct {
        int64_t rows, gaussians, free, parts;
    } capacity; /* of the arrays of the sources */
};

static bool keeps(const struct source_maker *m, enum label_kind kind) {
    return m->labels >> kind & 1;
}

/* Makes room for so many rows, Gaussians and parts more. */
static bool make_room(struct source_maker *m, int64_t n, int64_t n_gaussians, int64_t n_parts) {
    struct sources *s = m->sources;
    const bool has_rows = m->measurer;
    return (!has_rows || (GROW(s->rows, m->capacity.rows, s->n + n) &&
                          GROW(s->parts, m->capacity.parts, s->n_parts + n_parts))) &&
           GROW(s->gaussians, m->capacity.gaussians, s->n_gaussians + n_gaussians) &&
           GROW(s->free, m->capacity.free, s->n_gaussians + n_gaussians);
}

static void add_gaussians(const struct source_maker *m, const struct components *c) {
    struct sources *s = m->sources;
    for (int64_t i = 0; i < c->n_gaussians; i++) {
        s->gaussians[s->n_gaussians + i] = grid_gaussian(m->grid, &c->gaussian[i].gaussian);
        s->free[s->n_gaussians + i] = c->gaussian[i].free;
    }
    s->n_gaussians += c->n_gaussians;
    s->n_free = s->n_gaussians;
}

static enum srcfind_status add_rows(const struct source_maker *m, const struct components *c,
                                    struct error *error) {
    struct sources *s = m->sources;
    enum srcfind_status status =
        measure_components(m->measurer, m->segments, c, m->setting.fitter, s->rows + s->n, error);
    if (status == SRCFIND_OK)
        status = measure_gaussians(m->measurer, m->segments, c, s->parts + s->n_parts, error);
    if (status != SRCFIND_OK)
        return status;
    s->n += c->n;
    s->n_parts += c->n_of_composites;
    return SRCFIND_OK;
}

/* Adds the components of the islands [first, end). */
static enum srcfind_status add_components(struct source_maker *m, const struct components *c,
                                          int64_t first, int64_t end, struct error *error) {
    if (!make_room(m, c->n, c->n_gaussians, c->n_of_composites) ||
        (keeps(m, LABEL_SOURCES) &&
         !labels_add_sources(&m->sources->labels[LABEL_SOURCES], m->segments, first, end,
                             c->source_of_pixel)))
        return error_memory(error, "measuring sources");
    add_gaussians(m, c);
    return m->measurer ? add_rows(m, c, error) : SRCFIND_OK;
}

static enum srcfind_status make_components(struct source_maker *m, struct error *error) {
    const int64_t n = m->segments->n, likely = n + n / 8 + 1;
    struct batches *batches = components_begin(&m->setting, m->segments, m->threads);
    enum srcfind_status status = batches && make_room(m, likely, likely, 1)
                                     ? SRCFIND_OK
                                     : error_memory(error, "dividing islands");
    for (int64_t first = 0, end = 0; status == SRCFIND_OK && end < n; first = end) {
        const struct components *components;
        status = components_find(batches, &end, &components, error);
        if (status == SRCFIND_OK)
            status = add_components(m, components, first, end, error);
    }
    components_end(batches);
    return status;
}

enum srcfind_status sources_no_beam(const struct srcfind_image *image, enum srcfind_status status,
                                    const char *need, const char *otherwise, struct error *error) {
    const bool has_sky = *image->lon_name;
    return error_set(error, status, "%s, and %s: %s%s", need,
                     !has_sky ? "without sky coordinates the size of a pixel is not known"
                     : image->beam_row_is_missing
                         ? "the BEAMS table has no usable row of this plane"
                         : "no beam is known",
                     has_sky ? "give --beam MAJ,MIN,PA, or " : "", otherwise);
}

enum srcfind_status sources_frame(const struct view *view, const struct options *options,
                                  struct fit_frame *frame, struct error *error) {
    static const enum fit_shapes shapes[] = {[SHAPES_AUTO] = FIT_SHAPES_CHOSEN,
                                             [SHAPES_FREE] = FIT_SHAPES_FREE,
                                             [SHAPES_BEAM] = FIT_SHAPES_BEAM};
    const int choice = options->shapes;
    const enum srcfind_status status = beam_frame_make(view->image, view->metadata, frame, error);
    if (status != SRCFIND_OK)
        return status;
    frame->shapes = choice == SHAPES_NOT_GIVEN ? FIT_SHAPES_CHOSEN : shapes[choice];
    if (frame->has_beam)
        return SRCFIND_OK;
    if (options->scales.n > 0)
        return sources_no_beam(view->metadata, SRCFIND_ERROR_INPUT, "--scales needs the beam",
                               "leave --scales out", error);
    if (options_inject(options))
        return sources_no_beam(
            view->metadata, SRCFIND_ERROR_INPUT,
            *options->inject ? "--inject needs the beam" : "--completeness needs the beam",
            *options->inject ? "leave --inject out" : "leave --completeness out", error);
    return frame->shapes == FIT_SHAPES_BEAM
               ? sources_no_beam(view->metadata, SRCFIND_ERROR_INPUT,
                                 "--shapes beam needs the beam", "leave --shapes out", error)
               : SRCFIND_OK;
}

/* How the islands of a view are divided and fitted; the caller adds the pixels and the fitter. */
static struct component_setting component_setting_of(const struct view *view,
                                                     const struct options *o,
                                                     const struct fit_frame *frame) {
    return (struct component_setting){
        .detection = &view->detection,
        .contrast = options_deblend(o) ? options_contrast(o) : INFINITY,
        .of_image = *frame,
        .psf = setting_psf(view, frame),
        .grid = view->grid,
        .noise = &view->correlation,
        .noise_areas = noise_areas_of(&view->correlation),
        .group_tolerance = options_group(o),
        .correlated = setting_correlated(view->metadata, frame, view->grid)};
}

/* Makes a row of each island. */
static enum srcfind_status make_islands(struct source_maker *m, struct error *error) {
    m->sources->n = m->segments->n;
    return measure_islands(m->measurer, m->segments, &m->sources->rows, error);
}

/* Makes the rows and the labels that `m` asks for. */
static enum srcfind_status make_rows(struct source_maker *m, const struct views *views,
                                     const struct options *options, struct error *error) {
    struct sources *sources = m->sources;
    enum srcfind_status status = SRCFIND_OK;
    if (keeps(m, LABEL_ISLANDS) &&
        !labels_add_islands(&sources->labels[LABEL_ISLANDS], m->segments))
        status = error_memory(error, "measuring sources");
    else if (views_need_pixels(views, options))
        status = make_components(m, error);
    else
        status = make_islands(m, error);
    for (int kind = 0; status == SRCFIND_OK && kind < LABEL_KINDS; kind++)
        if (!labels_to_image(&sources->labels[kind], m->grid))
            status = error_memory(error, "measuring sources");
    return status;
}

enum srcfind_status sources_make(struct views *views, const struct options *options,
                                 struct backend_calls *calls, unsigned labels,
                                 struct sources *sources) {
    struct view *detect = views_detect(views);
    const struct view *view = &views->measure;
    const struct run_source measured = view_pixels(view, calls);
    const struct run_source detected = view_pixels(detect, calls);
    const struct fitter fitter = {backend_fit, calls};
    struct fit_frame frame;
    *sources = (struct sources){0};
    enum srcfind_status status = sources_frame(view, options, &frame, calls->error);
    if (status != SRCFIND_OK)
        return status;
    struct measurer *measurer =
        measurer_make(view, &frame, detect->result.segments.n, calls->threads);
    if (!measurer)
        return error_memory(calls->error, "measuring sources");
    struct source_maker m = {.segments = &detect->result.segments,
                             .measurer = measurer,
                             .setting = component_setting_of(view, options, &frame),
                             .grid = view->grid,
                             .threads = calls->threads,
                             .labels = labels,
                             .sources = sources};
    m.setting.measure = &measured;
    m.setting.detect = views->are_two ? &detected : &measured;
    m.setting.fitter = options_fit(options) ? &fitter : NULL;
    m.setting.keeps_sources = keeps(&m, LABEL_SOURCES);
    status = make_rows(&m, views, options, calls->error);
    measurer_free(measurer);
    segments_clear(m.segments);
    return status;
}

enum srcfind_status sources_fit(const struct view *view, const struct options *options,
                                struct backend_calls *calls, struct sources *sources) {
    const struct run_source pixels = view_pixels(view, calls);
    const struct fitter fitter = {backend_fit, calls};
    struct segments islands = view->result.segments;
    struct fit_frame frame;
    *sources = (struct sources){0};
    const enum srcfind_status status = sources_frame(view, options, &frame, calls->error);
    if (status != SRCFIND_OK)
        return status;
    struct source_maker m = {.segments = &islands,
                             .setting = component_setting_of(view, options, &frame),
                             .grid = view->grid,
                             .threads = calls->threads,
                             .sources = sources};
    m.setting.measure = m.setting.detect = &pixels;
    m.setting.fitter = &fitter;
    return make_components(&m, calls->error);
}

/* Appends n rows, and adds n_sources and n_islands to their numbers. */
static bool append_rows(struct srcfind_source **rows, int64_t n_rows,
                        const struct srcfind_source *more, int64_t n, int64_t n_sources,
                        int64_t n_islands) {
    struct srcfind_source *all = realloc(*rows, (size_t)(n_rows + n + 1) * sizeof *all);
    if (!all)
        return false;
    *rows = all;
    for (int64_t i = 0; i < n; i++) {
        all[n_rows + i] = more[i];
        all[n_rows + i].id += n_sources;
        all[n_rows + i].island_id += n_islands;
    }
    return true;
}

bool sources_append_gaussians(struct sources *s, const struct sources *more) {
    const int64_t n = s->n_gaussians + more->n_gaussians;
    struct gaussian *all = realloc(s->gaussians, (size_t)(n + 1) * sizeof *all);
    if (!all)
        return false;
    s->gaussians = all;
    if (more->n_gaussians > 0)
        memcpy(all + s->n_gaussians, more->gaussians,
               (size_t)more->n_gaussians * sizeof *more->gaussians);
    s->n_gaussians = n;
    return true;
}

/* The numbers of rows of a search are 1 ... n; those of positions are any. Behind numbers above
 * this there is no room, and others do not count. */
static const int64_t MOST_NUMBER = INT64_MAX / 2;

bool sources_append(struct sources *s, const struct sources *more) {
    int64_t last = 0, n_islands = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const struct srcfind_source *row = &s->rows[i];
        last = row->id > last && row->id < MOST_NUMBER ? row->id : last;
        n_islands =
            row->island_id > n_islands && row->island_id < MOST_NUMBER ? row->island_id : n_islands;
    }
    if (!sources_append_gaussians(s, more) ||
        !labels_append(&s->labels[LABEL_ISLANDS], &more->labels[LABEL_ISLANDS], n_islands) ||
        !labels_append(&s->labels[LABEL_SOURCES], &more->labels[LABEL_SOURCES], last) ||
        !append_rows(&s->parts, s->n_parts, more->parts, more->n_parts, last, n_islands) ||
        !append_rows(&s->rows, s->n, more->rows, more->n, last, n_islands))
        return false;
    s->n += more->n;
    s->n_parts += more->n_parts;
    return true;
}
