/* How notes are made:
 *
 * In: a result that is otherwise complete, and the maps that the user gave. Out: result->notes,
 * texts that each end with a NUL.
 * Each function compares members of the result with a limit below, and writes a note if one looks
 * wrong. The note says what is wrong, and which option or which card of the header cures it.
 * write_notes has the order: header, pixels, noise, scales, sources, planes, injected sources.
 *
 * Numbers always have a decimal point, whatever locale the program has set. No pixel is read here:
 * quality.c has taken its figures from a sample, and has counted rows. Notes change no row. */
#define _GNU_SOURCE /* newlocale */
#include "api/notes.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "api/quality.h"
#include "api/unmeasured.h"
#include "common/plural.h"
#include "common/text_stream.h"
#include "common/texts.h"
#include "input/units.h"

/* Limits: pixels, noise or sources above them look wrong, and a beam below its limit. */
static const double MOST_ZEROS = 0.01, MOST_SPREAD = 1.5, MOST_NEGATIVE = 0.1, LEAST_BEAM = 2;
static const double LEAST_BOX = 5;         /* beams */
static const double WIDEST_DEFAULT = 8;    /* of the scales of --scales without a list, beams */
static const double LEAST_LEFT = 0.1;      /* of the pixels, with a mask */
static const double MOST_RANGE = 2;        /* of the background, in rms */
static const double MOST_UNMEASURED = 0.1; /* of what is measured */
static const double MOST_CUT = 0.25, MOST_NARROW = 0.25, MOST_RESIDUAL = 0.1;
static const double MOST_OTHER_AREA = 0.05; /* of points, beside the beam's */
static const double MOST_MISSING = 0.1;     /* of the image, in the file of --psf */
enum { LEAST_SOURCES = 8 };                 /* fewer give no useful shares */

/* Writes a note and the NUL at its end. */
__attribute__((format(printf, 2, 3))) static void note(FILE *stream, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stream, format, args);
    va_end(args);
    fputc('\0', stream);
}

static void note_sky(FILE *stream, const struct srcfind_image *image) {
    if (*image->no_sky)
        note(stream, "no sky coordinates: %s", image->no_sky);
}

static void note_distortion(FILE *stream, const struct srcfind_image *image) {
    if (*image->lon_name && *image->distortion)
        note(stream, "%s", image->distortion);
}

static void note_positions(FILE *stream, const struct result *r) {
    const char *row = *r->options.at ? "position" : "source";
    const int64_t n = *r->image.lon_name ? r->numbers.off_sky : 0;
    if (n > 0)
        note(stream,
             "%lld of %lld %s%s %s no position on the sky, beyond the edge of the "
             "projection: are the coordinates of the header right?",
             (long long)n, (long long)r->sources.n, row, plural(r->sources.n),
             n == 1 ? "has" : "have");
}

/* Notes which shapes of a catalogue are taken as they are, or are not read, and that they are too
 * wide: those of a model, or of injected sources. */
static void note_shapes(FILE *stream, const char *path, const struct told_shapes *told,
                        int64_t n_too_wide) {
    if (told->are_whole)
        note(stream,
             "%s has Maj, Min and PA but no DC_Maj: these are used as sizes in this image, beam "
             "included",
             path);
    else if (told->are_not_read)
        note(stream,
             "%s has Maj, but neither Min and PA nor DC_Maj, DC_Min and DC_PA: its sources are "
             "treated as points",
             path);
    if (n_too_wide > 0 && told->major)
        note(stream, "%lld entr%s of %s %s wider than the image: is %s in %s?",
             (long long)n_too_wide, n_too_wide == 1 ? "y" : "ies", path,
             n_too_wide == 1 ? "has a shape" : "have shapes", told->major, told->unit);
}

/* A number to two digits. */
static double two_digits(double x) {
    const double unit = pow(10, floor(log10(x)) - 1);
    return round(x / unit) * unit;
}

