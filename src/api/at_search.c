#include "api/at_search.h"

#include "measure/residual_source.h"

/* Gives rows of a search numbers behind `last`, and islands behind the last one of these. */
static void number_rows(struct srcfind_source *rows, int64_t n, int64_t last) {
    for (int64_t i = 0; i < n; i++) {
        rows[i].id += last;
        rows[i].island_id += last;
    }
}

/* The largest number of a row and of its island. */
static int64_t last_number(const struct sources *s) {
    int64_t last = 0;
    for (int64_t i = 0; i < s->n; i++) {
        last = s->rows[i].id > last ? s->rows[i].id : last;
        last = s->rows[i].island_id > last ? s->rows[i].island_id : last;
    }
    return last;
}

/* Adds what is found behind the rows of the positions. sources_append counts rows from the number
 * of those before, and islands from the last one's: the numbers of positions are any. */
static bool add_sources(struct sources *all, struct sources *found) {
    const int64_t last = last_number(all), first = all->n, first_part = all->n_parts;
    if (!sources_append(all, found))
        return false;
    for (int64_t i = 0; i < found->n; i++) {
        all->rows[first + i].id = found->rows[i].id;
        all->rows[first + i].island_id = found->rows[i].island_id;
    }
    for (int64_t i = 0; i < found->n_parts; i++) {
        all->parts[first_part + i].id = found->parts[i].id;
        all->parts[first_part + i].island_id = found->parts[i].island_id;
    }
    number_rows(all->rows + first, found->n, last);
    number_rows(all->parts + first_part, found->n_parts, last);
    return true;
}

/* Searches the image less the model. */
static enum srcfind_status search_less(const struct search *search,
                                       const struct detection *detection,
                                       const struct model *model) {
    struct search again = *search;
    struct views views = views_again(search->views);
    struct sources found = {0};
    struct residual residual;
    struct error *error = &search->finder->error;
    const struct pixel_source source =
        residual_source(&residual, search->views->measure.source, model);
    views.measure.source = &source;
    views.measure.detection = *detection;
    views.measure.has_correlation = false; /* that of the rest */
    again.views = &views;
    again.sources = &found;
    again.labels = 0;
    again.psf = NULL;
    enum srcfind_status status = search_run(&again);
    if (status == SRCFIND_OK && !add_sources(search->sources, &found))
        status = error_memory(error, "adding sources that the list lacks");
    sources_clear(&found);
    views_clear(&views);
    return status;
}

enum srcfind_status at_search_run(const struct search *search, const struct detection *detection) {
    const struct view *view = &search->views->measure;
    const struct sources *given = search->sources;
    const struct model_box box = {0, 0, view->source->width, view->source->height, MODEL_CELL};
    struct error *error = &search->finder->error;
    struct model model;
    if (view->on_device)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at-search: these pixels are on a device: copy the array to the host");
    enum srcfind_status status = model_make(&model, given->gaussians, given->n_gaussians, &box)
                                     ? SRCFIND_OK
                                     : error_memory(error, "subtracting the sources of the list");
    if (status == SRCFIND_OK)
        status = search_less(search, detection, &model);
    model_clear(&model);
    return status;
}
