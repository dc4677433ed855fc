#include "measure/setting.h"

#include "measure/beam_frame.h"

/* The area, in pixels of the grid, of a beam that the grid's kernel has smoothed `times` times; at
 * least 1, also where there is no beam. */
static double area_of_beam(const struct srcfind_image *metadata, const struct fit_frame *frame,
                           const struct grid *grid, double times) {
    const struct fit_frame smoothed = grid_frame(grid, frame, times);
    const double pixels =
        grid->scale > 0 ? 2 * M_PI / (smoothed.ux * smoothed.vy) : metadata->beam_pixels;
    return isfinite(pixels) ? fmax(pixels, 1) : 1;
}

double setting_to_flux(const struct image *image, const struct srcfind_image *metadata) {
    const bool has_beam = isfinite(metadata->beam_pixels);
    const double per_pixel = has_beam && !image->per_pixel ? 1 / metadata->beam_pixels : 1;
    return isfinite(image->jansky) && (has_beam || image->per_pixel) ? per_pixel * image->jansky
                                                                     : per_pixel;
}

struct psf setting_psf(const struct view *view, const struct fit_frame *frame) {
    return view->psf ? *view->psf : (struct psf){.beam = beam_frame_moments(frame)};
}

struct setting setting_make(const struct view *view, const struct fit_frame *frame) {
    const struct image *image = view->image;
    const struct srcfind_image *metadata = view->metadata;
    const struct grid *grid = view->grid;
    const bool has_beam = isfinite(metadata->beam_pixels);
    struct setting s = {
        .detection = &view->detection,
        .noise = &view->result.noise,
        .correlated = setting_correlated(metadata, frame, grid),
        .point = area_of_beam(metadata, frame, grid, 1),
        .to_flux = setting_to_flux(image, metadata) * (double)(grid->step * grid->step),
        .flags = has_beam || image->per_pixel ? 0 : SRCFIND_FLAG_NO_BEAM,
        .of_image = *frame,
        .psf = setting_psf(view, frame),
        .frame = grid_frame(grid, frame, 1),
        .correlation = &view->correlation,
        .noise_areas = noise_areas_of(&view->correlation),
        .grid = *grid,
    };
    const struct tensor beam = beam_frame_moments(frame);
    s.position_error = frame->has_beam ? view->position_error * beam_frame_fwhm(&beam) : 0;
    s.per_beam = grid_unit(grid) * (image->per_pixel ? metadata->beam_pixels : 1);
    const struct gaussian point = {1, 0, 0, beam_frame_form(&s.frame)};
    s.of_point = fit_uncertainty_of(&point, &s.frame, s.correlation, true);
    return s;
}

double setting_correlated(const struct srcfind_image *metadata, const struct fit_frame *frame,
                          const struct grid *grid) {
    return area_of_beam(metadata, frame, grid, 2);
}

struct srcfind_source setting_empty_row(int64_t id) {
    struct srcfind_source row = {.id = id, .island_id = id, .n_gaussians = SRCFIND_EMPTY};
    double *const cells[] = {&row.lon,         &row.lat,
                             &row.e_lon,       &row.e_lat,
                             &row.major,       &row.minor,
                             &row.angle,       &row.e_major,
                             &row.e_minor,     &row.e_angle,
                             &row.dc_major,    &row.dc_minor,
                             &row.dc_angle,    &row.e_dc_major,
                             &row.e_dc_minor,  &row.e_dc_angle,
                             &row.pixel_major, &row.pixel_minor,
                             &row.pixel_angle, &row.resid_isl_rms,
                             &row.lon_max,     &row.lat_max,
                             &row.pix_snr,     &row.e_total_shape,
                             &row.hole,        &row.resid_isl_mean,
                             &row.chi2,        &row.dof,
                             &row.chi2_sum,    &row.pixel_peak,
                             &row.blend};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        *cells[i] = NAN;
    return row;
}

void setting_size_in_pixels(const struct tensor *beam, const struct tensor *second,
                            struct srcfind_source *row) {
    const struct axes axes = tensor_axes(isnan(second->xx) ? beam : second);
    const double angle = atan2(axes.sine, axes.cosine) * 90 / M_PI - 90; /* from y, not x */
    row->pixel_major = FIT_FWHM * sqrt(axes.major);
    row->pixel_minor = FIT_FWHM * sqrt(axes.minor < 0 ? 0 : axes.minor); /* a NaN is kept */
    row->pixel_angle = angle < 0 ? angle + 180 : angle;
}

void setting_empty_pixels(struct srcfind_source *row) {
    int64_t *const cells[] = {&row->n_pixels, &row->x_min,  &row->x_max, &row->y_min,
                              &row->y_max,    &row->x_peak, &row->y_peak};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        *cells[i] = SRCFIND_EMPTY;
    row->pixel_sum = row->pixel_peak = NAN;
}
