/* How the sources of a file are injected:
 *
 * 1. The file is read as a model of the measured image (positions_read_models), and its entries
 *    become Gaussians in both images (entry_models.h).
 * 2. Those inside with a flux above 0 are looked at: pixels without a value or an rms leave them
 *    out. Random numbers of seed and entry choose among the others, if not all are wanted.
 * 3. They are divided among trials in the order of the file: each comes to the first trial where it
 *    has room. Discs of five FWHM around two sources of a trial do not overlap, and the areas that
 *    all of them want are not above that of the image.
 *
 * The fluxes in the image for detection, and S/N, follow when its rms is known (completeness.c). */
#include "api/inject_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/random.h"
#include "measure/entry_models.h"
#include "measure/model.h"
#include "measure/setting.h"

static const char ADDING[] = "adding sources to an image";

/* The radius of the disc around a source, in FWHM of its major axis. */
static const double DISC = 5;

/* The use of random numbers, beside those of injections.c. */
enum { RANDOM_CHOICE = 3 };

struct inject_work {
    const struct search *search;
    const struct injection_field *field;
    struct injections *list;
    struct injection_position *positions;
    struct error *error;
};

/* --- the file --- */

static enum srcfind_status read_file(const struct inject_work *m, struct positions *entries) {
    const struct view *view = &m->search->views->measure;
    const struct srcfind_image *image = view->metadata;
    const struct flux_units units = entry_models_units(view);
    const enum srcfind_status status = positions_read_models(
        m->search->finder->inject, m->search->options->inject, image, &units, entries, m->error);
    if (status == SRCFIND_OK)
        positions_to_part(entries, image);
    return status;
}

/* Makes the Gaussians of the entries in a view. */
static enum srcfind_status make_models(const struct inject_work *m, const struct view *view,
                                       const struct positions *entries,
                                       struct entry_model **models) {
    struct fit_frame frame;
    const enum srcfind_status status = sources_frame(view, m->search->options, &frame, m->error);
    return status == SRCFIND_OK ? entry_models_make(view, &frame, entries, models, m->error)
                                : status;
}

static bool is_inside(const struct injection_field *field, const struct gaussian *g) {
    return g->x >= -0.5 && g->y >= -0.5 && g->x < (double)field->width - 0.5 &&
           g->y < (double)field->height - 0.5;
}

/* The width of a source in beams: that of a round one of the same area. */
static double width_of(const struct psf *psf, const struct entry_model *model) {
    return model->intrinsic.major > 0 ? sqrt(psf_area(psf, &model->moments)) : 1;
}

/* Fills the list with all sources; those that may be added are marked. */
static void list_sources(struct inject_work *m, const struct psf *psf,
                         const struct entry_model *measured, const struct entry_model *detected) {
    struct injections *list = m->list;
    for (int64_t i = 0; i < list->n; i++) {
        const struct entry_model *model = &measured[i];
        struct injection *source = &list->all[i];
        struct injection_position *p = &m->positions[i];
        const struct gaussian *g = &model->gaussian;
        const bool in_both = isfinite(detected[i].gaussian.peak);
        *source = (struct injection){.weight = 1};
        *p = (struct injection_position){0};
        if (!is_inside(m->field, g)) {
            list->n_outside++;
        } else if (!(g->peak > 0) || !in_both) {
            list->n_faint++;
            list->n_too_wide += model->is_too_wide;
        } else {
            source->is_added = true;
            source->width = width_of(psf, model);
            source->flux = model->total_flux;
            p->x = g->x;
            p->y = g->y;
            p->peak = g->peak;
            p->form = g->form;
            p->form_detected = detected[i].gaussian.form;
        }
    }
}

static bool allocate(struct inject_work *m, struct positions *entries) {
    struct injections *list = m->list;
    *list = (struct injections){.n = entries->n,
                                .n_a_width = entries->n,
                                .widths = {INJECTION_OF_FILE},
                                .n_widths = 1,
                                .entry_id = entries->entry_id,
                                .told = entries->told,
                                .all = arrays_allocate(entries->n, sizeof *list->all)};
    entries->entry_id = NULL;
    m->positions = arrays_allocate(entries->n, sizeof *m->positions);
    return list->all && m->positions;
}

