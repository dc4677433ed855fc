/* How planes are averaged:
 *
 * 1. The planes are those of the only further axis with several, but for one of Stokes parameters.
 * 2. Each plane is taken in turn: its beam is compared with that of the first one, its clip gives
 *    the rms, and its pixels are added with the weight 1 / rms^2.
 * 3. The sums are divided by the weights at each pixel, and rounded once.
 *
 * Sums are in the order of the planes at each pixel, so that threads do not matter. Each plane is
 * read twice. */
#include "api/plane_mean.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "common/ascii.h"
#include "input/chunks.h"

static const double MOST_APART = 0.02; /* of axes of beams */

struct sums {
    double *value, *weight; /* of each pixel */
};

/* The planes of a file, and what they give together. */
struct planes {
    struct image *image;
    struct srcfind_image of_file; /* shares the path of the metadata */
    const struct options *options;
    struct threads *threads;
    struct error *error;
    int axis;                        /* from 3; of a plain image 3, too */
    int64_t first, last;             /* from 1 */
    double *weights;                 /* of each plane from the first on; 0: it has no noise */
    double total, frequency, number; /* the sums of weights, and of weight x frequency and number */
    struct srcfind_beam beam;        /* of the first plane that has noise */
    int64_t beam_plane;
    struct sums sums;
};

/* --- which planes --- */

/* Whether an axis has Stokes parameters, of which no average is taken. */
static bool is_stokes(const struct planes *p, int axis) {
    char type[SRCFIND_TEXT] = "";
    header_text(&p->image->hdu.header, header_keyword("CTYPE", axis).text, type, sizeof type);
    return ascii_same(type, "STOKES");
}

static enum srcfind_status refuse_axes(const struct planes *p, int axis, int stokes) {
    const char *path = p->of_file.path;
    if (axis == 0)
        return error_set(p->error, SRCFIND_ERROR_INPUT,
                         "%s: --plane mean is for channels, and axis %d has Stokes parameters: "
                         "choose one parameter, as with --plane 1",
                         path, stokes);
    return error_set(p->error, SRCFIND_ERROR_INPUT,
                     "%s: --plane mean needs one axis with several planes, but axes %d and %d have "
                     "several: cut out a cube of three axes",
                     path, p->axis, axis);
}

/* Finds the axis that has several planes, and the planes that are averaged: of a Stokes axis the
 * first one. */
static enum srcfind_status choose_planes(struct planes *p) {
    const struct plane_option *wanted = &p->options->image.plane;
    const struct srcfind_image *m = &p->of_file;
    int64_t n = 1;
    int stokes = 0;
    p->axis = 3;
    for (int i = 2; i < m->n_axes; i++) {
        if (m->axes[i] > 1 && is_stokes(p, i + 1))
            stokes = i + 1;
        if (m->axes[i] == 1 || stokes == i + 1)
            continue;
        if (n > 1)
            return refuse_axes(p, i + 1, 0);
        n = m->axes[i];
        p->axis = i + 1;
    }
    if (n == 1 && stokes > 0)
        return refuse_axes(p, 0, stokes);
    p->first = wanted->mean_first;
    p->last = wanted->mean_last == INT64_MAX ? n : wanted->mean_last;
    if (p->last > n)
        return error_set(p->error, SRCFIND_ERROR_INPUT,
                         "%s: there is no plane %lld: the image has %lld", m->path,
                         (long long)p->last, (long long)n);
    return p->last - p->first < MOST_PLANES
               ? SRCFIND_OK
               : error_set(p->error, SRCFIND_ERROR_INPUT,
                           "%s: more than %d planes: give fewer, as in --plane mean:1-%d", m->path,
                           MOST_PLANES, MOST_PLANES);
}

/* Moves to a plane. *metadata shares the path of the file. */
static enum srcfind_status take_plane(struct planes *p, int64_t number,
                                      struct srcfind_image *metadata) {
    struct image_choice choice = p->options->image;
    choice.plane = (struct plane_option){.n = p->axis - 2};
    for (int i = 0; i < choice.plane.n; i++)
        choice.plane.index[i] = i + 3 == p->axis ? number : 1;
    *metadata = p->of_file;
    return image_take_plane(p->image, &choice, metadata, p->error);
}

