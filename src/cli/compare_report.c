/* What --compare-cpu says: whether the CPU and the GPU found the same, and how fast.
 *
 * In: two catalogues of one image, and their texts in each format. Statistics are compared as
 * numbers, catalogues byte by byte; where CSV differs, the first fields that do are listed with
 * their columns. Times are those of each side, and speedups with and without the transfer.
 *
 * Out: a text for people, or one line of JSON. The verdict is the same in both: statistics and
 * formats have to agree, times do not count. */
#include "cli/compare_report.h"

#include <math.h>
#include <string.h>

#include "common/json_tree.h"
#include "common/plural.h"
#include "options/options_json.h"
#include "output/catalogue.h"
#include "output/writer.h"

/* --- statistics and times --- */

static struct statistic real_statistic(const char *name, double cpu, double gpu) {
    return (struct statistic){.name = name,
                              .key = name,
                              .is_real = true,
                              .real = {cpu, gpu},
                              .same = memcmp(&cpu, &gpu, sizeof cpu) == 0};
}

static struct statistic integer_statistic(const char *name, const char *key, int64_t cpu,
                                          int64_t gpu) {
    return (struct statistic){.name = name, .key = key, .integer = {cpu, gpu}, .same = cpu == gpu};
}

static void compare_statistics(struct compare_report *report) {
    const struct srcfind_background *a = srcfind_catalogue_background(report->catalogue[SIDE_CPU]);
    const struct srcfind_background *b = srcfind_catalogue_background(report->catalogue[SIDE_GPU]);
    struct statistic *s = report->statistics;
    *s++ =
        integer_statistic("sources", "sources", srcfind_catalogue_size(report->catalogue[SIDE_CPU]),
                          srcfind_catalogue_size(report->catalogue[SIDE_GPU]));
    *s++ = real_statistic("median", a->median, b->median);
    *s++ = real_statistic("rms", a->rms, b->rms);
    *s++ = real_statistic("mean", a->mean, b->mean);
    *s++ = real_statistic("min", a->min, b->min);
    *s++ = real_statistic("max", a->max, b->max);
    *s++ = integer_statistic("pixels kept", "n_kept", a->n_kept, b->n_kept);
    *s++ = integer_statistic("blank pixels", "n_blank", a->n_blank, b->n_blank);
    *s++ = integer_statistic("rounds", "rounds", a->rounds, b->rounds);
}

static void compare_times(struct compare_report *report) {
    for (int side = 0; side < SIDES; side++) {
        const struct srcfind_timings *t = srcfind_catalogue_timings(report->catalogue[side]);
        const struct stage stages[STAGES] = {{"transfer", {t->transfer}},
                                             {"scan", {t->scan}},
                                             {"clip", {t->clip}},
                                             {"islands", {t->islands}},
                                             {"measure", {t->measure}}};
        for (int i = 0; i < STAGES; i++) {
            report->stages[i].name = stages[i].name;
            report->stages[i].seconds[side] = stages[i].seconds[0];
            report->with_transfer[side] += stages[i].seconds[0];
        }
        report->without_transfer[side] = report->with_transfer[side] - t->transfer;
    }
}

/* --- the first cells that differ --- */

/* Sets *field to the text at *cursor, up to a separator or the end of the line; moves *cursor
 * past the separator. Returns the length of the field. */
static int next_field(const char **cursor, char separator, const char **field) {
    const size_t length = strcspn(*cursor, separator == ',' ? ",\n" : "\n");
    *field = *cursor;
    *cursor += length + ((*cursor)[length] == separator);
    return (int)length;
}

static void compare_rows(struct compare_report *report, int64_t row, const char *names,
                         const char *a, const char *b) {
    while (*names && *names != '\n' && report->n_differences < MOST_DIFFERENCES) {
        const char *name, *first, *second;
        const int n = next_field(&names, ',', &name);
        const int n_first = next_field(&a, ',', &first), n_second = next_field(&b, ',', &second);
        if (n_first == n_second && memcmp(first, second, (size_t)n_first) == 0)
            continue;
        struct difference *d = &report->differences[report->n_differences++];
        d->row = row;
        snprintf(d->column, sizeof d->column, "%.*s", n, name);
        snprintf(d->cell[SIDE_CPU], CELL, "%.*s", n_first, first);
        snprintf(d->cell[SIDE_GPU], CELL, "%.*s", n_second, second);
    }
}

static void find_differences(struct compare_report *report, const char *a, const char *b) {
    const char *names = a;
    for (int64_t row = 0; (*a || *b) && report->n_differences < MOST_DIFFERENCES; row++) {
        const char *first, *second;
        const int n_first = next_field(&a, '\n', &first), n_second = next_field(&b, '\n', &second);
        if (n_first != n_second || memcmp(first, second, (size_t)n_first) != 0)
            compare_rows(report, row, names, first, second);
    }
}

