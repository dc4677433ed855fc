/* How sources are measured in planes of other images (--measure-in):
 *
 * 1. Before the search, planes_check opens each file: a wrong one costs no search. The first plane
 *    of a file must have the grid of the image, and a unit that can be converted to the image's.
 * 2. After the search, the mask is read once more, for all planes. Positions and intrinsic shapes
 *    of the Gaussians of the result are held. Files are opened in the order of the option; the
 *    planes of a file are measured in their order.
 * 3. In each plane the backend that searched the image finds the noise and its autocorrelation, and
 *    the CPU fits amplitudes with the beam of the plane (measure/plane_fluxes.c). A plane that is
 *    blank, has no beam, or has one wider than the image gets a flag in place of fluxes.
 * 4. The fluxes of the planes of Stokes I give each source its spectral columns.
 *
 * A plane is read once for the clip, three times more for local noise, in part for the
 * autocorrelation of its noise, and once for the amplitudes; once in all on a GPU that has room for
 * it. A GPU is taken anew for each plane, and has no other plane then. No plane is held in the
 * host's memory, only a struct plane_flux of each source in each plane. */
#include "api/planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/backend_calls.h"
#include "api/views.h"
#include "common/arrays.h"
#include "common/clock.h"
#include "common/path.h"
#include "input/beam.h"
#include "input/same_grid.h"
#include "input/units.h"
#include "measure/beam_frame.h"
#include "measure/noise_pairs.h"
#include "measure/places.h"
#include "measure/spectrum.h"

static const char MEASURING[] = "measuring in other images";

struct plane_work {
    struct srcfind *finder;
    struct backend_calls calls; /* a device has its context while a plane is measured */
    const struct image *image;
    struct result *result;
    struct srcfind_source *gaussians; /* NULL with --at: each row is one */
    struct held_sources held;
    struct image_choice choice; /* which plane is read */
    struct noise_choice noise;  /* how the noise of a plane is found */
    struct blanks *mask;        /* applies to all planes; NULL: none is given */
    struct image file;          /* the file that is read */
    struct srcfind_image of_file;
};

/* --- a plane --- */

/* Sets the factor from the unit of the plane to the unit of the image. A plane without a unit is
 * taken to be in the unit of the image. If the image has no unit, nothing is converted. */
static enum srcfind_status compare_units(struct plane_work *m, const struct srcfind_image *plane,
                                         double *factor) {
    const struct srcfind_image *image = &m->result->image;
    struct error *error = &m->finder->error;
    *factor = 1;
    if (!*plane->unit || !*image->unit) {
        m->file.jansky = m->image->jansky;
        m->file.per_pixel = m->image->per_pixel;
        return SRCFIND_OK;
    }
    if (strcmp(plane->unit, image->unit) == 0 || units_conform(plane->unit, image->unit, factor))
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: its unit is %s, but the unit of the searched image is %s: convert it",
                     plane->path, plane->unit, image->unit);
}

/* Finds the noise of a plane. *is_blank: there is none, since all pixels are blank or have one
 * value. */
static enum srcfind_status find_noise(struct plane_work *m, struct view *view, bool *is_blank) {
    const enum srcfind_status status =
        backend_detect(&m->calls, view->source, NULL, &view->detection, &view->result);
    const struct srcfind_background *b = &view->result.background;
    const bool has_no_pixel =
        status == SRCFIND_ERROR_INPUT && b->n_pixels > 0 && b->n_blank == b->n_pixels;
    const bool has_no_noise = status == SRCFIND_OK && view->detection.box == 0 && !(b->rms > 0);
    *is_blank = has_no_pixel || has_no_noise;
    return *is_blank ? SRCFIND_OK : status;
}

/* Gives a view of a plane the smearing of the image, if --psf has any. */
static enum srcfind_status smear(struct plane_work *m, const struct fit_frame *frame,
                                 struct view *view, struct psf *psf) {
    const struct tensor beam = beam_frame_moments(frame);
    if (m->result->psf.n_x == 0)
        return SRCFIND_OK;
    view->psf = psf;
    return psf_make_beside(psf, &beam, &m->result->psf)
               ? SRCFIND_OK
               : error_memory(&m->finder->error, MEASURING);
}