/* --- the beams --- */

static bool is_close(double a, double b) {
    return fabs(a - b) <= MOST_APART * fmin(a, b);
}

/* Whether two beams are alike: their axes, and the second moments, which angles turn. */
static bool beams_are_alike(const struct srcfind_beam *a, const struct srcfind_beam *b) {
    const double turn = sin((a->angle - b->angle) * M_PI / 180);
    const double round = a->minor / a->major;
    return is_close(a->major, b->major) && is_close(a->minor, b->minor) &&
           fabs(turn) * (1 - round * round) <= 2 * MOST_APART;
}

/* Compares the beam of a plane with that of the first one. */
static enum srcfind_status compare_beam(struct planes *p, int64_t number,
                                        const struct srcfind_beam *beam) {
    const struct srcfind_beam *first = &p->beam;
    const bool has_beam = isfinite(beam->major), has_first = isfinite(first->major);
    if (p->beam_plane == 0) {
        p->beam = *beam;
        p->beam_plane = number;
        return SRCFIND_OK;
    }
    if (has_beam == has_first && (!has_beam || beams_are_alike(first, beam)))
        return SRCFIND_OK;
    char texts[2][96] = {"none", "none"};
    const struct srcfind_beam *const beams[] = {first, beam};
    for (int i = 0; i < 2; i++)
        if (isfinite(beams[i]->major))
            snprintf(texts[i], sizeof texts[i], "%.4g x %.4g arcsec, %.3g deg",
                     3600 * beams[i]->major, 3600 * beams[i]->minor, beams[i]->angle);
    char fewer[64] = "";
    if (number - 1 > p->first)
        snprintf(fewer, sizeof fewer, ", as in --plane mean:%lld-%lld", (long long)p->first,
                 (long long)(number - 1));
    return error_set(p->error, SRCFIND_ERROR_INPUT,
                     "%s: --plane mean needs one beam, but the beams of planes %lld and %lld "
                     "differ by more than 2%% (%s; %s): convolve the cube to one beam, average "
                     "fewer planes%s, or search one plane and give the cube to --measure-in",
                     p->of_file.path, (long long)p->beam_plane, (long long)number, texts[0],
                     texts[1], fewer);
}

/* --- the pixels --- */

/* Sets *rms to the clip's of the current plane; 0 where it has no pixel or no noise. */
static enum srcfind_status find_rms(struct planes *p, double *rms) {
    const struct detection detection = {.kappa = p->options->noise.kappa,
                                        .background = NAN,
                                        .threshold = p->options->threshold,
                                        .island = p->options->threshold,
                                        .connectivity = 4,
                                        .min_pixels = 1,
                                        .noise_only = true};
    struct detection_result found;
    const enum srcfind_status status =
        cpu_detect(&p->image->source, &detection, p->threads, &found, p->error);
    const struct srcfind_background *b = &found.background;
    const bool is_blank =
        status == SRCFIND_ERROR_INPUT && b->n_pixels > 0 && b->n_blank == b->n_pixels;
    *rms = status == SRCFIND_OK && !b->empty ? b->rms : 0;
    noise_map_clear(&found.noise);
    segments_clear(&found.segments);
    return is_blank ? SRCFIND_OK : status;
}

struct adding {
    const struct sums *sums;
    double weight;
    bool swapped;
};

static enum srcfind_status add_chunk(void *context, int worker, const struct chunk *chunk,
                                     struct error *error) {
    const struct adding *a = context;
    (void)worker, (void)error;
    for (int64_t i = 0; i < chunk->count; i++) {
        const double value = pixel_value(chunk->pixels, i, a->swapped);
        if (!isfinite(value))
            continue;
        a->sums->value[chunk->first + i] += a->weight * value;
        a->sums->weight[chunk->first + i] += a->weight;
    }
    return SRCFIND_OK;
}

