#include "cli/notes.h"

#include <math.h>
#include <string.h>

#include "api/noise.h"
#include "cli/plural.h"
#include "input/units.h"
#include "output/catalogue.h"

/* Above these the pixels, the noise or the sources look wrong; the beam below. */
static const double MOST_ZEROS = 0.01, MOST_SPREAD = 1.5, MOST_NEGATIVE = 0.1, LEAST_BEAM = 2;
static const double MOST_RANGE = 2; /* of the background, in rms */
static const double MOST_CUT = 0.25, MOST_NARROW = 0.25, MOST_RESIDUAL = 0.1;
enum { LEAST_SOURCES = 8 }; /* of which a share tells something */

static void note_sky(const struct messages *messages, const struct srcfind_image *image) {
    if (*image->no_sky)
        messages_note(messages, "%s: no sky coordinates: %s", messages->image, image->no_sky);
}

static void note_positions(const struct messages *messages, const struct srcfind_catalogue *c) {
    int64_t n = 0;
    for (int64_t i = 0; *c->image.lon_name && i < c->n_sources; i++)
        n += isnan(c->sources[i].lon) && isfinite(c->sources[i].x);
    if (n > 0)
        messages_note(messages,
                      "%s: %lld of %lld %s%s %s no position on the sky, beyond the edge of the "
                      "projection: are the coordinates of the header right?",
                      messages->image, (long long)n, (long long)c->n_sources, messages->row,
                      plural(c->n_sources), n == 1 ? "has" : "have");
}

static void note_unit(const struct messages *messages, const struct srcfind_image *image) {
    if (units_is_ambiguous(image->unit))
        messages_note(
            messages,
            "%s: the unit %s may be MJy or mJy: fluxes are not converted to Jy; write one "
            "of them to BUNIT",
            messages->image, image->unit);
}

/* Whether a unit is a multiple of one of these, of which NULL is the last. */
static bool is_one_of(const char *unit, const char *const *units) {
    double factor;
    while (*units && !units_conform(unit, *units, &factor))
        units++;
    return *units;
}

/* What would make fluxes those in Jy. */
static const char *cure_of(const struct srcfind_image *image) {
    static const char *const beams[] = {"Jy/beam", "Jy/beam.km/s", NULL};
    static const char *const areas[] = {"Jy/sr", "Jy/deg2", "Jy/sr.km/s", "Jy/deg2.km/s", NULL};
    if (!*image->unit)
        return "there is no BUNIT; write it, such as Jy/beam";
    if (is_one_of(image->unit, beams) && image->beam_row_is_missing)
        return "the BEAMS table has no usable row of this plane; --beam gives the beam";
    if (is_one_of(image->unit, beams) && !*image->beam_source)
        return "no beam is known; --beam gives it";
    if (is_one_of(image->unit, beams) || is_one_of(image->unit, areas))
        return "without sky coordinates the area of a pixel is not known";
    return "write BUNIT as a multiple of Jy/beam, Jy/pixel or Jy/sr, if it is one";
}

/* Notes that fluxes are not in Jy. A map with neither a unit nor a beam says nothing of fluxes. */
static void note_flux_unit(const struct messages *messages, const struct srcfind_catalogue *c) {
    const struct srcfind_image *image = &c->image;
    const char *unit = *image->unit ? image->flux_unit : "the unit of the pixels";
    if (c->n_sources == 0 || (!*image->unit && !*image->beam_source) ||
        units_is_ambiguous(image->unit) || strcmp(image->flux_unit, "Jy") == 0 ||
        strcmp(image->flux_unit, "Jy km/s") == 0)
        return;
    messages_note(messages, "%s: fluxes are in %s, not in Jy: %s", messages->image, unit,
                  cure_of(image));
}

static void note_beam(const struct messages *messages, const struct srcfind_catalogue *c) {
    const char *path = messages->image;
    const char *wrong = c->image.beam_pixels > (double)c->background.n_pixels
                            ? "larger than the image"
                        : c->image.beam_pixels < 1 ? "smaller than a pixel"
                                                   : NULL;
    if (wrong)
        messages_note(messages, "%s: the beam is %s: are BMAJ, BMIN and CDELT1, CDELT2 in degrees?",
                      path, wrong);
    else if (c->quality.beam_pixels < LEAST_BEAM)
        messages_note(messages,
                      "%s: the beam is %.2g pixel%s wide, less than two, and fluxes and sizes are "
                      "uncertain: make the image with smaller pixels, or correct the beam with "
                      "--beam",
                      path, c->quality.beam_pixels, c->quality.beam_pixels == 1 ? "" : "s");
}