/* Notes that most bright entries of a model are far brighter or fainter than the image. */
static void note_peaks(FILE *stream, const struct result *r) {
    enum { LEAST_PEAKS = 3 };
    const struct peaks_compared *peaks = &r->sources.left_out.peaks;
    for (int k = 0; k < 2; k++)
        if (peaks->n_seen >= LEAST_PEAKS && 2 * peaks->n_seen > peaks->n_bright &&
            2 * peaks->n[k] > peaks->n_seen)
            note(stream,
                 "the fluxes of %s are about %.9g times the fluxes of the image at these "
                 "positions: are they in %s?",
                 r->options.at, two_digits(pow(10, peaks->sum[k] / (double)peaks->n[k])),
                 *r->image.flux_unit ? r->image.flux_unit : "the unit of the image");
}

/* Notes what a model lacks of the catalogue that it is of. */
static void note_model(FILE *stream, const struct result *r) {
    const int64_t n_sums = r->sources.left_out.sums;
    int64_t n = 0;
    if (!r->options.at_fixed)
        return;
    for (int64_t i = 0; i < r->sources.n; i++)
        n += (r->sources.rows[i].flags & SRCFIND_FLAG_NOT_FITTED) != 0;
    note_peaks(stream, r);
    note_shapes(stream, r->options.at, &r->sources.left_out.told, r->sources.left_out.too_wide);
    if (n > 0)
        note(stream, "%lld of %lld entries of %s %s no flux or no Gaussian, and %s in the model",
             (long long)n, (long long)r->sources.n, r->options.at, n == 1 ? "has" : "have",
             n == 1 ? "is not" : "are not");
    if (n_sums > 0)
        note(stream,
             "%lld entr%s of %s %s several Gaussians (S_Code M), but the model has one Gaussian "
             "for each entry: give --at the table that --save gaussians writes",
             (long long)n_sums, n_sums == 1 ? "y" : "ies", r->options.at,
             n_sums == 1 ? "has" : "have");
}

/* Notes how many entries of the list have no row. */
static void note_entries(FILE *stream, const struct result *r) {
    const int64_t outside = r->sources.left_out.outside, nowhere = r->sources.left_out.nowhere;
    const int64_t n = outside + nowhere + r->sources.n;
    char words[128] = "";
    if (outside + nowhere == 0)
        return;
    if (outside > 0)
        snprintf(words, sizeof words, "%lld %s outside of the image%s", (long long)outside,
                 outside == 1 ? "is" : "are", nowhere > 0 ? " and " : "");
    if (nowhere > 0)
        texts_append(words, sizeof words, "%lld %s no position", (long long)nowhere,
                     nowhere == 1 ? "has" : "have");
    note(stream, "of %lld entr%s %s: --at-all adds %s", (long long)n, n == 1 ? "y" : "ies", words,
         outside + nowhere == 1 ? "its row" : "their rows");
}

static void note_unit(FILE *stream, const struct srcfind_image *image) {
    if (units_is_ambiguous(image->unit))
        note(stream,
             "the unit %s may be MJy or mJy: fluxes are not converted to Jy; write one "
             "of them to BUNIT",
             image->unit);
}

/* Whether a unit is a multiple of one of these units, a list that ends with NULL. */
static bool is_one_of(const char *unit, const char *const *units) {
    double factor;
    while (*units && !units_conform(unit, *units, &factor))
        units++;
    return *units;
}

