#include "api/labels.h"

#include "api/negative.h"
#include "api/sources.h"
#include "cpu/fit.h"
#include "measure/owners.h"

/* What is found in the image, or in the negated image. */
struct found {
    struct segments islands;
    struct owners owners; /* if sources are wanted */
};

static enum srcfind_status fit(void *context, const struct fit_frame *frame,
                               const struct fit_pixel *pixels, struct fit_job *jobs, int64_t n,
                               struct threads *threads, struct error *error) {
    (void)context;
    return cpu_fit(frame, pixels, jobs, n, threads, error);
}

static enum srcfind_status find(const struct labels_from *from, const struct pixel_source *pixels,
                                const struct detection *detection, const struct noise_map *noise,
                                struct threads *threads, struct found *found, struct error *error) {
    const struct srcfind_catalogue *c = from->catalogue;
    struct detection keeping = *detection;
    keeping.keep_runs = true;
    const enum srcfind_status status = cpu_find_segments(
        pixels, &keeping, noise, c->background.empty, threads, &found->islands, error);
    if (status != SRCFIND_OK || !from->of_sources)
        return status;
    const struct sources_from sources_from = {.options = &c->options,
                                              .pixels = {pixels, noise, detection->maps},
                                              .detection = &keeping,
                                              .fitter = {.fit = fit}};
    const struct dividing dividing = sources_dividing(&sources_from, &c->frame);
    return owners_find(&dividing, &found->islands, threads, &found->owners, error);
}

static enum srcfind_status find_negative(const struct labels_from *from, struct threads *threads,
                                         struct found *found, struct error *error) {
    struct negated_image negative;
    struct noise_map noise;
    negative_make(&negative, from->pixels, from->detection);
    if (!negative_noise(&from->catalogue->noise, &noise))
        return error_memory(error, "making a map");
    const enum srcfind_status status =
        find(from, &negative.source, &negative.detection, &noise, threads, found, error);
    noise_map_clear(&noise);
    return status;
}

/* Sorts what was found by rows. False where memory ran out. */
static bool sort(const struct labels_from *from, const struct found *found, int n,
                 struct label_values *labels) {
    const struct srcfind_image *image = &from->catalogue->image;
    struct labelled sets[2];
    for (int i = 0; i < n; i++)
        sets[i] = (struct labelled){&found[i].islands, found[i].owners.owner,
                                    from->of_sources ? found[i].owners.n : found[i].islands.n};
    return label_values_make(labels, sets, n, image->width, image->height);
}

enum srcfind_status labels_make(const struct labels_from *from, struct threads *threads,
                                struct label_values *labels, struct error *error) {
    const struct srcfind_catalogue *c = from->catalogue;
    const int n = c->options.negative ? 2 : 1;
    struct found found[2] = {0};
    *labels = (struct label_values){0};
    enum srcfind_status status =
        find(from, from->pixels, from->detection, &c->noise, threads, &found[0], error);
    if (status == SRCFIND_OK && n > 1)
        status = find_negative(from, threads, &found[1], error);
    if (status == SRCFIND_OK && !sort(from, found, n, labels))
        status = error_memory(error, "making a map");
    for (int i = 0; i < n; i++) {
        segments_clear(&found[i].islands);
        owners_clear(&found[i].owners);
    }
    return status;
}