/* Notes what was made of the beam of the header. */
static void note_beam_cards(const struct messages *messages, const struct srcfind_image *image) {
    const struct srcfind_beam *used = &image->beam, *row = &image->row_beam;
    if (image->beam_is_turned)
        messages_note(messages,
                      "%s: the beam's major axis was given as the smaller one: the axes are "
                      "exchanged, and the angle is turned by 90 degrees to %g",
                      messages->image, used->angle);
    if (isfinite(row->major))
        messages_note(messages,
                      "%s: the beam of the %s, %.4g x %.4g arcsec at %.4g degrees, is used; the "
                      "BEAMS table has another one for this plane: --beam %.6g,%.6g,%.6g",
                      messages->image, image->beam_source, 3600 * used->major, 3600 * used->minor,
                      used->angle, 3600 * row->major, 3600 * row->minor, row->angle);
}

static void note_zeros(const struct messages *messages, const struct srcfind_catalogue *c) {
    if (c->quality.zeros > MOST_ZEROS && c->quality.zeros < 1)
        messages_note(messages,
                      "%s: some %.0f%% of the pixels are exactly 0: if they are padding, --blank 0 "
                      "leaves them out",
                      messages->image, 100 * c->quality.zeros);
}

/* Notes where local noise was asked for, but there is one noise. */
static void note_no_local_noise(const struct messages *messages,
                                const struct srcfind_catalogue *c) {
    const bool rms_is_given = c->options.rms > 0 || *c->options.rms_map;
    if (c->options.local && !noise_is_given(&c->options) && c->background.box == 0)
        messages_note(
            messages,
            "%s: the image is too small for local noise, one rms is used: boxes have 48 "
            "pixels at least, and at most half of its shorter side; --rms-box sets another "
            "size",
            messages->image);
    else if (c->noise.no_node_counts && (c->background.rms > 0 || rms_is_given))
        messages_note(
            messages,
            "%s: every box of %lld pixels is more than three quarters blank, or has no noise: one "
            "%s is used; --rms-box sets another size",
            messages->image, (long long)c->background.box, rms_is_given ? "background" : "rms");
}

/* Notes where one noise was measured, but it differs, or the background does: that makes the rms of
 * the whole image larger than that of its parts. */
static void note_one_noise(const struct messages *messages, const struct srcfind_catalogue *c) {
    const struct srcfind_quality *q = &c->quality;
    const char *unit = *c->image.unit ? c->image.unit : "(no unit)";
    if (c->options.local || *c->options.rms_map || c->background.box > 0 || c->options.rms > 0 ||
        c->background.empty)
        return;
    if (q->rms_p90 > MOST_SPREAD * q->rms_p10)
        messages_note(messages,
                      "%s: the noise differs from place to place, from %.2g to %.2g %s: --local "
                      "measures it around each source",
                      messages->image, q->rms_p10, q->rms_p90, unit);
    else if (c->background.rms > MOST_SPREAD * q->rms_p90)
        messages_note(messages,
                      "%s: the background differs from place to place, and the rms of the whole "
                      "image, %.2g %s, is that much larger than the %.2g of its parts: --local "
                      "measures both around each source",
                      messages->image, c->background.rms, unit, q->rms_p90);
}

/* Notes where local noise may have wide emission for background. */
static void note_background(const struct messages *messages, const struct srcfind_catalogue *c) {
    const struct srcfind_quality *q = &c->quality;
    const double range = q->background_p90 - q->background_p10;
    if (c->options.scales.n == 0 && !*c->options.at && isfinite(c->image.beam.major) &&
        range > MOST_RANGE * c->background.rms_median)
        messages_note(messages,
                      "%s: the local background differs by %.1f rms from place to place: it may "
                      "have emission that is wider than half of a box; --scales keeps it",
                      messages->image, range / c->background.rms_median);
}

static void note_left_out(const struct messages *messages, const struct srcfind_catalogue *c) {
    if (c->quality.widest_left_out > 0)
        messages_note(
            messages,
            "%s: scales whose kernels are wider than half of the image's shorter side, up to "
            "%g beams, are left out: search a larger image for these",
            messages->image, c->quality.widest_left_out);
}

static void note_negative(const struct messages *messages, const struct srcfind_catalogue *c) {
    const int64_t n_positive = c->n_sources - c->n_negative;
    const bool local = c->options.local || c->background.box > 0 || *c->options.rms_map;
    if ((double)c->n_negative > MOST_NEGATIVE * (double)n_positive)
        messages_note(messages,
                      "%s: %lld negative source%s beside %lld positive, of which %s may be "
                      "false: %sa higher --threshold leaves fewer",
                      messages->image, (long long)c->n_negative, plural(c->n_negative),
                      (long long)n_positive, c->n_negative < n_positive ? "as many" : "all",
                      local ? "" : "--local or ");
}