/* Fits the amplitudes in a plane whose noise is known, and finds its autocorrelation. */
static enum srcfind_status fit_plane(struct plane_work *m, struct view *view,
                                     const struct fit_frame *frame, struct plane_flux *fluxes) {
    const struct run_source pixels = view_pixels(view, &m->calls);
    struct plane_setting plane = {.view = view, .pixels = &pixels, .frame = frame};
    struct psf psf = {0};
    enum srcfind_status status = smear(m, frame, view, &psf);
    if (status == SRCFIND_OK)
        status = compare_units(m, view->metadata, &plane.unit);
    plane.is_jansky = isfinite(m->file.jansky);
    view->correlation = correlation_of_beam(frame);
    if (status == SRCFIND_OK)
        status =
            noise_pairs_measure(&pixels, m->finder->threads, &view->correlation, &m->finder->error);
    if (status == SRCFIND_OK)
        status =
            plane_fluxes_measure(&plane, &m->held, m->finder->threads, fluxes, &m->finder->error);
    view->psf = NULL;
    psf_clear(&psf);
    const double share = m->finder->options.flux_error / 100;
    for (int64_t i = 0; status == SRCFIND_OK && share > 0 && i < m->held.n; i++) {
        fluxes[i].e_total_flux = hypot(fluxes[i].e_total_flux, share * fluxes[i].total_flux);
        fluxes[i].e_peak_flux = hypot(fluxes[i].e_peak_flux, share * fluxes[i].peak_flux);
    }
    return status;
}

/* The flag of all sources in a plane that cannot be measured; 0: it can. */
static int64_t flag_of(const struct measured_plane *plane) {
    return plane->is_blank      ? SRCFIND_FLAG_OUTSIDE
           : !plane->has_beam   ? SRCFIND_FLAG_NO_BEAM
           : plane->is_too_wide ? SRCFIND_FLAG_NOT_FITTED
                                : 0;
}

/* Whether the beam of the plane, if there is one, is wider than the image. */
static bool is_too_wide(const struct plane_work *m, const struct fit_frame *frame) {
    const struct tensor beam = beam_frame_moments(frame);
    return frame->has_beam &&
           place_beam_is_too_wide(&beam, m->file.source.width, m->file.source.height);
}

/* The view of the current plane of the file, which reads its pixels through `pixels` and `masked`.
 */
static struct view view_of_plane(struct plane_work *m, const struct srcfind_image *metadata,
                                 struct blanked *masked, struct pixel_source *pixels) {
    static const struct noise_sources no_maps = {NULL, NULL};
    *pixels = m->mask ? blanked_source(masked, &m->file.source, m->mask) : m->file.source;
    struct detection detection =
        noise_detection(views_detection(&m->finder->options, &m->noise, &no_maps, metadata));
    detection.keep_runs = true; /* a device that keeps the plane leaves room to gather its pixels */
    return (struct view){.source = pixels,
                         .image = &m->file,
                         .metadata = metadata,
                         .unit = metadata->unit,
                         .grid = &GRID_OF_IMAGE,
                         .detection = detection};
}

/* Measures in the current plane of the file, on the backend of the calls. */
static enum srcfind_status measure_here(struct plane_work *m, const struct srcfind_image *metadata,
                                        struct measured_plane *plane, struct plane_flux *fluxes) {
    struct fit_frame frame;
    struct blanked masked;
    struct pixel_source pixels;
    struct view view = view_of_plane(m, metadata, &masked, &pixels);
    enum srcfind_status status = beam_frame_make(&m->file, metadata, &frame, &m->finder->error);
    if (status == SRCFIND_OK)
        status = find_noise(m, &view, &plane->is_blank);
    /* Without the beam of the image, the shapes of its sources are not known. */
    plane->has_beam =
        status == SRCFIND_OK && frame.has_beam && isfinite(m->result->image.beam.major);
    plane->is_too_wide = status == SRCFIND_OK && is_too_wide(m, &frame);
    if (status == SRCFIND_OK && flag_of(plane) != 0)
        plane_fluxes_empty(fluxes, m->held.n, flag_of(plane));
    else if (status == SRCFIND_OK)
        status = fit_plane(m, &view, &frame, fluxes);
    view_clear(&view);
    return status;
}

/* Measures in the current plane of the file, on a device if one searched the image. If the user did
 * not ask for a device, the CPU takes over where it is busy or fails; the run is still said to be
 * on the device, which found the sources. */
