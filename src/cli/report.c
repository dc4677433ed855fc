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
#include "options/options.h"
#include "output/catalogue.h"

enum { MOST_PATH = 50 };

struct report report_for(const struct cli *cli) {
    return (struct report){
        .quiet = cli->quiet,
        .verbose = cli->verbose,
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

__attribute__((format(printf, 2, 0))) static void write_line(const struct report *report,
                                                             const char *format, va_list args) {
    char text[2 * PATH_MAX + 1024];
    vsnprintf(text, sizeof text, format, args);
    make_clean(text);
    fprintf(report->stream, "srcfind: %s\n", text);
}

void report_error(const struct report *report, const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line(report, format, args);
    va_end(args);
}

void report_note(const struct report *report, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!report->quiet)
        write_line(report, format, args);
    va_end(args);
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

/* Why the clip gave no noise. */
static void write_no_noise(const struct srcfind_background *b, FILE *stream) {
    if (b->rms == 0)
        fprintf(stream, ", no noise to measure: the clip leaves pixels of one value only, %g",
                b->median);
    else
        fprintf(stream,
                ", no noise to measure: --kappa too small, no pixel is so close to the median");
}

/* Writes the rms that was used; `unit` follows, if the background has no number for it to follow.
 */
static void write_rms(const struct srcfind_catalogue *c, bool local, const char *unit,
                      FILE *stream) {
    const struct srcfind_background *b = srcfind_catalogue_background(c);
    if (*c->options.rms_map) {
        fputs(", rms from the map", stream);
        return;
    }
    if (c->options.rms > 0)
        fprintf(stream, ", rms %.4g (given)", c->options.rms);
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
    const bool given_rms = c->options.rms > 0 || *c->options.rms_map;
    const bool given_background = !isnan(c->options.background), local = b->box > 0;
    const bool local_background = local || *c->options.background_map;
    char unit[SRCFIND_TEXT + 1];
    snprintf(unit, sizeof unit, " %s", *name ? name : "(no unit)");
    if (b->empty && !(local && isfinite(b->rms_most)) && !given_rms) {
        write_no_noise(b, stream);
        return;
    }
    write_rms(c, local, given_background || !local_background ? "" : unit, stream);
    if (given_background)
        fprintf(stream, ", background %.4g (given)%s", c->options.background, unit);
    else if (*c->options.background_map)
        fputs(", background from the map", stream);
    else if (!local)
        fprintf(stream, ", median %.4g%s", b->median, unit);
    if (local && !(given_rms && (given_background || *c->options.background_map)))
        fprintf(stream, ", %sin boxes of %lld pixels every %lld", given_rms ? "background " : "",
                (long long)b->box, (long long)b->step);
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
    const int64_t n_negative = srcfind_catalogue_negatives(c);
    FILE *stream = report->stream;
    if (report->quiet)
        return;
    fprintf(stream, "srcfind: %s: %lld source%s", clean(image->path).text, (long long)n_sources,
            plural(n_sources));
    if (c->options.negative)
        fprintf(stream, ", %lld negative", (long long)n_negative);
    write_noise(c, stream);
    write_beam(image, stream);
    if (!*image->lon_name)
        fputs(", no sky coordinates", stream);
    write_shape(image, stream);
    write_run(srcfind_catalogue_run(c), seconds, stream);
    if (report->verbose)
        report_stages(c, stream);
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