/* The number of sources that a share of them is. */
static long long count_of(double share, const struct srcfind_catalogue *c) {
    return llround(share * (double)c->n_sources);
}

/* Whether there are enough sources for shares of them. */
static bool has_sources(const struct srcfind_catalogue *c) {
    return c->n_sources >= LEAST_SOURCES && !*c->options.at;
}

/* Notes sources of which the image has a part, and those that may be none. */
static void note_cut_sources(const struct messages *messages, const struct srcfind_catalogue *c) {
    const struct srcfind_quality *q = &c->quality;
    if (has_sources(c) && q->edge_or_single > MOST_CUT)
        messages_note(messages,
                      "%s: %lld of %lld sources touch the edge or a blank pixel (%lld) or are one "
                      "pixel (%lld): %s",
                      messages->image, count_of(q->edge_or_single, c), (long long)c->n_sources,
                      count_of(q->edge, c), count_of(q->single_pixel, c),
                      q->edge >= q->single_pixel
                          ? "part of their flux may be missing: search a larger image, or one "
                            "with fewer blanks"
                          : "they may be spikes of noise, or the beam too narrow for the pixels: "
                            "--min-pixels leaves small ones out");
}

static void note_narrow(const struct messages *messages, const struct srcfind_catalogue *c) {
    const struct srcfind_beam *beam = &c->image.beam;
    if (has_sources(c) && c->quality.narrow > MOST_NARROW)
        messages_note(messages,
                      "%s: %lld of %lld sources are narrower than the beam of %.4g x %.4g arcsec, "
                      "which may not be the image's: --beam gives another one",
                      messages->image, count_of(c->quality.narrow, c), (long long)c->n_sources,
                      3600 * beam->major, 3600 * beam->minor);
}

static void note_residual(const struct messages *messages, const struct srcfind_catalogue *c) {
    if (has_sources(c) && c->quality.high_residual > MOST_RESIDUAL)
        messages_note(messages,
                      "%s: the Gaussians of %lld of %lld sources leave more than twice the noise "
                      "in their islands, and do not describe them: --save residual shows where, "
                      "%sa lower --contrast may help",
                      messages->image, count_of(c->quality.high_residual, c),
                      (long long)c->n_sources, c->options.island > 3 ? "a lower --island or " : "");
}

/* Notes planes of other images that have no fluxes, or no frequency. */
static void note_planes(const struct messages *messages, const struct srcfind_catalogue *c) {
    const struct plane_table *t = &c->planes;
    int64_t n_blank = 0, n_without_beam = 0, n_frequencies = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const struct measured_plane *plane = &t->planes[i];
        n_blank += plane->is_blank;
        n_without_beam += !plane->is_blank && !plane->has_beam;
        n_frequencies += isfinite(plane->frequency);
    }
    if (n_blank > 0)
        messages_note(
            messages,
            "%s: %lld of %lld planes of --measure-in are blank, or have one value, and no "
            "fluxes",
            messages->image, (long long)n_blank, (long long)t->n);
    if (n_without_beam > 0 && !isfinite(c->image.beam.major))
        messages_note(messages,
                      "%s: no beam is known of the image, and so not the shapes of its sources, "
                      "which --measure-in needs: --beam gives it",
                      messages->image);
    else if (n_without_beam > 0)
        messages_note(messages,
                      "%s: no beam is known of %lld of %lld planes of --measure-in, which have no "
                      "fluxes: write BMAJ, BMIN and BPA into their headers, or a table BEAMS",
                      messages->image, (long long)n_without_beam, (long long)t->n);
    if (t->n > 1 && n_frequencies == 0)
        messages_note(messages,
                      "%s: no frequency is known of the planes of --measure-in: without an axis "
                      "FREQ or RESTFRQ in their headers there is no spectral index",
                      messages->image);
}

void notes_write(const struct messages *messages, const struct srcfind_catalogue *c) {
    note_sky(messages, &c->image);
    note_positions(messages, c);
    note_unit(messages, &c->image);
    note_flux_unit(messages, c);
    note_beam(messages, c);
    note_beam_cards(messages, &c->image);
    note_zeros(messages, c);
    note_no_local_noise(messages, c);
    note_one_noise(messages, c);
    note_background(messages, c);
    note_left_out(messages, c);
    note_negative(messages, c);
    note_cut_sources(messages, c);
    note_narrow(messages, c);
    note_residual(messages, c);
    note_planes(messages, c);
}
