#include "bench_report.h"

#include <math.h>
#include <stdlib.h>

#include "plural.h"
#include "common/json_tree.h"

/* In the order of enum srcfind_stage and enum measured. */
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

double measurement_median(double *numbers, int n) {
    qsort(numbers, (size_t)n, sizeof *numbers, compare_numbers);
    return (numbers[(n - 1) / 2] + numbers[n / 2]) / 2;
}

enum { QUARTILES_FROM = 5 }; /* fewer rounds have none to speak of */

/* A median, and half of the distance between the quartiles; NaN where there is none. */
struct figure {
    double median, spread;
};

static struct figure figure_of(const struct measurement *m, int row) {
    const int n = m->bench->rounds;
    double *seconds = row < SRCFIND_STAGES ? m->bench->seconds[row] : NULL;
    if (seconds) {
        const double median = measurement_median(seconds, n);
        const double spread = (seconds[3 * (n - 1) / 4] - seconds[(n - 1) / 4]) / 2;
        return (struct figure){median, n < QUARTILES_FROM ? NAN : spread};
    }
    if (row == MEASURED_PROCESS)
        return (struct figure){m->process_seconds, NAN};
    if (row == MEASURED_START) {
        const double rest = m->process_seconds - figure_of(m, SRCFIND_FILE).median;
        return (struct figure){rest > 0 ? rest : NAN, NAN}; /* less is lost in the noise */
    }
    return (struct figure){row == MEASURED_BATCH ? m->batch_seconds : NAN, NAN};
}

static double pixels_of(const struct measurement *m) {
    const struct srcfind_image *image = &m->bench->catalogue->image;
    return (double)image->width * (double)image->height;
}

static void write_cell(double value, int width, int decimals, const char *end, FILE *stream) {
    if (isfinite(value))
        fprintf(stream, "%*.*f%s", width, decimals, value, end);
    else
        fprintf(stream, "%*s%s", width, "", end);
}

static void write_row(const struct measurement *m, int row, FILE *stream) {
    const struct figure f = figure_of(m, row);
    const double read = figure_of(m, SRCFIND_FLOOR_READ).median;
    const double copy = figure_of(m, SRCFIND_FLOOR_COPY).median;
    const bool is_share = row == MEASURED_START;
    if (!isfinite(f.median))
        return;
    fprintf(stream, "  %-26s", rows[row].name);
    write_cell(1e3 * f.median, 10, 3, "", stream);
    write_cell(100 * f.spread / f.median, 8, 1, "", stream);
    write_cell(is_share ? NAN : 1e-9 * pixels_of(m) / f.median, 10, 3, "", stream);
    write_cell(is_share ? NAN : f.median / read, 10, 2, "", stream);
    if (isfinite(copy))
        write_cell(is_share ? NAN : f.median / copy, 10, 2, "", stream);
    fputc('\n', stream);
}

void measurement_write_text(const struct measurement *m, FILE *stream) {
    const struct srcfind_catalogue *c = m->bench->catalogue;
    const bool has_copy = m->bench->seconds[SRCFIND_FLOOR_COPY] != NULL;
    fprintf(stream, "%s: %lld x %lld pixels, %lld source%s; ", c->image.path,
            (long long)c->image.width, (long long)c->image.height, (long long)c->n_sources,
            plural(c->n_sources));
    if (*c->device)
        fprintf(stream, "%s, ", c->device);
    fprintf(stream, "%d CPU thread%s; %d round%s\n", c->threads, plural(c->threads),
            m->bench->rounds, plural(m->bench->rounds));
    fprintf(stream, "  %-26s%10s%8s%10s%10s%s\n", "", "median ms", "+- %", "Gpixel/s", "x read",
            has_copy ? "    x copy" : "");
    for (int row = 0; row < MEASURED_ROWS; row++)
        write_row(m, row, stream);
    if (isfinite(m->batch_seconds))
        fprintf(stream, "  (many: %d at a time, a thread each)\n", m->n_workers);
}

static cJSON *figure_json(const struct figure *f) {
    struct json_tree json = json_object();
    json_add(&json, "median_s", cJSON_CreateNumber(f->median));
    if (isfinite(f->spread))
        json_add(&json, "spread_s", cJSON_CreateNumber(f->spread));
    return json_end(&json);
}

static cJSON *stages_json(const struct measurement *m) {
    struct json_tree json = json_object();
    for (int row = 0; row < MEASURED_ROWS; row++) {
        const struct figure f = figure_of(m, row);
        if (isfinite(f.median))
            json_add(&json, rows[row].key, figure_json(&f));
    }
    return json_end(&json);
}

static cJSON *measurement_json(const struct measurement *m) {
    const struct srcfind_catalogue *c = m->bench->catalogue;
    struct json_tree json = json_object();
    json_add(&json, "image", cJSON_CreateString(c->image.path));
    json_add(&json, "width", cJSON_CreateNumber((double)c->image.width));
    json_add(&json, "height", cJSON_CreateNumber((double)c->image.height));
    json_add(&json, "sources", cJSON_CreateNumber((double)c->n_sources));
    json_add(&json, "backend", cJSON_CreateString(c->backend));
    json_add(&json, "device", cJSON_CreateString(c->device));
    json_add(&json, "threads", cJSON_CreateNumber(c->threads));
    json_add(&json, "rounds", cJSON_CreateNumber(m->bench->rounds));
    json_add(&json, "workers", cJSON_CreateNumber(m->n_workers));
    json_add(&json, "stages", stages_json(m));
    return json_end(&json);
}

bool measurement_write_json(const struct measurement *m, FILE *stream) {
    return json_print(measurement_json(m), "", "\n", stream);
}
