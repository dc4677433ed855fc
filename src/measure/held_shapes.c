#include "measure/held_shapes.h"

#include "backend/fit.h"

/* The second moments of a Gaussian on the sky, degrees^2. */
static struct tensor moments_of(const struct srcfind_beam *b) {
    return jacobian_ellipse(b->major / FIT_FWHM, b->minor / FIT_FWHM,
                            isfinite(b->angle) ? b->angle : 0);
}

static bool is_shape(const struct srcfind_beam *b) {
    return isfinite(b->major) && isfinite(b->minor) && b->minor >= 0 && b->major >= b->minor;
}

struct srcfind_beam held_shape_intrinsic(const struct position_shape *shape) {
    const struct srcfind_beam point = {0};
    if (!is_shape(&shape->size) || !is_shape(&shape->psf))
        return point;
    if (shape->psf.major == 0) {
        struct srcfind_beam intrinsic = shape->size;
        intrinsic.angle = isfinite(intrinsic.angle) ? intrinsic.angle : 0;
        return intrinsic.major > 0 ? intrinsic : point;
    }
    const struct tensor whole = moments_of(&shape->size), psf = moments_of(&shape->psf);
    const struct tensor rest = {whole.xx - psf.xx, whole.yy - psf.yy, whole.xy - psf.xy};
    const struct axes axes = tensor_axes(&rest);
    if (isnan(axes.major)) /* the squares of an absurdly wide shape */
        return shape->size;
    if (!(axes.major > 0))
        return point;
    const double angle = 90 - atan2(axes.sine, axes.cosine) / (2 * RADIAN);
    return (struct srcfind_beam){FIT_FWHM * sqrt(axes.major), FIT_FWHM * sqrt(fmax(axes.minor, 0)),
                                 angle < 180 ? angle : angle - 180};
}

/* The moments of a shape convolved with those of a point or, without a Jacobian, of the point. They
 * are not finite for an absurdly wide shape. */
static struct tensor convolve(const struct tensor *point, const struct srcfind_beam *intrinsic,
                              const struct jacobian *jacobian) {
    const struct tensor on_sky = moments_of(intrinsic);
    const struct jacobian to_pixels = jacobian_inverse(jacobian);
    const struct tensor t = jacobian_apply(&to_pixels, &on_sky);
    const bool is_known = isfinite(to_pixels.east_x) && isfinite(to_pixels.east_y) &&
                          isfinite(to_pixels.north_x) && isfinite(to_pixels.north_y);
    return is_known ? (struct tensor){point->xx + t.xx, point->yy + t.yy, point->xy + t.xy}
                    : *point;
}

enum srcfind_status held_shapes_moments(struct wcs *wcs, const struct srcfind_image *image,
                                        const struct psf *psf, int64_t n,
                                        const struct forced_position *positions,
                                        struct tensor *moments, struct error *error) {
    enum { POINTS = JACOBIAN_POINTS, AT_ONCE = 128 };
    const double step = jacobian_step(image);
    double at_x[POINTS * AT_ONCE], at_y[POINTS * AT_ONCE];
    double lon[POINTS * AT_ONCE], lat[POINTS * AT_ONCE];
    int64_t wide[AT_ONCE] = {0}; /* the next positions that are no points */
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < n;) {
        int n_wide = 0;
        for (; i < n && n_wide < AT_ONCE; i++) {
            moments[i] = psf_at(psf, positions[i].x, positions[i].y);
            if (positions[i].intrinsic.major > 0)
                wide[n_wide++] = i;
        }
        for (int k = 0; k < n_wide; k++)
            jacobian_points(positions[wide[k]].x, positions[wide[k]].y, step, at_x + POINTS * k,
                            at_y + POINTS * k);
        if (n_wide > 0)
            status = wcs_positions(wcs, POINTS * n_wide, at_x, at_y, lon, lat, error);
        for (int k = 0; status == SRCFIND_OK && k < n_wide; k++) {
            const struct jacobian j = jacobian_of(lon + POINTS * k, lat + POINTS * k, step);
            moments[wide[k]] = convolve(&moments[wide[k]], &positions[wide[k]].intrinsic, &j);
        }
    }
    return status;
}
