#include "cli/bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"
#include "common/plural.h"
#include "options/options_json.h"
#include "output/catalogue.h"

/* The rows of the report, indexed by enum srcfind_stage and then enum measured. */
static const struct row {
    const char *name, *key;
} rows[MEASURED_ROWS] = {
    {"plain read of the pixels", "floor_read"},
    {"copy from pinned memory", "floor_copy"},
    {"scan", "scan"},
    {"clip", "clip"},
    {"islands", "islands"},
    {"search, pixels in memory", "search"},
    {"measure", "measure"},
    {"write the catalogue", "write"},
    {"file to catalogue", "file"},
    {"whole process", "process"},
    {"  of it start and end", "start"},
    {"an image among many", "batch"},
};

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_report_median(double *numbers, int n) {
    qsort(numbers, (size_t)n, sizeof *numbers, compare_numbers);
    return (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
}

enum { QUARTILES_FROM = 5 }; /* quartiles of fewer rounds are not reported */

/* A median, and half of the distance between the quartiles; NaN if unknown. */
struct figure {
    double median, spread;
};

static struct figure figure_of_rounds(const double *seconds, int n) {
    struct figure f = {NAN, NAN};
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        return f;
    memcpy(sorted, seconds, (size_t)n * sizeof *sorted);
    f.median = bench_report_median(sorted, n);
    if (n >= QUARTILES_FROM)
        f.spread = (sorted[3 * (n - 1) / 4] - sorted[(n - 1) / 4]) / 2;
    free(sorted);
    return f;
}

static struct figure figure_of(const struct bench_report *report, int row) {
    const int n = srcfind_bench_rounds(report->bench);
    const double *seconds =
        row < SRCFIND_STAGES ? srcfind_bench_seconds(report->bench, (enum srcfind_stage)row) : NULL;
    if (seconds)
        return figure_of_rounds(seconds, n);
    if (row == MEASURED_PROCESS)
        return (struct figure){report->process_seconds, NAN};
    if (row == MEASURED_START) {
        const double start = report->process_seconds - figure_of(report, SRCFIND_FILE).median;
        return (struct figure){start > 0 ? start : NAN, NAN}; /* negative values are noise */
    }
    return (struct figure){row == MEASURED_BATCH ? report->batch_seconds : NAN, NAN};
}

static double pixels_of(const struct bench_report *report) {
    const struct srcfind_image *image =
        srcfind_catalogue_image(srcfind_bench_catalogue(report->bench));
    return (double)image->width * (double)image->height;
}

static void write_number(double value, int width, int decimals, const char *end, FILE *stream) {
    if (isfinite(value))
        fprintf(stream, "%*.*f%s", width, decimals, value, end);
    else
        fprintf(stream, "%*s%s", width, "", end);
}

/* Limit of spread / median. If rounds differ more, other programs use the cores or the memory, and
 * ratios mean little. */
static const double MOST_SPREAD = 0.25;

static bool is_steady(const struct figure *f) {
    return !(f->spread > MOST_SPREAD * f->median);
}

/* False if a stage that reads all pixels took less time than a plain read of them, less 10%. */
static bool is_possible(int row, const struct figure *f, const struct figure *read) {
    const bool reads_all = row == SRCFIND_SCAN || row == SRCFIND_SEARCH || row == SRCFIND_FILE;
    return !(reads_all && f->median < 0.9 * read->median);
}

/* Writes the ratio of a stage's time to that of a plain read or copy; "void" if not valid. */
static void write_ratio(bool valid, const struct figure *f, const struct figure *floor,
                        FILE *stream) {
    if (valid)
        write_number(f->median / floor->median, 10, 2, "", stream);
    else
        fprintf(stream, "%10s", "void");
}

/* Returns false if a ratio is void. */
static bool write_row(const struct bench_report *report, int row, FILE *stream) {
    const struct figure f = figure_of(report, row), read = figure_of(report, SRCFIND_FLOOR_READ);
    const struct figure copy = figure_of(report, SRCFIND_FLOOR_COPY);
    const bool valid = is_steady(&f) && is_steady(&read) && is_possible(row, &f, &read);
    if (!isfinite(f.median))
        return true;
    fprintf(stream, "  %-26s", rows[row].name);
    write_number(1e3 * f.median, 10, 3, "", stream);
    write_number(100 * f.spread / f.median, 8, 1, "", stream);
    if (row == MEASURED_START) {
        fputc('\n', stream);
        return true;
    }
    write_number(1e-9 * pixels_of(report) / f.median, 10, 3, "", stream);
    write_ratio(valid, &f, &read, stream);
    if (isfinite(copy.median))
        write_ratio(is_steady(&f) && is_steady(&copy), &f, &copy, stream);
    fputc('\n', stream);
    return valid && is_steady(&copy);
}

static void write_text(const struct bench_report *report, FILE *stream) {
    const struct srcfind_catalogue *c = srcfind_bench_catalogue(report->bench);
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    const struct srcfind_run *run = srcfind_catalogue_run(c);
    const bool has_copy = srcfind_bench_seconds(report->bench, SRCFIND_FLOOR_COPY);
    fprintf(stream, "%s: %lld x %lld pixels, %lld source%s; ", image->path, (long long)image->width,
            (long long)image->height, (long long)srcfind_catalogue_size(c),
            plural(srcfind_catalogue_size(c)));
    if (*run->device)
        fprintf(stream, "%s, ", run->device);
    fprintf(stream, "%d CPU thread%s; %d round%s\n", run->threads, plural(run->threads),
            srcfind_bench_rounds(report->bench), plural(srcfind_bench_rounds(report->bench)));
    fprintf(stream, "  %-26s%10s%8s%10s%10s%s\n", "", "median ms", "+- %", "Gpixel/s", "x read",
            has_copy ? "    x copy" : "");
    bool all_valid = true;
    for (int row = 0; row < MEASURED_ROWS; row++)
        all_valid = write_row(report, row, stream) && all_valid;
    if (!all_valid)
        fputs("  (void: the rounds differ too much to compare, as when other programs use the "
              "cores)\n",
              stream);
    if (isfinite(report->batch_seconds))
        fprintf(stream, "  (many: %d at a time, a thread each)\n", report->n_workers);
}

static cJSON *figure_json(const struct figure *f) {
    struct json_tree json = json_object();
    json_add(&json, "median_s", cJSON_CreateNumber(f->median));
    if (isfinite(f->spread))
        json_add(&json, "spread_s", cJSON_CreateNumber(f->spread));
    return json_end(&json);
}

static cJSON *stages_json(const struct bench_report *report) {
    struct json_tree json = json_object();
    for (int row = 0; row < MEASURED_ROWS; row++) {
        const struct figure f = figure_of(report, row);
        if (isfinite(f.median))
            json_add(&json, rows[row].key, figure_json(&f));
    }
    return json_end(&json);
}

static cJSON *bench_json(const struct bench_report *report) {
    const struct srcfind_catalogue *c = srcfind_bench_catalogue(report->bench);
    const struct srcfind_image *image = srcfind_catalogue_image(c);
    const struct srcfind_run *run = srcfind_catalogue_run(c);
    struct json_tree json = json_object();
    json_add(&json, "image", json_string(image->path));
    json_add(&json, "width", cJSON_CreateNumber((double)image->width));
    json_add(&json, "height", cJSON_CreateNumber((double)image->height));
    json_add(&json, "sources", cJSON_CreateNumber((double)srcfind_catalogue_size(c)));
    json_add(&json, "backend", json_string(run->backend));
    json_add(&json, "device", json_string(run->device));
    json_add(&json, "threads", cJSON_CreateNumber(run->threads));
    json_add(&json, "options", options_json(&c->table.of->options));
    json_add(&json, "rounds", cJSON_CreateNumber(srcfind_bench_rounds(report->bench)));
    json_add(&json, "workers", cJSON_CreateNumber(report->n_workers));
    json_add(&json, "stages", stages_json(report));
    return json_end(&json);
}

bool bench_report_write(const struct bench_report *report, bool as_json, FILE *stream) {
    if (as_json)
        return json_print(bench_json(report), "", "\n", stream);
    write_text(report, stream);
    return true;
}
