#include "cli/summary.h"

#include <math.h>
#include <string.h>

#include "cli/clean.h"
#include "common/plural.h"
#include "output/catalogue.h"

/* The least share of the pixels left out of the boxes that the summary tells. */
static const double TOLD_SHARE = 0.01;

static void write_stages(const struct messages *messages, const struct srcfind_catalogue *c,
                         double write_seconds) {
    const struct srcfind_timings *t = srcfind_catalogue_timings(c);
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    fprintf(messages->stream,
            "srcfind: %s: open %.2f ms, start %.2f ms, transfer %.2f ms, scan %.2f ms, clip %.2f "
            "ms (%s, %d round%s, %lld of %lld "
            "pixels kept), islands %.2f ms, correlation %.2f ms, measure %.2f ms, artefacts %.2f "
            "ms, psf %.2f ms, smooth %.2f ms, planes %.2f ms, completeness %.2f ms, describe %.2f "
            "ms, write %.2f ms\n",
            clean_text(messages->image).text, 1e3 * t->open, 1e3 * t->start, 1e3 * t->transfer,
            1e3 * t->scan, 1e3 * t->clip, t->clip_method, b->rounds, plural(b->rounds),
            (long long)b->n_kept, (long long)(b->n_pixels - b->n_blank), 1e3 * t->islands,
            1e3 * t->correlation, 1e3 * t->measure, 1e3 * t->artefacts, 1e3 * t->psf,
            1e3 * t->smooth, 1e3 * t->planes, 1e3 * t->completeness, 1e3 * t->describe,
            1e3 * write_seconds);
}

/* Writes the shape of the image, and its HDU and plane where the file has several. */
static void write_shape(const struct result *result, FILE *stream) {
    const struct srcfind_image *image = &result->image;
    char planes[OPTIONS_TEXT];
    bool cube = false;
    for (int i = 2; i < image->n_axes; i++)
        cube = cube || image->axes[i] > 1;
    fprintf(stream, ", %lld x %lld pixels", (long long)image->width, (long long)image->height);
    if (image->hdu > 0)
        fprintf(stream, " of HDU %d", image->hdu);
    if (image->hdu > 0 && *image->hdu_name)
        fprintf(stream, " (%s)", image->hdu_name);
    if (result->options.image.plane.mean_first > 0)
        fprintf(stream, ", plane %s", options_get(&result->options, "plane", planes));
    else
        for (int i = 2; cube && i < image->n_axes; i++)
            fprintf(stream, "%s%lld", i == 2 ? ", plane " : ",", (long long)image->plane[i - 2]);
    for (int i = 2; cube && i < image->n_axes; i++)
        fprintf(stream, "%s%lld", i == 2 ? " of " : ",", (long long)image->axes[i]);
}

static void write_beam(const struct srcfind_image *image, FILE *stream) {
    if (*image->beam_source)
        fprintf(stream, ", beam %.4g x %.4g arcsec", 3600 * image->beam.major,
                3600 * image->beam.minor);
    else
        fputs(", no beam", stream);
}

/* Why the clip gave no noise. */
static void write_no_noise(const struct srcfind_background *b, FILE *stream) {
    if (b->rms != 0)
        fprintf(stream,
                ", no noise to measure: --kappa too small, no pixel is so close to the median");
    else
        fprintf(stream, ", no noise to measure: the clip leaves pixels of one value only, %g",
                b->median);
    if (b->rms == 0 && b->n_kept < b->n_pixels) /* enough digits for a float */
        fprintf(stream, " (if they are padding: --blank %.9g)", b->median);
}

/* Writes the rms that was used; `unit` follows, if the background has no number for it to follow.
 */
static void write_rms(const struct srcfind_catalogue *c, bool local, const char *unit,
                      FILE *stream) {
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    if (*c->table.of->options.rms_map) {
        fputs(", rms from the map", stream);
        return;
    }
    if (c->table.of->options.noise.rms > 0)
        fprintf(stream, ", rms %.4g (given)", c->table.of->options.noise.rms);
    else if (local)
        fprintf(stream, ", rms %.4g to %.4g (median %.4g)", b->rms_least, b->rms_most,
                b->rms_median);
    else
        fprintf(stream, ", rms %.4g", b->rms);
    fputs(unit, stream);
}