/* What the user can do to get fluxes in Jy. */
static const char *cure_of(const struct srcfind_image *image) {
    static const char *const beams[] = {"Jy/beam", "Jy/beam.km/s", NULL};
    static const char *const areas[] = {"Jy/sr", "Jy/deg2", "Jy/sr.km/s", "Jy/deg2.km/s", NULL};
    if (!*image->unit)
        return *image->beam_source ? "there is no BUNIT; write it, such as Jy/beam"
                                   : "there is no BUNIT; write it, such as Jy/beam, and add --beam";
    if (is_one_of(image->unit, beams) && image->beam_row_is_missing)
        return "the BEAMS table has no usable row of this plane; --beam gives the beam";
    if (is_one_of(image->unit, beams) && !*image->beam_source)
        return "no beam is known; --beam gives it";
    if (is_one_of(image->unit, beams) || is_one_of(image->unit, areas))
        return "without sky coordinates the area of a pixel is not known";
    return "write BUNIT as a multiple of Jy/beam, Jy/pixel or Jy/sr, if it is one";
}

/* Notes that fluxes are not in Jy. An image with neither unit, beam nor sky gets no such note. */
static void note_flux_unit(FILE *stream, const struct result *r) {
    const struct srcfind_image *image = &r->image;
    const char *unit = *image->unit ? image->flux_unit : "the unit of the pixels";
    if (r->sources.n == 0 || (!*image->unit && !*image->beam_source && !*image->lon_name) ||
        units_is_ambiguous(image->unit) || strcmp(image->flux_unit, "Jy") == 0 ||
        strcmp(image->flux_unit, "Jy km/s") == 0)
        return;
    note(stream, "fluxes are in %s, not in Jy: %s", unit, cure_of(image));
}

static void note_beam(FILE *stream, const struct result *r) {
    const double n_pixels = (double)(r->image.axes[0] * r->image.axes[1]); /* of the whole image */
    const char *wrong = r->image.beam_pixels > n_pixels ? "larger than the image"
                        : r->image.beam_pixels < 1      ? "smaller than a pixel"
                                                        : NULL;
    if (wrong)
        note(stream, "the beam is %s: are BMAJ, BMIN and CDELT1, CDELT2 in degrees?", wrong);
    else if (r->quality.beam_pixels < LEAST_BEAM)
        note(stream,
             "the beam is %.2g pixel%s wide, less than two, and fluxes and sizes are "
             "uncertain: make the image with smaller pixels, or correct the beam with "
             "--beam",
             r->quality.beam_pixels, r->quality.beam_pixels == 1 ? "" : "s");
}

/* Notes a beam of the header whose axes were exchanged, or that the BEAMS table does not have. */
static void note_beam_cards(FILE *stream, const struct srcfind_image *image) {
    const struct srcfind_beam *used = &image->beam, *row = &image->row_beam;
    if (image->beam_is_turned)
        note(stream,
             "the beam's major axis was given as the smaller one: the axes are "
             "exchanged, and the angle is turned by 90 degrees to %g",
             used->angle);
    if (row->major == 0)
        note(stream,
             "the beam of the %s, %.4g x %.4g arcsec at %.4g degrees, is used; the "
             "BEAMS table has no usable beam for this plane: --beam gives another",
             image->beam_source, 3600 * used->major, 3600 * used->minor, used->angle);
    else if (isfinite(row->major))
        note(stream,
             "the beam of the %s, %.4g x %.4g arcsec at %.4g degrees, is used; the "
             "BEAMS table has another one for this plane: --beam %.6g,%.6g,%.6g",
             image->beam_source, 3600 * used->major, 3600 * used->minor, used->angle,
             3600 * row->major, 3600 * row->minor, row->angle);
}

static void note_zeros(FILE *stream, const struct result *r) {
    if (r->quality.zeros > MOST_ZEROS && r->quality.zeros < 1)
        note(stream,
             "some %.0f%% of the pixels are exactly 0: if they are padding, --blank 0 "
             "leaves them out",
             100 * r->quality.zeros);
}

/* Notes a mask that leaves few pixels: a CLEAN mask, which is 1 in sources, makes all others blank.
 */
static void note_mask(FILE *stream, const struct result *r) {
    const struct srcfind_background *b = &r->background;
    const double left = (double)(b->n_pixels - b->n_blank) / (double)b->n_pixels;
    if (*r->options.mask && !r->options.mask_noise && left < LEAST_LEFT)
        note(stream,
             "the mask leaves %.2g%% of the pixels: a mask of --mask is 0 where the image is bad, "
             "but a CLEAN mask is 0 where there is no source",
             100 * left);
}

