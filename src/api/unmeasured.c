#include "api/unmeasured.h"

#include <math.h>

#include "api/scales.h"
#include "input/blanks.h"
#include "measure/beam_frame.h"
#include "output/wide_background.h"

/* The background counts where it differs from the median of the image by so many rms: the median of
 * a box of local noise has an error of less than a tenth of its rms. Bowls around emission count,
 * too: an interferometer sees no flux in all. */
static const double LEAST = 0.5;

/* What is above and below the median cancels to less than this share: a slope, and no emission. */
static const double SLOPE = 0.1;

enum { MOST_SCALE = 1000 }; /* as the option scales has it */

/* Whether sources at a pixel have no rows, since regions leave it out. */
static bool is_left_out(const struct result *r, int64_t x, int64_t y) {
    return r->unsearched && blanks_has_any(r->unsearched, y * r->image.width + x, 1);
}

/* The sum of the background map above the median of the image, over all pixels that are searched:
 * one of each square of step x step pixels stands for all of them. 0 for a slope. */
static double sum_of(const struct result *r, const struct wide_background *wide) {
    const struct noise_map *map = &r->noise;
    double sum = 0, size = 0;
    for (int64_t y = map->step / 2; y < r->image.height; y += map->step) {
        for (int64_t x = map->step / 2; x < r->image.width; x += map->step) {
            if (is_left_out(r, x, y))
                continue;
            struct noise_at at = noise_map_at(map, x, y);
            wide_background_put(wide, x, y, 1, &at);
            const double above = at.background - r->background.median;
            const double counted = fabs(above) > LEAST * at.rms ? above : 0;
            sum += counted;
            size += fabs(counted);
        }
    }
    return fabs(sum) > SLOPE * size ? sum * (double)(map->step * map->step) : 0;
}

bool unmeasured_find(double to_flux, struct result *r) {
    struct wide_background wide = {0};
    const double seen = 1 - (double)r->background.n_blank / (double)r->background.n_pixels;
    r->quality.unmeasured = r->quality.measured = NAN;
    if (r->options.scales.n == 0 || !r->noise.nodes)
        return true;
    const bool ok = wide_background_make(&wide, &r->sources, &r->image);
    if (ok) {
        r->quality.unmeasured = to_flux * seen * sum_of(r, &wide);
        r->quality.measured = 0;
    }
    for (int64_t i = 0; ok && i < r->sources.n - r->sources.n_negative; i++)
        if (!(r->sources.rows[i].flags & SRCFIND_FLAG_NOT_FITTED))
            r->quality.measured += r->sources.rows[i].total_flux;
    wide_background_clear(&wide);
    return ok;
}

double unmeasured_next_scale(const struct result *r) {
    const struct srcfind_image *image = &r->image;
    const double next = 2 * r->options.scales.fwhm[r->options.scales.n - 1];
    const double square = image->beam.major * image->beam.minor / image->pixel_area;
    const struct tensor beam = {square / (FIT_FWHM * FIT_FWHM), square / (FIT_FWHM * FIT_FWHM), 0};
    return next > MOST_SCALE || scale_is_too_wide(next, &beam, image) ? INFINITY : next;
}
