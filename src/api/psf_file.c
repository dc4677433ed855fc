/* How a file becomes nodes:
 *
 * 1. find_places: the position of each node on the sky, and from it in the file.
 * 2. read_planes: the four pixels around each place, of each of the three planes.
 * 3. set_node: second moments on the sky are interpolated, not axes and angles, since an angle
 * jumps from 180 to 0 degrees; the Jacobian of the image turns them to pixels.
 *
 * Cost: a few pixels a node, of which there are at most 66,049. */
#include "api/psf_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arrays.h"
#include "input/frame.h"
#include "measure/jacobian.h"
#include "measure/run_pixels.h"

enum { PLANES = 3, CORNERS = 4 };

/* An area of the point-spread function in that of the beam, above or below which axes are no
 * degrees. */
static const double MOST_RATIO = 100;

/* Where a node is in the file: between columns x0, x1 and rows y0, y1. */
struct place {
    bool is_inside;
    int32_t x0, x1, y0, y1;
    double share_x, share_y;
};

struct psf_reading {
    const char *path;
    const struct image *image; /* that is searched */
    const struct srcfind_image *metadata;
    struct psf *psf;
    int64_t n; /* nodes */
    int axis;  /* of the planes, from 0 */
    struct image file;
    struct srcfind_image of_file;
    struct place *places;
    struct run *runs;     /* two of each place */
    struct run_set *sets; /* one of each place */
    float *values[PLANES];
    struct threads *threads;
    struct error *error;
};

static enum srcfind_status refuse(const struct psf_reading *r, const char *why) {
    return error_set(r->error, SRCFIND_ERROR_INPUT,
                     "--psf: %s: %s: the file needs three planes: major axis, minor axis and "
                     "position angle of points, in degrees",
                     r->path, why);
}

static enum srcfind_status refuse_axes(const struct psf_reading *r, double area) {
    char why[160];
    const double factor = sqrt(area),
                 beam = sqrt(r->metadata->beam.major * r->metadata->beam.minor);
    snprintf(why, sizeof why, "it has points of %.3g degrees, and the beam is %.3g degrees%s",
             factor * beam, beam, factor > 60 ? ": are they in arcsec?" : "");
    return refuse(r, why);
}

/* --- the file --- */

static bool has_same_sky(const struct srcfind_image *a, const struct srcfind_image *b) {
    if (strcmp(a->lon_name, b->lon_name) != 0)
        return false;
    return (strcmp(a->frame, b->frame) == 0 && (a->equinox == b->equinox || isnan(a->equinox))) ||
           (frame_is_j2000(a->frame, a->equinox) && frame_is_j2000(b->frame, b->equinox));
}

/* The first axis behind the image's that has three planes; 0: none has. */
static int find_axis(const struct srcfind_image *file) {
    int axis = 2;
    while (axis < file->n_axes && file->axes[axis] < PLANES)
        axis++;
    return axis < file->n_axes ? axis : 0;
}

/* Takes a plane of the file. *metadata shares the path of of_file. */
static enum srcfind_status take_plane(struct psf_reading *r, int plane,
                                      struct srcfind_image *metadata) {
    struct image_choice choice = image_choice_default();
    *metadata = r->of_file;
    choice.plane.n = metadata->n_axes - 2;
    for (int i = 0; i < choice.plane.n; i++)
        choice.plane.index[i] = i + 2 == r->axis ? plane + 1 : 1;
    return image_take_plane(&r->file, &choice, metadata, r->error);
}

static enum srcfind_status open_file(struct psf_reading *r) {
    struct srcfind_image metadata;
    if (access(r->path, F_OK) != 0)
        return error_set(
            r->error, SRCFIND_ERROR_INPUT,
            "--psf: there is no file '%s': give one, a directory that holds STEM.fits, "
            "or measured",
            r->path);
    enum srcfind_status status = image_open_file(&r->file, r->path, "", &r->of_file, r->error);
    r->axis = status == SRCFIND_OK ? find_axis(&r->of_file) : 0;
    if (status == SRCFIND_OK && r->axis == 0)
        return refuse(r, "it has fewer than three planes");
    if (status == SRCFIND_OK)
        status = take_plane(r, 0, &metadata);
    if (status == SRCFIND_OK && !r->file.wcs)
        return refuse(r, "it has no sky coordinates");
    return status == SRCFIND_OK && !has_same_sky(r->metadata, &metadata)
               ? refuse(r, "its sky coordinates are of another kind than those of the image")
               : status;
}

