#include "measure/beam_frame.h"

#include "measure/jacobian.h"

static const double PIXELS_WITHOUT_BEAM = 3;

struct fit_frame beam_frame_of_form(const struct tensor *form) {
    const double ux = sqrt(form->xx), uy = form->xy / ux;
    return (struct fit_frame){ux, uy, sqrt(form->yy - uy * uy), true, FIT_SHAPES_CHOSEN};
}

/* A form without what rounding in WCSLIB adds, 1e-11 of it: to steps of some 1e-8. The fits of
 * crowded islands would amplify that, and end elsewhere in an image that is mirrored, or on another
 * processor. */
static struct tensor rounded(const struct tensor *form) {
    int exponent;
    frexp(form->xx + form->yy, &exponent);
    const double step = ldexp(1, exponent - 28);
    return (struct tensor){step * rint(form->xx / step), step * rint(form->yy / step),
                           step * rint(form->xy / step)};
}

static bool is_usable(const struct fit_frame *f) {
    return isfinite(f->ux) && isfinite(f->uy) && isfinite(f->vy) && f->ux > 0 && f->vy > 0;
}

enum srcfind_status beam_frame_make(const struct image *image, const struct srcfind_image *metadata,
                                    struct fit_frame *frame, struct error *error) {
    const double per_pixel = FIT_FWHM / PIXELS_WITHOUT_BEAM;
    const struct srcfind_beam *beam = &metadata->beam;
    struct jacobian jacobian;
    double x, y;
    *frame = (struct fit_frame){per_pixel, 0, per_pixel, false, FIT_SHAPES_CHOSEN};
    if (!image->wcs || !isfinite(metadata->beam_pixels))
        return SRCFIND_OK;
    wcs_reference_pixel(image->wcs, &x, &y);
    const enum srcfind_status status = jacobian_at(image->wcs, metadata, x, y, &jacobian, error);
    if (status != SRCFIND_OK)
        return status;
    const struct tensor on_sky = jacobian_ellipse(beam->major / FIT_FWHM, beam->minor / FIT_FWHM,
                                                  isfinite(beam->angle) ? beam->angle : 0);
    const struct jacobian to_pixels = jacobian_inverse(&jacobian);
    const struct tensor moments = jacobian_apply(&to_pixels, &on_sky);
    const struct tensor exact = tensor_inverse(&moments), form = rounded(&exact);
    const struct fit_frame by_beam = beam_frame_of_form(&form);
    if (is_usable(&by_beam))
        *frame = by_beam;
    return SRCFIND_OK;
}

struct tensor beam_frame_form(const struct fit_frame *frame) {
    return (struct tensor){frame->ux * frame->ux, frame->uy * frame->uy + frame->vy * frame->vy,
                           frame->ux * frame->uy};
}

struct tensor beam_frame_moments(const struct fit_frame *frame) {
    const struct tensor form = beam_frame_form(frame);
    return frame->has_beam ? tensor_inverse(&form) : (struct tensor){NAN, NAN, NAN};
}

/* Margins, in FWHM. An island of more beam areas is wide, as where local noise leaves it out. */
static const double WIDE_AREAS = 15, WIDE_MARGIN = 1.5, MARGIN = 0.5;

double beam_frame_margin(const struct fit_frame *frame, int64_t n) {
    const double fwhm = FIT_FWHM / sqrt(frame->ux * frame->vy); /* of the unit circle, in pixels */
    const double area = M_PI / (4 * M_LN2) * fwhm * fwhm;
    const bool is_wide = frame->has_beam && (double)n > WIDE_AREAS * area;
    return fmax((is_wide ? WIDE_MARGIN : MARGIN) * fwhm, 1) * (1 + 1e-6);
}

double beam_frame_fwhm(const struct tensor *moments) {
    return FIT_FWHM * sqrt(sqrt(tensor_determinant(moments)));
}
