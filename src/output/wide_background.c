#include "output/wide_background.h"

#include <math.h>
#include <stdlib.h>

#include "backend/gaussian.h"

/* The form of an ellipse at a distance of one FWHM from the centre of a Gaussian: its points are
 * those with r^T M^-1 r = 1, in pixels. */
static struct tensor ellipse_of(const struct srcfind_source *row) {
    const double angle = row->pixel_angle * M_PI / 180; /* of the major axis, from y to -x */
    const double major = row->pixel_major * row->pixel_major,
                 minor = row->pixel_minor * row->pixel_minor;
    const double x = -sin(angle), y = cos(angle);
    return (struct tensor){major * x * x + minor * y * y, major * y * y + minor * x * x,
                           (major - minor) * x * y};
}

/* The first and the last pixel within `reach` of a centre, along an axis of n pixels; the first is
 * behind the last where there is none. */
static int64_t first_within(double centre, double reach, int64_t n) {
    return (int64_t)fmin(fmax(ceil(centre - reach), 0), (double)n);
}

static int64_t last_within(double centre, double reach, int64_t n) {
    return (int64_t)fmax(fmin(floor(centre + reach), (double)n - 1), -1);
}

/* Adds the pixels of an ellipse. */
static bool add_ellipse(struct labels *labels, const struct srcfind_source *row, int64_t label,
                        int64_t width, int64_t height) {
    const struct tensor m = ellipse_of(row);
    const double reach = sqrt(m.yy);
    bool ok = true;
    if (!isfinite(reach) || !(tensor_determinant(&m) > 0))
        return true;
    const int64_t last = last_within(row->y, reach, height);
    for (int64_t y = first_within(row->y, reach, height); ok && y <= last; y++) {
        const double d = (double)y - row->y;
        const double centre = row->x + d * m.xy / m.yy;
        const double half = sqrt(fmax(tensor_determinant(&m) / m.yy * (1 - d * d / m.yy), 0));
        const struct run run = {(int32_t)y, (int32_t)first_within(centre, half, width),
                                (int32_t)last_within(centre, half, width)};
        /* The widest scale comes first: label_rows.h has those with the smallest number first. */
        if (run.x0 <= run.x1)
            ok = labels_add_run(labels, &run, label, (float)(1 / row->scale));
    }
    return ok;
}

static bool has_gaussian_of_scale(const struct srcfind_source *row) {
    return row->scale > 0 && !(row->flags & SRCFIND_FLAG_NOT_FITTED);
}

bool wide_background_make(struct wide_background *wide, const struct sources *sources,
                          const struct srcfind_image *image) {
    int64_t n;
    struct srcfind_source *rows = sources_list_gaussians(sources, &n);
    struct labels labels = {0};
    *wide = (struct wide_background){.values = malloc((size_t)n * sizeof *wide->values + 1)};
    bool ok = rows && wide->values;
    if (ok)
        rows_move(rows, n, -image->first_x, -image->first_y);
    for (int64_t i = 0; ok && i < n; i++) {
        wide->values[i] = rows[i].scale_background;
        if (has_gaussian_of_scale(&rows[i]))
            ok = add_ellipse(&labels, &rows[i], i + 1, image->width, image->height);
    }
    if (ok && labels.n > 0)
        ok = label_rows_make(&wide->gaussians, &labels, image->height);
    labels_clear(&labels);
    free(rows);
    return ok;
}

void wide_background_clear(struct wide_background *wide) {
    label_rows_clear(&wide->gaussians);
    free(wide->values);
    *wide = (struct wide_background){0};
}

void wide_background_put(const struct wide_background *wide, int64_t x, int64_t y, int64_t n,
                         struct noise_at *noise) {
    uint32_t labels[NOISE_RANGE];
    if (!wide->gaussians.first)
        return;
    label_rows_get(&wide->gaussians, x, y, n, labels);
    for (int64_t i = 0; i < n; i++)
        if (labels[i] > 0)
            noise[i].background = wide->values[labels[i] - 1];
}