/* --- places --- */

/* The two pixels of an axis of n pixels that a position is between; half a pixel beyond the first
 * or the last is that pixel. False farther out. */
static bool find_between(double at, int64_t n, int32_t *first, int32_t *next, double *share) {
    if (!(at >= -0.5 && at <= (double)n - 0.5))
        return false;
    const double inside = fmin(fmax(at, 0), (double)(n - 1));
    *first = (int32_t)fmin(floor(inside), (double)(n > 1 ? n - 2 : 0));
    *next = n > 1 ? *first + 1 : *first;
    *share = inside - *first;
    return true;
}

static void set_place(struct psf_reading *r, int64_t k, double x, double y) {
    struct place *p = &r->places[k];
    const struct pixel_source *file = &r->file.source;
    p->is_inside = find_between(x, file->width, &p->x0, &p->x1, &p->share_x) &&
                   find_between(y, file->height, &p->y0, &p->y1, &p->share_y);
    const int32_t last = p->is_inside ? p->x1 : p->x0 - 1; /* an empty run elsewhere */
    r->runs[2 * k] = (struct run){p->y0, p->x0, last};
    r->runs[2 * k + 1] = (struct run){p->y1, p->x0, last};
}

/* Sets the position of node k in the image. */
static void find_node(const struct psf *psf, int64_t k, double *x, double *y) {
    const int64_t row = k / psf->n_x, column = k % psf->n_x;
    *x = (double)column * psf->step_x;
    *y = (double)row * psf->step_y;
}

/* Finds where the nodes are in the file, and lists the pixels there. */
static enum srcfind_status find_places(struct psf_reading *r) {
    enum { AT_ONCE = 256 };
    double x[AT_ONCE], y[AT_ONCE], lon[AT_ONCE], lat[AT_ONCE];
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t first = 0; status == SRCFIND_OK && first < r->n; first += AT_ONCE) {
        const int n = (int)(r->n - first < AT_ONCE ? r->n - first : AT_ONCE);
        for (int i = 0; i < n; i++)
            find_node(r->psf, first + i, &x[i], &y[i]);
        status = wcs_positions(r->image->wcs, n, x, y, lon, lat, r->error);
        if (status == SRCFIND_OK)
            status = wcs_pixels(r->file.wcs, n, lon, lat, x, y, r->error);
        for (int i = 0; status == SRCFIND_OK && i < n; i++)
            set_place(r, first + i, x[i], y[i]);
    }
    return status;
}

/* --- values --- */

/* Makes a set of the runs of each place. Returns the number of pixels. */
static int64_t make_sets(struct psf_reading *r) {
    int64_t n_pixels = 0;
    for (int64_t k = 0; k < r->n; k++) {
        r->sets[k] = (struct run_set){&r->runs[2 * k], 2, n_pixels};
        n_pixels += run_length(&r->runs[2 * k]) + run_length(&r->runs[2 * k + 1]);
    }
    return n_pixels;
}

static enum srcfind_status read_planes(struct psf_reading *r) {
    const struct noise_map no_noise = {.rms = 1};
    const struct run_source from = {.source = &r->file.source, .noise = &no_noise};
    const int64_t n_pixels = make_sets(r);
    struct srcfind_image metadata;
    enum srcfind_status status = SRCFIND_OK;
    for (int plane = 0; status == SRCFIND_OK && plane < PLANES; plane++) {
        struct run_pixels read = {0};
        status = take_plane(r, plane, &metadata);
        if (status == SRCFIND_OK)
            status = run_pixels_read(&from, r->sets, r->n, n_pixels, r->threads, &read, r->error);
        r->values[plane] = read.value;
        read.value = NULL;
        run_pixels_clear(&read);
    }
    return status;
}

/* The second moments on the sky at a pixel, degrees^2; NaN: it has no ellipse. */
static struct tensor ellipse_at(const struct psf_reading *r, int64_t i) {
    const double major = (double)r->values[0][i], minor = (double)r->values[1][i];
    const double angle = (double)r->values[2][i];
    const bool is_ellipse = minor > 0 && major >= minor && isfinite(major) && isfinite(angle);
    return is_ellipse ? jacobian_ellipse(major / FIT_FWHM, minor / FIT_FWHM, angle)
                      : (struct tensor){NAN, NAN, NAN};
}