/* Notes regions that leave nothing of the image to be searched. */
static void note_regions(FILE *stream, const struct result *r) {
    if (r->unsearched && r->unsearched->n_added == r->background.n_pixels)
        note(stream,
             "no pixel is in the regions of %s: nothing is searched; numbers without a frame, "
             "such as fk5, are pixels",
             r->options.mask);
}

/* Notes masks and maps with other sky coordinates than the image: they may be of another image. */
static void note_user_maps(FILE *stream, const struct user_maps *maps) {
    for (int kind = 0; kind < USER_MAP_KINDS; kind++) {
        const struct user_map *map = maps->images[kind];
        if (map && *map->difference)
            note(stream,
                 "--%s %s: its sky coordinates differ from those of the image%s: is it of another "
                 "image?",
                 user_map_option((enum user_map_kind)kind), map->metadata.path, map->difference);
    }
}

/* Notes that local noise was asked for, but there is one noise. */
static void note_no_local_noise(FILE *stream, const struct result *r) {
    const struct options *o = &r->options;
    const bool rms_is_given = o->noise.rms > 0 || *o->rms_map;
    const bool all_is_given = rms_is_given && (!isnan(o->noise.background) || *o->background_map);
    if (o->noise.local && !all_is_given && r->background.box == 0)
        note(stream, "the image is too small for local noise, so one rms is used: a box is at "
                     "least 48 pixels wide, and at most half of the image's shorter side; "
                     "--rms-box sets another size");
    else if (r->noise.no_node_counts && (r->background.rms > 0 || rms_is_given))
        note(stream,
             "every box of %lld pixels is more than three quarters blank, or has no noise: one "
             "%s is used; --rms-box sets another size",
             (long long)r->background.box, rms_is_given ? "background" : "rms");
}

/* Notes one noise for an image whose noise or background differs from place to place. If the
 * background differs, the rms of the image is larger than the rms of its parts. */
static void note_one_noise(FILE *stream, const struct result *r) {
    const struct srcfind_quality *q = &r->quality;
    const char *unit = *r->image.unit ? r->image.unit : "(no unit)";
    if (r->options.noise.local || *r->options.rms_map || r->background.box > 0 ||
        r->options.noise.rms > 0 || r->background.empty)
        return;
    if (q->rms_p90 > MOST_SPREAD * q->rms_p10)
        note(stream,
             "the noise differs from place to place, from %.2g to %.2g %s: --survey "
             "measures it around each source",
             q->rms_p10, q->rms_p90, unit);
    else if (r->background.rms > MOST_SPREAD * q->rms_p90)
        note(stream,
             "the background differs from place to place: the rms of the whole image is %.2g %s, "
             "the rms of its parts %.2g; --survey measures both around each source",
             r->background.rms, unit, q->rms_p90);
}

/* Notes boxes of --rms-box that are so small that sources fill them. */
static void note_small_boxes(FILE *stream, const struct result *r) {
    const double pixel = sqrt(r->image.pixel_area), box = (double)r->options.noise.rms_box.size;
    const double beams = box * pixel / r->image.beam.major;
    if (box > 0 && beams < LEAST_BOX)
        note(stream,
             "boxes of --rms-box are %.2g beams wide: sources fill them, raise the noise around "
             "themselves, and are missed: take %g beams or more",
             beams, LEAST_BOX);
}

/* Notes that local noise may treat wide emission as background. */
static void note_background(FILE *stream, const struct result *r) {
    const struct srcfind_quality *q = &r->quality;
    const double range = q->background_p90 - q->background_p10;
    if (r->options.scales.n == 0 && !*r->options.at && isfinite(r->image.beam.major) &&
        range > MOST_RANGE * r->background.rms_median)
        note(stream,
             "the local background differs by %.1f rms from place to place: it may contain "
             "emission wider than half a box; --scales finds such emission",
             range / r->background.rms_median);
}

