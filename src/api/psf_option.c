#include "api/psf_option.h"

#include <stdlib.h>
#include <string.h>

#include "api/psf_file.h"
#include "measure/beam_frame.h"

/* Searches the image, as it would be searched for compact sources, for the point-spread function.
 */
static enum srcfind_status measure(const struct search *search, const struct input *input,
                                   struct measured_psf *psf) {
    struct options options = *search->options; /* borrows the texts */
    struct sources sources = {0};
    struct search_report report = *search->report;
    options.at = options.psf = "";
    options.scales.n = 0;
    options.fit = true;
    options.shapes = SHAPES_AUTO;
    struct views views =
        views_of_input(input, search->views->measure.metadata, &options, search->views->blanks);
    struct search first = *search;
    first.options = &options;
    first.views = &views;
    first.labels = 0;
    first.sources = &sources;
    first.report = &report;
    first.psf = psf;
    const enum srcfind_status status = search_run(&first);
    if (status == SRCFIND_OK && psf->n == 0)
        psf_clear(&psf->psf);
    else if (status == SRCFIND_OK)
        psf_widen(&psf->psf);
    search->report->timings = report.timings;
    sources_clear(&sources);
    views_clear(&views);
    return status;
}

/* Reads the file of an image. */
static enum srcfind_status read_file(const struct search *search, const struct input *input,
                                     const struct fit_frame *frame, struct measured_psf *psf) {
    const struct srcfind_image *metadata = search->views->measure.metadata;
    struct error *error = &search->finder->error;
    const struct tensor beam = beam_frame_moments(frame);
    char *path = user_map_path(USER_DETECTION, search->options->psf, metadata->path);
    const enum srcfind_status status =
        path && psf_make(&psf->psf, &beam, metadata->width, metadata->height)
            ? psf_file_read(path, &input->image, metadata, &psf->psf, search->finder->threads,
                            error)
            : error_memory(error, "reading --psf");
    free(path);
    return status;
}

enum srcfind_status psf_option_find(const struct search *search, const struct input *input,
                                    struct measured_psf *psf) {
    struct error *error = &search->finder->error;
    const struct srcfind_image *metadata = search->views->measure.metadata;
    struct fit_frame frame;
    const enum srcfind_status status = beam_frame_make(&input->image, metadata, &frame, error);
    if (status != SRCFIND_OK)
        return status;
    if (!frame.has_beam)
        return sources_no_beam(metadata, SRCFIND_ERROR_INPUT, "--psf needs the beam",
                               "leave --psf out", error);
    return options_measure_psf(search->options) ? measure(search, input, psf)
                                                : read_file(search, input, &frame, psf);
}