/* The second moments at a place, from the corners that have an ellipse; NaN: none has. */
static struct tensor moments_at(const struct psf_reading *r, int64_t k) {
    const struct place *p = &r->places[k];
    const int64_t first = r->sets[k].first, columns = p->x1 - p->x0 + 1;
    const int64_t corner[CORNERS] = {first, first + columns - 1, first + columns,
                                     first + 2 * columns - 1};
    const double weight[CORNERS] = {
        (1 - p->share_x) * (1 - p->share_y), columns > 1 ? p->share_x * (1 - p->share_y) : 0,
        (1 - p->share_x) * p->share_y, columns > 1 ? p->share_x * p->share_y : 0};
    struct tensor sum = {0, 0, 0};
    double all = 0;
    for (int i = 0; p->is_inside && i < CORNERS; i++) {
        const struct tensor t = ellipse_at(r, corner[i]);
        if (isnan(t.xx))
            continue;
        sum.xx += weight[i] * t.xx;
        sum.yy += weight[i] * t.yy;
        sum.xy += weight[i] * t.xy;
        all += weight[i];
    }
    return (struct tensor){sum.xx / all, sum.yy / all, sum.xy / all};
}

/* Sets a node, if the file has an ellipse there. */
static enum srcfind_status set_node(const struct psf_reading *r, int64_t k, bool *is_set) {
    const struct tensor on_sky = moments_at(r, k);
    struct jacobian jacobian;
    *is_set = isfinite(on_sky.xx);
    if (!*is_set)
        return SRCFIND_OK;
    double x, y;
    find_node(r->psf, k, &x, &y);
    const enum srcfind_status status =
        jacobian_at(r->image->wcs, r->metadata, x, y, &jacobian, r->error);
    const struct jacobian to_pixels = jacobian_inverse(&jacobian);
    const struct tensor moments = jacobian_apply(&to_pixels, &on_sky);
    *is_set = tensor_determinant(&moments) > 0;
    if (status == SRCFIND_OK && *is_set)
        r->psf->moments[k] = moments;
    return status;
}

static enum srcfind_status set_nodes(const struct psf_reading *r) {
    enum srcfind_status status = SRCFIND_OK;
    bool is_set;
    int64_t n_set = 0;
    for (int64_t k = 0; status == SRCFIND_OK && k < r->n; k++) {
        status = set_node(r, k, &is_set);
        const double area = psf_area(r->psf, &r->psf->moments[k]);
        n_set += is_set;
        if (status == SRCFIND_OK && is_set && !(area < MOST_RATIO && area > 1 / MOST_RATIO))
            return refuse_axes(r, area);
    }
    r->psf->missing = (double)(r->n - n_set) / (double)r->n;
    return status == SRCFIND_OK && n_set == 0
               ? refuse(r, "it has no ellipse at any place of the image, as if it were of another "
                           "sky, blank, or its axes exchanged")
               : status;
}

/* --- all of it --- */

static enum srcfind_status read_all(struct psf_reading *r) {
    enum srcfind_status status = open_file(r);
    if (status == SRCFIND_OK)
        status = find_places(r);
    if (status == SRCFIND_OK)
        status = read_planes(r);
    if (status == SRCFIND_OK)
        status = set_nodes(r);
    return status == SRCFIND_OK ? image_unchanged(&r->file, r->error) : status;
}

enum srcfind_status psf_file_read(const char *path, const struct image *image,
                                  const struct srcfind_image *metadata, struct psf *psf,
                                  struct threads *threads, struct error *error) {
    const int64_t n = psf->n_x * psf->n_y;
    struct psf_reading r = {.path = path,
                            .image = image,
                            .metadata = metadata,
                            .psf = psf,
                            .n = n,
                            .file = {.file.descriptor = -1},
                            .places = calloc((size_t)n, sizeof *r.places),
                            .runs = arrays_allocate(2 * n, sizeof *r.runs),
                            .sets = arrays_allocate(n, sizeof *r.sets),
                            .threads = threads,
                            .error = error};
    const enum srcfind_status status =
        r.places && r.runs && r.sets ? read_all(&r) : error_memory(error, "reading --psf");
    image_close(&r.file);
    image_clear_metadata(&r.of_file);
    for (int plane = 0; plane < PLANES; plane++)
        free(r.values[plane]);
    free(r.places);
    free(r.runs);
    free(r.sets);
    return status;
}