static void note_left_out(FILE *stream, const struct result *r) {
    if (r->quality.widest_left_out > 0)
        note(stream,
             "scales whose kernels are wider than half of the image's shorter side, up to "
             "%g beams, are left out: search a larger image for these",
             r->quality.widest_left_out);
}

/* Whether the widest scale is wider than the default ones, and has no row: a wider one would not
 * find more, either. */
static bool is_wide_scale_empty(const struct result *r) {
    const double widest = r->options.scales.fwhm[r->options.scales.n - 1];
    for (int64_t i = 0; i < r->sources.n; i++)
        if (r->sources.rows[i].scale == widest)
            return false;
    return widest > WIDEST_DEFAULT;
}

/* Notes emission that scales have left in the background. */
static void note_unmeasured(FILE *stream, const struct result *r) {
    const struct srcfind_quality *q = &r->quality;
    if (!(q->unmeasured > MOST_UNMEASURED * q->measured))
        return;
    const double share = q->unmeasured / (q->unmeasured + q->measured);
    const double next = unmeasured_next_scale(r);
    char scales[OPTIONS_TEXT];
    options_get(&r->options, "scales", scales);
    if (!isinf(next) && is_wide_scale_empty(r))
        note(stream,
             "some %.0f%% of the emission is in the background, not in the catalogue: scales up to "
             "%g beams do not find it; --save background shows the emission",
             100 * share, r->options.scales.fwhm[r->options.scales.n - 1]);
    else if (isinf(next))
        note(stream,
             "some %.0f%% of the emission is in the background, not in the catalogue: no wider "
             "scale fits into the image; --save background shows the emission",
             100 * share);
    else
        note(stream,
             "some %.0f%% of the emission is in the background, not in the catalogue: "
             "--scales=%s,%g may find it; --save background shows the emission",
             100 * share, scales, next);
}

/* Notes scales with one noise for the image. Wide sources are then found in the image itself; the
 * fit divides them into pieces, which may lack half of the flux. */
static void note_fragments(FILE *stream, const struct result *r) {
    const bool is_given = *r->options.rms_map || r->options.noise.rms > 0;
    if (r->options.scales.n > 0 && !r->options.noise.local && r->background.box == 0 && !is_given &&
        !r->background.empty)
        note(stream, "with one noise for the image, --scales may divide wide sources into pieces "
                     "that lack up to half of the flux: add --local");
}

static void note_artefacts(FILE *stream, const struct result *r) {
    const double n = r->quality.artefacts;
    const int64_t n_negative = r->sources.n_negative;
    int64_t n_of_negative = 0;
    for (int64_t i = r->sources.n - n_negative; i < r->sources.n; i++)
        n_of_negative += (r->sources.rows[i].flags & SRCFIND_FLAG_ARTEFACT) != 0;
    char negative[64] = "";
    if (n_negative > 0)
        snprintf(negative, sizeof negative, ", and %lld of %lld negative ones",
                 (long long)n_of_negative, (long long)n_negative);
    if (n + (double)n_of_negative > 0)
        note(stream,
             "%.0f of %lld sources%s may be artefacts of brighter ones (flag 2048): see the column "
             "Hole",
             n, (long long)(r->sources.n - n_negative), negative);
}

/* Notes negative sources. Those of either sign that may be artefacts have a note of their own. */
static void note_negative(FILE *stream, const struct result *r) {
    const int64_t first = r->sources.n - r->sources.n_negative;
    const bool local = r->options.noise.local || r->background.box > 0 || *r->options.rms_map;
    int64_t n[2] = {0, 0}; /* positive, negative */
    for (int64_t i = 0; r->sources.n_negative > 0 && i < r->sources.n; i++)
        n[i >= first] += !(r->sources.rows[i].flags & SRCFIND_FLAG_ARTEFACT);
    if ((double)n[1] > MOST_NEGATIVE * (double)n[0])
        note(stream,
             "%lld negative source%s beside %lld positive, of which %s may be "
             "false: %sa higher --threshold leaves fewer",
             (long long)n[1], plural(n[1]), (long long)n[0], n[1] < n[0] ? "as many" : "all",
             local ? "" : "--local or ");
}