static enum srcfind_status measure_plane(struct plane_work *m, const struct srcfind_image *metadata,
                                         struct measured_plane *plane, struct plane_flux *fluxes) {
    struct srcfind *f = m->finder;
    const bool may_use_cpu = !finder_wants_gpu(&f->options);
    enum srcfind_status status = SRCFIND_OK;
    if (strcmp(m->result->run.backend, "cuda") == 0)
        status =
            gpu_take(f->gpu, may_use_cpu ? GPU_IF_FREE : GPU_WAIT, &m->calls.context, &f->error);
    if (status == SRCFIND_OK)
        status = measure_here(m, metadata, plane, fluxes);
    backend_give(&m->calls, f->gpu);
    return status == SRCFIND_ERROR_DEVICE && may_use_cpu ? measure_here(m, metadata, plane, fluxes)
                                                         : status;
}

/* --- a file --- */

/* Counts the planes of a file, along all axes behind the first two. */
static enum srcfind_status count_planes(const struct srcfind_image *image, int64_t *n,
                                        struct error *error) {
    *n = 1;
    for (int i = 2; i < image->n_axes; i++) {
        if (image->axes[i] > MOST_PLANES / *n)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: more than %d planes: cut out the planes to measure", image->path,
                             MOST_PLANES);
        *n *= image->axes[i];
    }
    return SRCFIND_OK;
}

/* Moves to plane `number`, from 0 in the order of the file. *metadata describes the plane; its path
 * belongs to of_file. */
static enum srcfind_status take_plane(struct plane_work *m, int64_t number,
                                      struct srcfind_image *metadata) {
    struct plane_option *plane = &m->choice.plane;
    struct error *error = &m->finder->error;
    *metadata = m->of_file;
    plane->n = metadata->n_axes - 2;
    for (int i = 0; i < plane->n; i++) {
        plane->index[i] = number % metadata->axes[i + 2] + 1;
        number /= metadata->axes[i + 2];
    }
    const enum srcfind_status status = image_take_plane(&m->file, &m->choice, metadata, error);
    beam_take_row(metadata);
    return status;
}

static struct measured_plane describe(const struct plane_work *m, const struct srcfind_image *image,
                                      int64_t number) {
    struct measured_plane plane = {
        .file = m->result->planes.n_paths - 1, .number = number + 1, .frequency = image->frequency};
    memcpy(plane.date_obs, image->date_obs, sizeof plane.date_obs);
    stokes_of_plane(&m->file.hdu.header, image, plane.stokes);
    return plane;
}

/* Makes room for n planes more. */
static enum srcfind_status grow(struct measured_planes *t, int64_t n, struct error *error) {
    const int64_t n_fluxes = (t->n + n) * t->n_sources;
    struct plane_flux *fluxes = realloc(t->fluxes, (size_t)(n_fluxes + 1) * sizeof *fluxes);
    if (fluxes)
        t->fluxes = fluxes;
    return fluxes && GROW(t->planes, t->capacity, t->n + n) ? SRCFIND_OK
                                                            : error_memory(error, MEASURING);
}

/* Sets the error where a file is missing. */
static enum srcfind_status check_there(const struct plane_work *m, const char *given,
                                       const char *path) {
    const struct path_list *list = &m->finder->options.measure_in;
    struct error *error = &m->finder->error;
    if (access(path, F_OK) == 0)
        return SRCFIND_OK;
    if (strcmp(given, path) != 0)
        return error_set(error, SRCFIND_ERROR_INPUT, "%s: there is no %s in this directory", given,
                         path + path_directory(path));
    if (list->n_files > 0)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "--measure-in: there is no file '%s': a list has one path on each line, "
                         "and nothing else",
                         path);
    return error_set(error, SRCFIND_ERROR_INPUT, "--measure-in: there is no file '%s'%s", path,
                     list->n > 1 || strchr(path, ',')
                         ? ": a comma stands between paths, and is written twice in a path"
                         : "");
}

/* Opens the file `path`, which is `given` or lies in the directory `given`, finds the number of its
 * planes, and checks that they can be measured. The last plane is taken first, so that a file that
 * ends too early fails before any plane is read. */