/* Reads the file, and lists its sources. */
static enum srcfind_status find_sources_of_file(struct inject_work *m) {
    const struct view *measure = &m->search->views->measure;
    const bool are_two = m->search->views->are_two;
    struct positions entries;
    struct entry_model *measured = NULL, *detected = NULL;
    struct fit_frame frame;
    enum srcfind_status status = read_file(m, &entries);
    if (status == SRCFIND_OK)
        status = make_models(m, measure, &entries, &measured);
    if (status == SRCFIND_OK && are_two)
        status = make_models(m, views_detect(m->search->views), &entries, &detected);
    if (status == SRCFIND_OK)
        status = sources_frame(measure, m->search->options, &frame, m->error);
    if (status == SRCFIND_OK && !allocate(m, &entries))
        status = error_memory(m->error, ADDING);
    if (status == SRCFIND_OK) {
        const struct psf psf = setting_psf(measure, &frame);
        list_sources(m, &psf, measured, are_two ? detected : measured);
    }
    free(measured);
    free(detected);
    positions_clear(&entries);
    return status;
}

/* --- which of them --- */

struct drawn {
    double random;
    int64_t source;
};

static int compare_choices(const void *a, const void *b) {
    const struct drawn *p = a, *q = b;
    const int order = (p->random > q->random) - (p->random < q->random);
    return order ? order : (p->source > q->source) - (p->source < q->source);
}

/* Leaves out all but n sources, which random numbers choose. */
static bool choose_sources(struct inject_work *m, int64_t n) {
    struct injections *list = m->list;
    struct drawn *choices = arrays_allocate(list->n, sizeof *choices);
    int64_t n_choices = 0;
    if (!choices)
        return false;
    for (int64_t i = 0; i < list->n; i++)
        if (list->all[i].is_added)
            choices[n_choices++] =
                (struct drawn){random_number(m->field->seed, (uint64_t)i, 0, RANDOM_CHOICE), i};
    qsort(choices, (size_t)n_choices, sizeof *choices, compare_choices);
    for (int64_t k = n; k < n_choices; k++)
        list->all[choices[k].source].is_added = false;
    list->n_unchosen = n_choices > n ? n_choices - n : 0;
    free(choices);
    return true;
}

/* --- trials --- */

/* The discs of the sources that are added, in the order of the file, and their trials. */
struct discs {
    struct gaussian *discs; /* that reach as far as the discs */
    int64_t *source;
    double *area;   /* that each wants, pixels */
    double *left;   /* of what is searched, in each trial */
    int64_t *stamp; /* of each trial: the last source that has a neighbour there */
    int64_t n, n_trials;
};

/* The moments of a source in the measured image, as a disc, and the area that it wants. */
static void add_disc(struct discs *d, const struct injection_position *p, int64_t source) {
    const struct tensor moments = tensor_inverse(&p->form);
    const double radius = DISC * FIT_FWHM * sqrt(tensor_axes(&moments).major);
    const double form = GAUSSIAN_REACH / (radius * radius);
    d->discs[d->n] = (struct gaussian){1, p->x, p->y, {form, form, 0}};
    d->area[d->n] = INJECTION_AREAS * 2 * M_PI * sqrt(tensor_determinant(&moments));
    d->source[d->n++] = source;
}

static bool overlap(const struct gaussian *a, const struct gaussian *b) {
    return hypot(a->x - b->x, a->y - b->y) < gaussian_width(a) + gaussian_width(b);
}