/* The number of sources in a share of all sources. */
static long long count_of(double share, const struct result *r) {
    return llround(share * (double)r->sources.n);
}

/* Whether there are enough sources for shares of them. */
static bool has_sources(const struct result *r) {
    return r->sources.n >= LEAST_SOURCES && !*r->options.at;
}

/* Notes sources that an edge cuts, and single pixels, which may be noise. */
static void note_cut_sources(FILE *stream, const struct result *r) {
    const struct srcfind_quality *q = &r->quality;
    if (!has_sources(r) || !(q->edge_or_single > MOST_CUT))
        return;
    const long long n = count_of(q->edge_or_single, r), n_edge = count_of(q->edge, r);
    const long long n_single = count_of(q->single_pixel, r), n_both = n_edge + n_single - n;
    char both[32] = "";
    if (n_both > 0)
        snprintf(both, sizeof both, " (%lld both)", n_both);
    note(stream,
         "%lld of %lld sources touch the edge or a blank pixel (%lld) or are one "
         "pixel (%lld)%s: %s",
         n, (long long)r->sources.n, n_edge, n_single, both,
         q->edge >= q->single_pixel
             ? "part of their flux may be missing: search a larger image, or one "
               "with fewer blanks"
             : "they may be spikes of noise, or the beam too narrow for the pixels: "
               "--min-pixels leaves small ones out");
}

static void note_narrow(FILE *stream, const struct result *r) {
    const struct srcfind_beam *beam = &r->image.beam;
    if (has_sources(r) && r->quality.narrow > MOST_NARROW && *r->options.psf)
        note(stream, "%lld of %lld sources are narrower than the points of --psf %s",
             count_of(r->quality.narrow, r), (long long)r->sources.n, r->options.psf);
    else if (has_sources(r) && r->quality.narrow > MOST_NARROW)
        note(stream,
             "%lld of %lld sources are narrower than the beam of %.4g x %.4g arcsec, "
             "which may not be the image's: --beam gives another one",
             count_of(r->quality.narrow, r), (long long)r->sources.n, 3600 * beam->major,
             3600 * beam->minor);
}

static void note_residual(FILE *stream, const struct result *r) {
    if (has_sources(r) && r->quality.high_residual > MOST_RESIDUAL)
        note(stream,
             "%lld of %lld fits are poor (Resid_Isl_rms above 2 Isl_rms): %sa lower --contrast may "
             "describe them better; Isl_Total_flux is the flux of the pixels of their islands",
             count_of(r->quality.high_residual, r), (long long)r->sources.n,
             r->options.island > 3 ? "a lower --island or " : "");
}

