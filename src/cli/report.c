#include "cli/report.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/plural.h"
#include "input/units.h"
#include "options/options.h"

enum { MOST_PATH = 50 };

struct report report_for(const struct cli *cli) {
    return (struct report){
        .quiet = cli->quiet,
        .verbose = cli->verbose,
        .local = cli->local,
        .rms_map = cli->rms_map,
        .progress = cli->progress == PROGRESS_ALWAYS ||
                    (cli->progress == PROGRESS_AUTO && !cli->quiet && isatty(STDERR_FILENO)),
        .stream = stderr,
    };
}

void report_clear(struct report *report) {
    if (report->drawn)
        fputs("\r\033[K", stderr);
    report->drawn = false;
}

void report_text(struct report *report, const char *text) {
    report_clear(report);
    fputs(text, stderr);
}

/* Replaces control characters by `?`: a path may contain any, and they would break the line or
 * control the terminal. */
static void make_clean(char *text) {
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = '?';
}

struct clean {
    char text[PATH_MAX];
};

static struct clean clean(const char *text) {
    struct clean c;
    snprintf(c.text, sizeof c.text, "%s", text);
    make_clean(c.text);
    return c;
}

void report_error(const struct report *report, const char *format, ...) {
    char text[PATH_MAX + 1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_clean(text);
    fprintf(report->stream, "srcfind: %s\n", text);
}

int report_written(const struct report *report, bool made) {
    if (made && fflush(stdout) == 0)
        return EXIT_OK;
    report_error(report, "standard output: %s", strerror(made ? errno : ENOMEM));
    return EXIT_IMAGE;
}

void report_next(struct report *report, int64_t i, int64_t n, const char *path) {
    if (!report->progress)
        return;
    const struct clean shown = clean(path);
    const size_t length = strlen(shown.text);
    const bool cut = length > MOST_PATH; /* a line that wraps could not be cleared */
    report_clear(report);
    fprintf(stderr, "[%lld/%lld] %s%s", (long long)i + 1, (long long)n, cut ? "..." : "",
            cut ? shown.text + length - MOST_PATH : shown.text);
    fflush(stderr);
    report->drawn = true;
}

static void report_stages(const struct srcfind_catalogue *c, FILE *stream) {
    const struct srcfind_timings *t = srcfind_catalogue_timings(c);
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    fprintf(stream,
            "srcfind: %s: open %.2f ms, start %.2f ms, transfer %.2f ms, scan %.2f ms, clip %.2f "
            "ms (%s, %d round%s, %lld of %lld "
            "pixels kept), islands %.2f ms, measure %.2f ms\n",
            clean(srcfind_catalogue_image(c)->path).text, 1e3 * t->open, 1e3 * t->start,
            1e3 * t->transfer, 1e3 * t->scan, 1e3 * t->clip, t->clip_method, b->rounds,
            plural(b->rounds), (long long)b->n_kept, (long long)(b->n_pixels - b->n_blank),
            1e3 * t->islands, 1e3 * t->measure);
}

/* Writes the shape of the image, and its HDU and plane where the file has several. */
static void write_shape(const struct srcfind_image *image, FILE *stream) {
    bool cube = false;
    for (int i = 2; i < image->n_axes; i++)
        cube = cube || image->axes[i] > 1;
    fprintf(stream, ", %lld x %lld pixels", (long long)image->width, (long long)image->height);
    if (image->hdu > 0)
        fprintf(stream, " of HDU %d", image->hdu);
    if (image->hdu > 0 && *image->hdu_name)
        fprintf(stream, " (%s)", image->hdu_name);
    for (int i = 2; cube && i < image->n_axes; i++)
        fprintf(stream, "%s%lld", i == 2 ? ", plane " : ",", (long long)image->plane[i - 2]);
}

static void write_beam(const struct srcfind_image *image, FILE *stream) {
    if (*image->beam_source)
        fprintf(stream, ", beam %.4g x %.4g arcsec", 3600 * image->beam.major,
                3600 * image->beam.minor);
    else
        fputs(", no beam", stream);
}

static void write_noise(const struct srcfind_catalogue *c, bool rms_map, FILE *stream) {
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    const char *unit = srcfind_catalogue_image(c)->unit;
    if (rms_map)
        fputs(", rms from the map", stream);
    else if (b->box > 0 && isfinite(b->rms_most))
        fprintf(stream, ", rms %.4g to %.4g (median %.4g) %s, in boxes of %lld pixels every %lld",
                b->rms_least, b->rms_most, b->rms_median, *unit ? unit : "(no unit)",
                (long long)b->box, (long long)b->step);
    else if (!b->empty)
        fprintf(stream, ", rms %.4g, median %.4g %s", b->rms, b->median,
                *unit ? unit : "(no unit)");
    else if (b->rms == 0)
        fprintf(stream, ", no noise to measure: the clip leaves pixels of one value only, %g",
                b->median);
    else
        fprintf(stream,
                ", no noise to measure: --kappa too small, no pixel is so close to the median");
}

static void warn_of_unit(const struct srcfind_image *image, FILE *stream) {
    if (units_is_ambiguous(image->unit))
        fprintf(stream,
                "srcfind: %s: the unit %s may be MJy or mJy: fluxes are not converted to Jy; "
                "write one of them to BUNIT\n",
                clean(image->path).text, clean(image->unit).text);
}

static void warn_of_beam(const struct srcfind_catalogue *c, FILE *stream) {
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    const double n_pixels = (double)srcfind_catalogue_background(c)->n_pixels;
    const char *wrong = image->beam_pixels > n_pixels ? "larger than the image"
                        : image->beam_pixels < 1      ? "smaller than a pixel"
                                                      : NULL;
    if (wrong)
        fprintf(stream,
                "srcfind: %s: the beam is %s: are BMAJ, BMIN and CDELT1, CDELT2 in degrees?\n",
                clean(image->path).text, wrong);
}

static void warn_of_size(const struct srcfind_catalogue *c, FILE *stream) {
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    if (srcfind_catalogue_background(c)->box == 0)
        fprintf(stream,
                "srcfind: %s: the image is too small for local noise, one rms is used: boxes have "
                "48 pixels at least, and at most half of its shorter side; --rms-box sets another "
                "size\n",
                clean(image->path).text);
}

static void write_run(const struct srcfind_run *run, double seconds, FILE *stream) {
    if (*run->device)
        fprintf(stream, ", %.1f ms on the GPU (%s; %s)\n", 1e3 * seconds, run->reason, run->device);
    else
        fprintf(stream, ", %.1f ms on the CPU (%s; %d thread%s)\n", 1e3 * seconds, run->reason,
                run->threads, plural(run->threads));
}

void report_image(const struct report *report, const struct srcfind_catalogue *c, double seconds) {
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    const int64_t n_sources = srcfind_catalogue_size(c);
    FILE *stream = report->stream;
    if (report->quiet)
        return;
    fprintf(stream, "srcfind: %s: %lld source%s", clean(image->path).text, (long long)n_sources,
            plural(n_sources));
    write_noise(c, report->rms_map, stream);
    write_beam(image, stream);
    if (!*image->lon_name)
        fputs(", no sky coordinates", stream);
    write_shape(image, stream);
    write_run(srcfind_catalogue_run(c), seconds, stream);
    warn_of_unit(image, stream);
    warn_of_beam(c, stream);
    if (report->local)
        warn_of_size(c, stream);
    if (report->verbose)
        report_stages(c, stream);
}

void report_skipped(const struct report *report, const char *path, const char *catalogue) {
    if (report->quiet)
        return;
    fprintf(report->stream, "srcfind: %s: skipped, since %s is already there\n", clean(path).text,
            clean(catalogue).text);
}

void report_given_up(struct report *report, int64_t n) {
    report_clear(report);
    if (n > 0)
        report_error(report, "%lld more image%s not searched: the device cannot be used",
                     (long long)n, n == 1 ? " was" : "s were");
}

void report_totals(struct report *report, const struct totals *t) {
    report_clear(report);
    if (report->quiet || t->images < 2)
        return;
    fprintf(stderr, "srcfind: %lld images: %lld sources, %lld failed, %lld skipped, %.3f s\n",
            (long long)t->images, (long long)t->sources, (long long)t->failed,
            (long long)t->skipped, t->seconds);
}