static enum srcfind_status open_file(struct plane_work *m, const char *given, const char *path,
                                     int64_t *n) {
    struct error *error = &m->finder->error;
    struct srcfind_image metadata;
    double factor;
    enum srcfind_status status = check_there(m, given, path);
    if (status == SRCFIND_OK)
        status = image_open_file(&m->file, path, m->choice.hdu, &m->of_file, error);
    if (status == SRCFIND_OK)
        status = count_planes(&m->of_file, n, error);
    if (status == SRCFIND_OK && !m->file.file.gunzip)
        status = take_plane(m, *n - 1, &metadata);
    if (status == SRCFIND_OK)
        status = take_plane(m, 0, &metadata);
    if (status == SRCFIND_OK)
        status = same_grid_check(&m->file, &metadata, m->image, &m->result->image, error);
    return status == SRCFIND_OK ? compare_units(m, &metadata, &factor) : status;
}

static void close_file(struct plane_work *m) {
    image_close(&m->file);
    image_clear_metadata(&m->of_file);
}

/* Measures in all n planes of the open file. */
static enum srcfind_status measure_planes(struct plane_work *m, int64_t n) {
    struct measured_planes *t = &m->result->planes;
    struct error *error = &m->finder->error;
    struct srcfind_image metadata;
    enum srcfind_status status = grow(t, n, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < n; i++) {
        status = take_plane(m, i, &metadata);
        if (status != SRCFIND_OK)
            break;
        t->planes[t->n] = describe(m, &metadata, i);
        status = measure_plane(m, &metadata, &t->planes[t->n], t->fluxes + t->n * t->n_sources);
        t->n++;
    }
    if (status == SRCFIND_OK)
        status = fits_file_checksum(&m->file.file, error);
    return status == SRCFIND_OK ? image_unchanged(&m->file, error) : status;
}

/* Checks a file, before anything is searched. */
static enum srcfind_status check_file(struct plane_work *m, const char *given, char *path) {
    int64_t n;
    enum srcfind_status status = open_file(m, given, path, &n);
    if (status == SRCFIND_OK)
        status = image_unchanged(&m->file, &m->finder->error);
    close_file(m);
    free(path);
    return status;
}

/* Measures in a file. The path then belongs to the planes of the result. */
static enum srcfind_status measure_file(struct plane_work *m, const char *given, char *path) {
    struct measured_planes *t = &m->result->planes;
    int64_t n;
    t->paths[t->n_paths++] = path;
    enum srcfind_status status = open_file(m, given, path, &n);
    if (status == SRCFIND_OK)
        status = measure_planes(m, n);
    close_file(m);
    return status;
}

/* Calls `work` for each file, with a path that it owns. */
static enum srcfind_status
for_each_file(struct plane_work *m,
              enum srcfind_status (*work)(struct plane_work *m, const char *given, char *path)) {
    const struct path_list *list = &m->finder->options.measure_in;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < list->n; i++) {
        const char *given = list->paths[i];
        char *path = user_map_path(USER_DETECTION, given, m->result->image.path);
        status = path ? work(m, given, path) : error_memory(&m->finder->error, MEASURING);
    }
    return status;
}

/* --- spectra --- */