/* Notes planes of other images that have no fluxes, or no frequency. */
static void note_planes(FILE *stream, const struct result *r) {
    const struct measured_planes *t = &r->planes;
    int64_t n_blank = 0, n_without_beam = 0, n_too_wide = 0, n_frequencies = 0;
    for (int64_t i = 0; i < t->n; i++) {
        const struct measured_plane *plane = &t->planes[i];
        n_blank += plane->is_blank;
        n_without_beam += !plane->is_blank && !plane->has_beam;
        n_too_wide += !plane->is_blank && plane->has_beam && plane->is_too_wide;
        n_frequencies += isfinite(plane->frequency);
    }
    if (n_blank > 0)
        note(stream,
             "%lld of %lld planes of --measure-in have no fluxes: they are blank, or all their "
             "pixels have one value",
             (long long)n_blank, (long long)t->n);
    if (n_without_beam > 0 && !isfinite(r->image.beam.major))
        note(stream, "--measure-in needs the beam of the image for the shapes of the sources, and "
                     "no beam is known: --beam gives it");
    else if (n_without_beam > 0)
        note(stream,
             "%lld of %lld planes of --measure-in have no fluxes, because no beam of theirs is "
             "known: write BMAJ, BMIN and BPA into the headers, or a table BEAMS",
             (long long)n_without_beam, (long long)t->n);
    if (n_too_wide > 0)
        note(stream,
             "%lld of %lld planes of --measure-in have no fluxes, because their beam is wider than "
             "the image: are BMAJ and BMIN in degrees?",
             (long long)n_too_wide, (long long)t->n);
    if (t->n > 1 && n_frequencies == 0)
        note(stream, "the planes of --measure-in have no frequency, so there is no spectral index: "
                     "give their headers an axis FREQ or WAVE, an axis VRAD with RESTFRQ, or, in "
                     "files of one plane, RESTFRQ");
}

/* Notes errors of bright sources, which are far below those of calibration. */
static void note_bright(FILE *stream, const struct result *r) {
    const struct options *o = &r->options;
    const int64_t n = r->numbers.bright;
    if (options_fit(o) && !*o->at && o->flux_error == 0 && o->position_error == 0 && n >= 8)
        note(stream,
             "%lld sources are above %d rms, but their errors are from noise alone: --flux-error "
             "and --position-error add errors of calibration",
             (long long)n, QUALITY_BRIGHT);
}

static bool is_other_area(double area, double other) {
    return fabs(area / other - 1) > MOST_OTHER_AREA;
}

enum { AREAS_TEXT = 128 };

/* Writes the area of points in the middle of the image and at its edges; one number if they are the
 * same. */
static const char *areas_of_points(const struct srcfind_quality *q, char text[AREAS_TEXT]) {
    char middle[32], edges[32];
    snprintf(middle, sizeof middle, "%.2f", q->psf_middle);
    snprintf(edges, sizeof edges, "%.2f", q->psf_edges);
    if (strcmp(middle, edges) == 0)
        snprintf(text, AREAS_TEXT, "%s beams in area", middle);
    else
        snprintf(text, AREAS_TEXT,
                 "%s beams in area in the middle of the image and %s at its edges", middle, edges);
    return text;
}

/* Notes that the points of a file are not those of the image, or are not everywhere. */
static void note_psf_file(FILE *stream, const struct result *r) {
    const struct srcfind_quality *q = &r->quality;
    const struct psf *psf = &r->psf;
    const struct tensor moments =
        psf_at(psf, (double)r->image.width / 2, (double)r->image.height / 2);
    const double middle = psf_area(psf, &moments), edges = psf_area_at_edges(psf);
    char areas[AREAS_TEXT];
    if (psf->missing > MOST_MISSING)
        note(stream, "--psf %s has no ellipse in %.0f%% of the image: the beam is used there",
             r->options.psf, 100 * psf->missing);
    if (q->psf_points >= LEAST_SOURCES &&
        (is_other_area(q->psf_middle, middle) || is_other_area(q->psf_edges, edges)))
        note(stream,
             "points are %s, as %lld isolated bright sources show, but %.2f and %.2f in --psf %s: "
             "is it of this image?",
             areas_of_points(q, areas), (long long)q->psf_points, middle, edges, r->options.psf);
}

/* Notes points that have another shape than the beam, and which shape is taken. */
static void note_psf(FILE *stream, const struct result *r) {
    const struct srcfind_quality *q = &r->quality;
    char areas[AREAS_TEXT];
    const bool is_measured = options_measure_psf(&r->options);
    const bool is_other = is_other_area(q->psf_middle, 1) || is_other_area(q->psf_edges, 1);
    if (r->psf.n_x > 0 && !is_measured)
        note_psf_file(stream, r);
    else if (is_measured && q->psf_points == 0)
        note(stream, "--psf measured: there are too few isolated bright sources, so points have "
                     "the beam's shape");
    else if (is_measured || (q->psf_points >= LEAST_SOURCES && is_other))
        note(stream, "points are %s, as %lld isolated bright sources show%s",
             areas_of_points(q, areas), (long long)q->psf_points,
             is_measured ? "" : ": --psf measured uses this shape for points");
}