/* Stamps the trials of the discs before k that overlap with disc k. */
static void stamp_neighbours(const struct discs *d, const struct injections *list,
                             const struct model *cells, int64_t k) {
    const struct model_cells c = model_cells_of(cells, &d->discs[k]);
    for (int64_t y = c.y0; y <= c.y1; y++) {
        for (int64_t x = c.x0; x <= c.x1; x++) {
            const struct model_list near = model_reaching(cells, x, y);
            for (int64_t i = 0; i < near.n && near.number[i] < k; i++) {
                const int64_t trial = list->all[d->source[near.number[i]]].trial;
                if (overlap(&d->discs[near.number[i]], &d->discs[k]))
                    d->stamp[trial - 1] = k + 1;
            }
        }
    }
}

/* Gives each source the first trial where it has room; n_pixels: that are searched. */
static void share_trials(struct discs *d, struct injections *list, const struct model *cells,
                         double n_pixels) {
    double least = INFINITY;
    int64_t open = 0; /* trials before it have no room for any source */
    for (int64_t k = 0; k < d->n; k++)
        least = fmin(least, d->area[k]);
    for (int64_t k = 0; k < d->n; k++) {
        stamp_neighbours(d, list, cells, k);
        while (open < d->n_trials && d->left[open] < least)
            open++;
        int64_t trial = open;
        while (trial < d->n_trials && (d->stamp[trial] == k + 1 || d->left[trial] < d->area[k]))
            trial++;
        if (trial == d->n_trials)
            d->left[d->n_trials++] = n_pixels;
        d->left[trial] -= d->area[k];
        list->all[d->source[k]].trial = trial + 1;
    }
    list->n_trials = d->n_trials;
}

static bool make_discs(const struct inject_work *m, struct discs *d) {
    const int64_t n = m->list->n;
    d->discs = arrays_allocate(n, sizeof *d->discs);
    d->source = arrays_allocate(n, sizeof *d->source);
    d->area = arrays_allocate(n, sizeof *d->area);
    d->left = arrays_allocate(n, sizeof *d->left);
    d->stamp = arrays_allocate(n, sizeof *d->stamp);
    if (!d->discs || !d->source || !d->area || !d->left || !d->stamp)
        return false;
    memset(d->stamp, 0, (size_t)n * sizeof *d->stamp);
    for (int64_t i = 0; i < n; i++)
        if (m->list->all[i].is_added)
            add_disc(d, &m->positions[i], i);
    return true;
}

/* Divides the sources among trials. */
static bool divide_sources(const struct inject_work *m) {
    const struct srcfind_background *b = &m->search->views->measure.result.background;
    const struct model_box box = {0, 0, m->field->width, m->field->height, MODEL_CELL};
    struct discs d = {0};
    struct model cells = {0};
    const bool ok = make_discs(m, &d) && model_make(&cells, d.discs, d.n, &box);
    if (ok)
        share_trials(&d, m->list, &cells, views_searched(b, m->field->unsearched));
    model_clear(&cells);
    free(d.discs);
    free(d.source);
    free(d.area);
    free(d.left);
    free(d.stamp);
    return ok;
}

/* --- all of it --- */

static int64_t count_added(const struct injections *list) {
    int64_t n = 0;
    for (int64_t i = 0; i < list->n; i++)
        n += list->all[i].is_added;
    return n;
}

enum srcfind_status inject_file_read(const struct search *search,
                                     const struct injection_field *field, struct injections *list,
                                     struct injection_position **positions, struct error *error) {
    struct inject_work m = {.search = search, .field = field, .list = list, .error = error};
    const int64_t n_wanted = search->options->completeness;
    enum srcfind_status status = find_sources_of_file(&m);
    const int64_t n_inside = status == SRCFIND_OK ? count_added(list) : 0;
    if (status == SRCFIND_OK)
        status = injections_look(list, field, search->finder->threads, m.positions, error);
    if (status == SRCFIND_OK) {
        list->n_outside += n_inside - count_added(list);
        if ((n_wanted > 0 && !choose_sources(&m, n_wanted)) || !divide_sources(&m))
            status = error_memory(error, ADDING);
    }
    *positions = m.positions;
    return status;
}