static struct compared_format compare_format(const char *name, const struct compared_text *t) {
    return (struct compared_format){
        .name = name,
        .size = {t->size[SIDE_CPU], t->size[SIDE_GPU]},
        .same = t->size[SIDE_CPU] == t->size[SIDE_GPU] &&
                memcmp(t->at[SIDE_CPU], t->at[SIDE_GPU], t->size[SIDE_CPU]) == 0};
}

bool compare_report_has_format(int i) {
    return !writer_named(srcfind_format(i)->name)->is_sky_model;
}

struct compare_report compare_report_make(const struct srcfind_catalogue *const catalogue[SIDES],
                                          const struct compared_text text[MOST_FORMATS]) {
    struct compare_report c = {.catalogue = {catalogue[SIDE_CPU], catalogue[SIDE_GPU]},
                               .same = true};
    for (int i = 0; i < MOST_FORMATS && srcfind_format(i); i++) {
        const char *name = srcfind_format(i)->name;
        if (!compare_report_has_format(i))
            continue;
        c.formats[c.n_formats] = compare_format(name, &text[i]);
        c.same = c.same && c.formats[c.n_formats++].same;
        if (strcmp(name, "csv") == 0)
            find_differences(&c, text[i].at[SIDE_CPU], text[i].at[SIDE_GPU]);
    }
    compare_statistics(&c);
    for (int i = 0; i < STATISTICS; i++)
        c.same = c.same && c.statistics[i].same;
    compare_times(&c);
    return c;
}

/* --- as text --- */

static const char *verdict(bool same) {
    return same ? "same" : "DIFFERENT";
}

static void write_statistic(const struct statistic *s, FILE *stream) {
    if (s->is_real)
        fprintf(stream, "  %-14s %24.17g %24.17g  %s\n", s->name, s->real[SIDE_CPU],
                s->real[SIDE_GPU], verdict(s->same));
    else
        fprintf(stream, "  %-14s %24lld %24lld  %s\n", s->name, (long long)s->integer[SIDE_CPU],
                (long long)s->integer[SIDE_GPU], verdict(s->same));
}

/* Writes two times in ms, and their ratio if both are above 0. */
static void write_times(const char *name, const double *seconds, FILE *stream) {
    fprintf(stream, "  %-17s %21.3f %24.3f", name, 1e3 * seconds[SIDE_CPU],
            1e3 * seconds[SIDE_GPU]);
    if (seconds[SIDE_CPU] > 0 && seconds[SIDE_GPU] > 0)
        fprintf(stream, "  %.3g x", seconds[SIDE_CPU] / seconds[SIDE_GPU]);
    fputc('\n', stream);
}

static void write_text(const struct compare_report *report, FILE *stream) {
    const struct srcfind_image *image = srcfind_catalogue_image(report->catalogue[SIDE_CPU]);
    const struct srcfind_run *cpu = srcfind_catalogue_run(report->catalogue[SIDE_CPU]);
    const struct srcfind_run *gpu = srcfind_catalogue_run(report->catalogue[SIDE_GPU]);
    char title[32];
    snprintf(title, sizeof title, "CPU, %d thread%s", cpu->threads, plural(cpu->threads));
    fprintf(stream, "%s: %lld x %lld pixels\n", image->path, (long long)image->width,
            (long long)image->height);
    fprintf(stream, "  %-14s %24s %24s\n", "", title, gpu->device);
    for (int i = 0; i < STATISTICS; i++)
        write_statistic(&report->statistics[i], stream);
    for (int i = 0; i < report->n_formats; i++)
        fprintf(stream, "  %-6s %-7s %24zu %24zu  %s\n", report->formats[i].name, "bytes",
                report->formats[i].size[SIDE_CPU], report->formats[i].size[SIDE_GPU],
                verdict(report->formats[i].same));
    fprintf(stream, "  %-14s %24s %24s  speed-up\n", "ms, warm",
            srcfind_catalogue_timings(report->catalogue[SIDE_CPU])->clip_method,
            srcfind_catalogue_timings(report->catalogue[SIDE_GPU])->clip_method);
    for (int i = 0; i < STAGES; i++)
        write_times(report->stages[i].name, report->stages[i].seconds, stream);
    write_times("with transfer", report->with_transfer, stream);
    write_times("without transfer", report->without_transfer, stream);
    for (int i = 0; i < report->n_differences; i++)
        fprintf(stream, "  row %lld, %s: '%s' on the CPU, '%s' on the GPU\n",
                (long long)report->differences[i].row, report->differences[i].column,
                report->differences[i].cell[SIDE_CPU], report->differences[i].cell[SIDE_GPU]);
    fprintf(stream, "  the catalogues are %s\n",
            report->same ? "the same, byte for byte" : "DIFFERENT");
}