/* Adds the pixels of a plane, unless it has no noise. */
static enum srcfind_status add_plane(struct planes *p, int64_t number) {
    struct srcfind_image metadata;
    double rms = 0;
    enum srcfind_status status = take_plane(p, number, &metadata);
    if (status == SRCFIND_OK)
        status = find_rms(p, &rms);
    if (status != SRCFIND_OK || !(rms > 0))
        return status;
    const double weight = 1 / (rms * rms);
    struct adding adding = {&p->sums, weight, p->image->source.swapped};
    const struct chunk_work work = {.work = add_chunk, .context = &adding};
    p->weights[number - p->first] = weight;
    p->total += weight;
    p->number += weight * (double)number;
    p->frequency += weight * metadata.frequency;
    status = compare_beam(p, number, &metadata.beam);
    return status == SRCFIND_OK ? chunks_run(&p->image->source, p->threads,
                                             threads_count(p->threads), &work, p->error)
                                : status;
}

/* The plane with noise that is nearest to the weighted mean of the planes. */
static int64_t middle_plane(const struct planes *p) {
    const double mean = p->number / p->total;
    int64_t nearest = 0;
    for (int64_t k = p->first; k <= p->last; k++)
        if (p->weights[k - p->first] > 0 &&
            (nearest == 0 || fabs((double)k - mean) < fabs((double)nearest - mean)))
            nearest = k;
    return nearest;
}

static bool divide(const struct sums *sums, int64_t n, struct plane_mean *mean) {
    mean->pixels = malloc((size_t)n * sizeof *mean->pixels);
    for (int64_t i = 0; mean->pixels && i < n; i++)
        mean->pixels[i] = pixel_bits(
            sums->weight[i] > 0 ? (float)(sums->value[i] / sums->weight[i]) : NAN, false);
    return mean->pixels;
}

/* Averages the planes, and moves to the one whose metadata stand for all. */
static enum srcfind_status average(struct planes *p, struct plane_mean *mean,
                                   struct srcfind_image *metadata) {
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t k = p->first; status == SRCFIND_OK && k <= p->last; k++)
        status = add_plane(p, k);
    if (status == SRCFIND_OK && !(p->total > 0))
        return error_set(p->error, SRCFIND_ERROR_INPUT,
                         "%s: none of the planes has noise: are all of them blank?",
                         metadata->path);
    if (status == SRCFIND_OK)
        status = take_plane(p, middle_plane(p), metadata);
    if (status != SRCFIND_OK)
        return status;
    struct image *image = p->image;
    metadata->frequency = p->frequency / p->total;
    if (!divide(&p->sums, metadata->width * metadata->height, mean))
        return error_memory(p->error, "averaging planes");
    mean->memory = (struct memory){mean->pixels, metadata->width, metadata->width};
    image->source = memory_source(&mean->memory, metadata->height, false);
    return SRCFIND_OK;
}

enum srcfind_status plane_mean_open(struct plane_mean *mean, struct image *image, const char *path,
                                    const struct options *options, struct threads *threads,
                                    struct srcfind_image *metadata, struct error *error) {
    struct planes p = {.image = image, .options = options, .threads = threads, .error = error};
    struct srcfind_image of_first;
    *mean = (struct plane_mean){0};
    enum srcfind_status status = image_open_file(image, path, options->image.hdu, metadata, error);
    p.of_file = *metadata;
    if (status == SRCFIND_OK)
        status = choose_planes(&p);
    if (status == SRCFIND_OK)
        status = take_plane(&p, p.first, &of_first);
    if (status == SRCFIND_OK) {
        const size_t n = (size_t)(of_first.width * of_first.height);
        p.weights = calloc((size_t)(p.last - p.first + 1), sizeof *p.weights);
        p.sums = (struct sums){calloc(n, sizeof(double)), calloc(n, sizeof(double))};
        status = p.weights && p.sums.value && p.sums.weight
                     ? average(&p, mean, metadata)
                     : error_memory(error, "averaging planes");
    }
    free(p.weights);
    free(p.sums.value);
    free(p.sums.weight);
    return status == SRCFIND_OK ? fits_file_checksum(&image->file, error) : status;
}

void plane_mean_clear(struct plane_mean *mean) {
    free(mean->pixels);
    *mean = (struct plane_mean){0};
}