/* Notes which sources of a file were not injected. */
static void note_injected(FILE *stream, const struct result *r, int64_t n) {
    const struct injections *list = &r->injections;
    note_shapes(stream, r->options.inject, &list->told, list->n_too_wide);
    if (2 * list->n_on_sources > n)
        note(stream,
             "%lld of %lld injected sources lie on sources of the image and are found anyway, so "
             "completeness is too high: shift the positions",
             (long long)list->n_on_sources, (long long)n);
    if (n == list->n)
        return;
    note(
        stream,
        "%lld of %lld sources of %s were added, in %lld searches: %lld are outside of the image or "
        "on blank pixels, and %lld have no flux above 0 or no shape%s",
        (long long)n, (long long)list->n, r->options.inject, (long long)list->n_trials,
        (long long)list->n_outside, (long long)list->n_faint,
        list->n_unchosen > 0 ? "; --completeness wants no more" : "");
}

/* Notes that injected sources are narrower than a pixel, or that fewer had room than were wanted.
 */
static void note_completeness(FILE *stream, const struct result *r) {
    const struct injections *list = &r->injections;
    const int64_t n_wanted = r->options.completeness * list->n_widths;
    int64_t n = 0;
    for (int64_t i = 0; i < list->n; i++)
        n += list->all[i].is_added;
    if (options_inject(&r->options) && r->quality.beam_pixels < 1)
        note(stream,
             "the beam is %.2g pixels wide, less than one: injected sources fall between pixels, "
             "and the table of --completeness means nothing",
             r->quality.beam_pixels);
    if (*r->options.inject)
        note_injected(stream, r, n);
    else if (n < n_wanted)
        note(stream,
             "%lld of %lld sources of --completeness had room: each of at most 64 searches has one "
             "source per 400 source areas, and none where pixels are blank or have no noise",
             (long long)n, (long long)n_wanted);
}

/* Writes all notes, in the order in which users read them. */
static void write_notes(FILE *stream, const struct result *r, const struct user_maps *maps) {
    note_sky(stream, &r->image);
    note_distortion(stream, &r->image);
    note_positions(stream, r);
    note_entries(stream, r);
    note_model(stream, r);
    note_unit(stream, &r->image);
    note_flux_unit(stream, r);
    note_beam(stream, r);
    note_beam_cards(stream, &r->image);
    note_zeros(stream, r);
    note_mask(stream, r);
    note_regions(stream, r);
    note_user_maps(stream, maps);
    note_no_local_noise(stream, r);
    note_one_noise(stream, r);
    note_small_boxes(stream, r);
    note_background(stream, r);
    note_left_out(stream, r);
    note_fragments(stream, r);
    note_unmeasured(stream, r);
    note_artefacts(stream, r);
    note_negative(stream, r);
    note_cut_sources(stream, r);
    note_narrow(stream, r);
    note_residual(stream, r);
    note_psf(stream, r);
    note_bright(stream, r);
    note_planes(stream, r);
    note_completeness(stream, r);
}

bool notes_make(struct result *result, const struct user_maps *maps) {
    /* A program may have set a locale with a decimal comma. */
    const locale_t numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    struct text text = {0};
    FILE *stream = numbers ? text_stream_open(&text) : NULL;
    if (stream) {
        const locale_t before = uselocale(numbers);
        write_notes(stream, result, maps);
        uselocale(before);
    }
    const bool made = stream && fclose(stream) == 0;
    if (numbers)
        freelocale(numbers);
    result->notes = text.at;
    return made;
}