/* --- as JSON --- */

static const char *const side_names[SIDES] = {"cpu", "gpu"};

static cJSON *real_json(double value) {
    char text[32];
    if (!isfinite(value))
        return cJSON_CreateNull();
    snprintf(text, sizeof text, "%.17g", value);
    return cJSON_CreateRaw(text);
}

static struct json_tree pair_tree(const double *value) {
    struct json_tree pair = json_object();
    for (int side = 0; side < SIDES; side++)
        json_add(&pair, side_names[side], real_json(value[side]));
    return pair;
}

static cJSON *pair_json(const double *value) {
    struct json_tree pair = pair_tree(value);
    return json_end(&pair);
}

/* A pair, and whether its values are the same. */
static cJSON *compared_json(const double *value, bool same) {
    struct json_tree pair = pair_tree(value);
    json_add(&pair, "same", cJSON_CreateBool(same));
    return json_end(&pair);
}

static cJSON *statistic_json(const struct statistic *s) {
    const double integer[SIDES] = {(double)s->integer[SIDE_CPU], (double)s->integer[SIDE_GPU]};
    return compared_json(s->is_real ? s->real : integer, s->same);
}

static cJSON *statistics_json(const struct compare_report *report) {
    struct json_tree json = json_object();
    for (int i = 0; i < STATISTICS; i++)
        json_add(&json, report->statistics[i].key, statistic_json(&report->statistics[i]));
    return json_end(&json);
}

static cJSON *bytes_json(const struct compared_format *format) {
    const double size[SIDES] = {(double)format->size[SIDE_CPU], (double)format->size[SIDE_GPU]};
    return compared_json(size, format->same);
}

/* csv_bytes, json_bytes, ... */
static void add_formats(struct json_tree *json, const struct compare_report *report) {
    for (int i = 0; i < report->n_formats; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_bytes", report->formats[i].name);
        json_add(json, name, bytes_json(&report->formats[i]));
    }
}

static cJSON *seconds_json(const struct compare_report *report) {
    struct json_tree json = json_object();
    for (int i = 0; i < STAGES; i++)
        json_add(&json, report->stages[i].name, pair_json(report->stages[i].seconds));
    json_add(&json, "with_transfer", pair_json(report->with_transfer));
    json_add(&json, "without_transfer", pair_json(report->without_transfer));
    return json_end(&json);
}

static cJSON *difference_json(const struct difference *d) {
    struct json_tree json = json_object();
    json_add(&json, "row", cJSON_CreateNumber((double)d->row));
    json_add(&json, "column", json_string(d->column));
    for (int side = 0; side < SIDES; side++)
        json_add(&json, side_names[side], json_string(d->cell[side]));
    return json_end(&json);
}

static cJSON *differences_json(const struct compare_report *report) {
    struct json_tree json = json_array();
    for (int i = 0; i < report->n_differences; i++)
        json_add(&json, NULL, difference_json(&report->differences[i]));
    return json_end(&json);
}

static cJSON *compare_json(const struct compare_report *report) {
    const struct srcfind_image *image = srcfind_catalogue_image(report->catalogue[SIDE_CPU]);
    const struct srcfind_run *cpu = srcfind_catalogue_run(report->catalogue[SIDE_CPU]);
    const struct srcfind_run *gpu = srcfind_catalogue_run(report->catalogue[SIDE_GPU]);
    struct json_tree json = json_object();
    json_add(&json, "image", json_string(image->path));
    json_add(&json, "width", cJSON_CreateNumber((double)image->width));
    json_add(&json, "height", cJSON_CreateNumber((double)image->height));
    json_add(&json, "threads", cJSON_CreateNumber(cpu->threads));
    json_add(&json, "device", json_string(gpu->device));
    json_add(&json, "options", options_json(&report->catalogue[SIDE_CPU]->table.of->options));
    json_add(&json, "same", cJSON_CreateBool(report->same));
    json_add(&json, "statistics", statistics_json(report));
    add_formats(&json, report);
    json_add(&json, "seconds", seconds_json(report));
    json_add(&json, "speedup_with_transfer",
             real_json(report->with_transfer[SIDE_CPU] / report->with_transfer[SIDE_GPU]));
    json_add(&json, "speedup_without_transfer",
             real_json(report->without_transfer[SIDE_CPU] / report->without_transfer[SIDE_GPU]));
    json_add(&json, "differences", differences_json(report));
    return json_end(&json);
}

bool compare_report_write(const struct compare_report *report, bool as_json, FILE *stream) {
    if (as_json)
        return json_print(compare_json(report), "", "\n", stream);
    write_text(report, stream);
    return true;
}
