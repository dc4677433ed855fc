#include "api/at_search.h"

#include "measure/residual_source.h"

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
    if (status == SRCFIND_OK && !sources_append(search->sources, &found))
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
