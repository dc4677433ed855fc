#include "cli/report_row.h"

#include <math.h>
#include <string.h>

#include "cli/clean.h"
#include "cli/messages.h"
#include "cli/outputs.h"
#include "common/format_double.h"
#include "output/result.h"

const char REPORT_HEADER[] =
    "image,status,message,sources,negative,rms_median,background,box,beam,unit,zeros,seconds,"
    "backend,version,options,size,mtime,output_size,output_mtime,catalogue,plane,footprint\n";

void report_format_version(const struct stat *info, char size[REPORT_NUMBER],
                           char time[REPORT_NUMBER]) {
    snprintf(size, REPORT_NUMBER, "%lld", (long long)info->st_size);
    snprintf(time, REPORT_NUMBER, "%lld.%09ld", (long long)info->st_mtim.tv_sec,
             info->st_mtim.tv_nsec);
}

/* Writes a text as a cell, in quotes if a reader needs them. */
static void write_cell(const char *text, FILE *stream) {
    const size_t length = strlen(text);
    const bool is_plain = !text[strcspn(text, ",\"\r\n")] && *text != ' ' && *text != '\t' &&
                          (length == 0 || (text[length - 1] != ' ' && text[length - 1] != '\t'));
    if (is_plain) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++)
        fprintf(stream, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', stream);
}

/* Writes a cell and a comma before it; nothing for a number that is not finite. */
static void write_real(double value, FILE *stream) {
    char text[FORMAT_TEXT] = "";
    if (isfinite(value))
        format_double(value, text);
    fprintf(stream, ",%s", text);
}

/* The rms that was used, at its median; NaN where it comes from a map. */
static double rms_of(const struct result *c) {
    return *c->options.rms_map        ? (double)NAN
           : c->options.noise.rms > 0 ? c->options.noise.rms
           : c->background.box > 0    ? c->background.rms_median
                                      : c->background.rms;
}

static double background_of(const struct result *c) {
    return *c->options.background_map           ? (double)NAN
           : isnan(c->options.noise.background) ? c->background.median
                                                : c->options.noise.background;
}

/* Writes what a search found: from `sources` to `zeros`. */
static void write_results(const struct result *c, FILE *stream) {
    fprintf(stream, ",%lld", (long long)c->sources.n);
    if (c->options.negative)
        fprintf(stream, ",%lld", (long long)c->sources.n_negative);
    else
        fputc(',', stream);
    write_real(rms_of(c), stream);
    write_real(background_of(c), stream);
    if (c->background.box > 0)
        fprintf(stream, ",\"%lld,%lld\"", (long long)c->background.box,
                (long long)c->background.step);
    else
        fputc(',', stream);
    if (*c->image.beam_source)
        fprintf(stream, ",\"%.7g,%.7g,%.7g\",", 3600 * c->image.beam.major,
                3600 * c->image.beam.minor, c->image.beam.angle);
    else
        fputs(",,", stream);
    write_cell(c->image.unit, stream);
    write_real(c->quality.zeros, stream);
}

/* Writes a comma and the corners of the image, as lon lat lon lat ...; nothing after the comma
 * where one of them is not on the sky. */
static void write_footprint(const struct result *c, FILE *stream) {
    char text[FORMAT_TEXT];
    bool is_known = c;
    fputc(',', stream);
    for (int i = 0; is_known && i < 8; i++)
        is_known = isfinite(c->origin.footprint[i]);
    for (int i = 0; is_known && i < 8; i++) {
        snprintf(text, sizeof text, "%.6f", c->origin.footprint[i]);
        fprintf(stream, "%s%s", i ? " " : "", format_point(text));
    }
}

void report_row_write(const struct report_row *row, const char *digest, FILE *stream) {
    const struct target *target = row->target;
    const char *plane = target_plane_name(target);
    char size[REPORT_NUMBER] = "", time[REPORT_NUMBER] = "";
    char output_size[REPORT_NUMBER] = "", output_time[REPORT_NUMBER] = "";
    const struct clean message = clean_text(messages_without_path(row->message, target->image));
    const char *catalogue = target_catalogue(target);
    struct stat info;
    if (row->result) {
        info.st_size = row->result->origin.version.size;
        info.st_mtim = row->result->origin.version.time;
    }
    if (row->result || stat(target->image, &info) == 0)
        report_format_version(&info, size, time);
    if (row->result && outputs_version(target, &info))
        report_format_version(&info, output_size, output_time);
    write_cell(target->image, stream);
    fprintf(stream, ",%s,", row->status);
    write_cell(message.text, stream);
    if (row->result)
        write_results(row->result, stream);
    else
        fputs(",,,,,,,,", stream);
    fprintf(stream, ",%.3f,%s,%s,%s,%s,%s,%s,%s,", row->seconds,
            row->result ? row->result->run.backend : "", SRCFIND_VERSION, digest, size, time,
            output_size, output_time);
    write_cell(catalogue ? catalogue : "", stream);
    fputc(',', stream);
    write_cell(plane ? plane : "", stream);
    write_footprint(row->result, stream);
    fputc('\n', stream);
}