/* Writes the noise that was used. */
static void write_noise(const struct srcfind_catalogue *c, FILE *stream) {
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    const char *name = srcfind_catalogue_image(c)->unit;
    const bool given_rms = c->table.of->options.noise.rms > 0 || *c->table.of->options.rms_map;
    const bool given_background = !isnan(c->table.of->options.noise.background), local = b->box > 0;
    const bool local_background = local || *c->table.of->options.background_map;
    char unit[SRCFIND_TEXT + 1];
    snprintf(unit, sizeof unit, " %s", *name ? name : "(no unit)");
    if (b->empty && !(local && isfinite(b->rms_most)) && !given_rms) {
        write_no_noise(b, stream);
        return;
    }
    write_rms(c, local, given_background || !local_background ? "" : unit, stream);
    if (given_background)
        fprintf(stream, ", background %.4g (given)%s", c->table.of->options.noise.background, unit);
    else if (*c->table.of->options.background_map)
        fputs(", background from the map", stream);
    else if (!local)
        fprintf(stream, ", median %.4g%s", b->median, unit);
    if (local && !(given_rms && (given_background || *c->table.of->options.background_map)))
        fprintf(stream, ", %sin boxes of %lld pixels every %lld", given_rms ? "background " : "",
                (long long)b->box, (long long)b->step);
    if (b->share_excluded > TOLD_SHARE)
        fprintf(stream, ", without bright wide islands (%.2g%% of the pixels)",
                100 * b->share_excluded);
}

static void write_run(const struct srcfind_run *run, double seconds, FILE *stream) {
    if (*run->device)
        fprintf(stream, ", %.1f ms on the GPU (%s; %s)\n", 1e3 * seconds, run->reason, run->device);
    else
        fprintf(stream, ", %.1f ms on the CPU (%s; %d thread%s)\n", 1e3 * seconds, run->reason,
                run->threads, plural(run->threads));
}

/* Writes how many entries of the list have a row without a flux. */
static void write_empty(const struct srcfind_catalogue *c, FILE *stream) {
    int64_t n = 0;
    for (int64_t i = 0; i < c->table.of->sources.n; i++)
        n += (c->table.of->sources.rows[i].flags & SRCFIND_FLAG_OUTSIDE) != 0;
    if (n > 0)
        fprintf(stream, " (%lld %son a blank pixel)", (long long)n,
                c->table.of->options.at_all ? "outside of the image or " : "");
}

/* Writes how many of the rows the list of positions lacks. */
static void write_found(const struct srcfind_catalogue *c, FILE *stream) {
    const struct sources *s = &c->table.of->sources;
    if (c->table.of->options.at_search)
        fprintf(stream, ", %lld of them not in the list", (long long)(s->n - s->n_entries));
}

/* Writes how many rows there are, and how many of them are of a special kind. */
static void write_size(const struct messages *messages, const struct srcfind_catalogue *c) {
    const int64_t n = srcfind_catalogue_size(c);
    fprintf(messages->stream, "%lld %s%s", (long long)n, messages->row, plural(n));
    if (c->table.of->options.negative)
        fprintf(messages->stream, ", %lld of them negative",
                (long long)srcfind_catalogue_negatives(c));
    if (*c->table.of->options.at) {
        write_found(c, messages->stream);
        write_empty(c, messages->stream);
    }
}

void summary_write(const struct messages *messages, const struct srcfind_catalogue *c,
                   double seconds, double write_seconds) {
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    FILE *stream = messages->stream;
    if (messages->quiet)
        return;
    fprintf(stream, "srcfind: %s: ", clean_text(messages->image).text);
    write_size(messages, c);
    write_noise(c, stream);
    write_beam(image, stream);
    if (!*image->lon_name)
        fputs(", no sky coordinates", stream);
    write_shape(c->table.of, stream);
    write_run(srcfind_catalogue_run(c), seconds, stream);
    if (messages->verbose)
        write_stages(messages, c, write_seconds);
}