static int compare_reals(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Whether a plane has a known frequency, is of Stokes I or names no Stokes parameter, and was
 * measured. */
static bool is_spectral(const struct measured_plane *plane) {
    return isfinite(plane->frequency) && flag_of(plane) == 0 &&
           (!*plane->stokes || strcmp(plane->stokes, "I") == 0);
}

/* The median frequency of n spectral planes, whose frequencies are sorted; NaN without any. */
static double median_of(double *frequencies, int64_t n) {
    qsort(frequencies, (size_t)n, sizeof *frequencies, compare_reals);
    return n == 0 ? (double)NAN : (frequencies[(n - 1) / 2] + frequencies[n / 2]) / 2;
}

/* Sets the spectral columns of all sources. `points` and `frequencies` have room for all planes. */
static void find_spectra(struct result *r, struct spectrum_point *points, double *frequencies) {
    const struct measured_planes *t = &r->planes;
    int64_t n = 0;
    for (int64_t k = 0; k < t->n; k++)
        if (is_spectral(&t->planes[k]))
            frequencies[n++] = t->planes[k].frequency;
    const double reference = median_of(frequencies, n);
    for (int64_t i = 0; i < r->sources.n; i++) {
        struct srcfind_source *source = &r->sources.rows[i];
        struct spectrum found;
        n = 0;
        for (int64_t k = 0; k < t->n; k++) {
            const struct plane_flux *flux = &t->fluxes[k * t->n_sources + i];
            if (is_spectral(&t->planes[k]))
                points[n++] = (struct spectrum_point){log(t->planes[k].frequency / reference),
                                                      flux->total_flux, flux->e_total_flux};
        }
        source->reference_frequency = spectrum_fit(points, n, &found) ? reference : (double)NAN;
        source->spectral_index = found.index;
        source->e_spectral_index = found.e_index;
        source->reference_flux = found.flux;
    }
}

static enum srcfind_status set_spectra(struct result *result, struct error *error) {
    const int64_t n = result->planes.n;
    struct spectrum_point *points = arrays_allocate(n, sizeof *points);
    double *frequencies = arrays_allocate(n, sizeof *frequencies);
    const bool ok = points && frequencies;
    if (ok)
        find_spectra(result, points, frequencies);
    free(points);
    free(frequencies);
    return ok ? SRCFIND_OK : error_memory(error, MEASURING);
}

/* --- all of it --- */

/* Reads the mask of the image, which applies to all planes. */
static enum srcfind_status read_mask(struct plane_work *m, const struct input *input) {
    const struct user_maps mask = {.images = {[USER_MASK] = input->maps.images[USER_MASK]}};
    const bool has_regions = input->maps.regions && m->finder->options.mask_noise;
    if (!user_maps_exist(&mask) && !has_regions)
        return SRCFIND_OK;
    m->mask = blanks_create(m->image->source.width * m->image->source.height);
    if (!m->mask)
        return error_memory(&m->finder->error, MEASURING);
    m->mask->is_complete = true;
    return has_regions ? input_add_regions(input, &m->result->image, NULL, m->finder->regions,
                                           m->mask, m->finder->threads, &m->finder->error)
                       : user_maps_blanks(&mask, m->mask, m->finder->threads, &m->finder->error);
}

/* Lists the Gaussians whose shapes are held; with --at each row is one. */
static enum srcfind_status hold_sources(struct plane_work *m) {
    const struct result *r = m->result;
    int64_t n = r->sources.n;
    if (!*r->options.at && !(m->gaussians = sources_list_gaussians(&r->sources, &n)))
        return error_memory(&m->finder->error, MEASURING);
    return held_sources_make(r->sources.rows, r->sources.n,
                             m->gaussians ? m->gaussians : r->sources.rows, n, m->image->wcs,
                             &m->held, &m->finder->error);
}

static enum srcfind_status measure_files(struct plane_work *m) {
    struct measured_planes *t = &m->result->planes;
    t->paths = calloc((size_t)m->finder->options.measure_in.n, sizeof *t->paths);
    return t->paths ? for_each_file(m, measure_file) : error_memory(&m->finder->error, MEASURING);
}

static struct plane_work begin_work(struct srcfind *finder, const struct input *input,
                                    struct result *result) {
    struct plane_work m = {.finder = finder,
                           .calls = {NULL, finder->threads, &finder->error},
                           .image = &input->image,
                           .result = result,
                           .choice =
                               image_choice_beside(&finder->options.image.trim, &result->image),
                           .file = {.file.descriptor = -1},
                           .noise = views_noise_beside(&finder->options.noise)};
    m.choice.blank = finder->options.image.blank;
    return m;
}

enum srcfind_status planes_check(struct srcfind *finder, const struct input *input,
                                 struct result *result) {
    struct plane_work m = begin_work(finder, input, result);
    return for_each_file(&m, check_file);
}

enum srcfind_status planes_measure(struct srcfind *finder, const struct input *input,
                                   struct result *result) {
    struct plane_work m = begin_work(finder, input, result);
    const double start = clock_seconds();
    result->planes.n_sources = result->sources.n;
    enum srcfind_status status = read_mask(&m, input);
    if (status == SRCFIND_OK)
        status = hold_sources(&m);
    if (status == SRCFIND_OK)
        status = measure_files(&m);
    if (status == SRCFIND_OK)
        status = set_spectra(result, &finder->error);
    held_sources_clear(&m.held);
    free(m.gaussians);
    blanks_destroy(m.mask);
    result->timings.planes = clock_seconds() - start;
    return status;
}
