#include "compare_report.h"

#include <math.h>
#include <string.h>

#include "plural.h"
#include "common/json_tree.h"

/* --- what is compared --- */

static struct statistic real_statistic(const char *name, double cpu, double gpu) {
    return (struct statistic){.name = name,
                              .is_real = true,
                              .real = {cpu, gpu},
                              .same = memcmp(&cpu, &gpu, sizeof cpu) == 0};
}

static struct statistic integer_statistic(const char *name, int64_t cpu, int64_t gpu) {
    return (struct statistic){.name = name, .integer = {cpu, gpu}, .same = cpu == gpu};
}

static void compare_statistics(struct comparison *c) {
    const struct srcfind_background *a = &c->catalogue[SIDE_CPU]->background;
    const struct srcfind_background *b = &c->catalogue[SIDE_GPU]->background;
    struct statistic *s = c->statistics;
    *s++ = integer_statistic("sources", c->catalogue[SIDE_CPU]->n_sources,
                             c->catalogue[SIDE_GPU]->n_sources);
    *s++ = real_statistic("median", a->median, b->median);
    *s++ = real_statistic("rms", a->rms, b->rms);
    *s++ = real_statistic("mean", a->mean, b->mean);
    *s++ = real_statistic("min", a->min, b->min);
    *s++ = real_statistic("max", a->max, b->max);
    *s++ = integer_statistic("pixels kept", a->n_kept, b->n_kept);
    *s++ = integer_statistic("blank pixels", a->n_blank, b->n_blank);
    *s++ = integer_statistic("rounds", a->rounds, b->rounds);
}

static void compare_times(struct comparison *c) {
    for (int side = 0; side < SIDES; side++) {
        const struct srcfind_timings *t = &c->catalogue[side]->timings;
        const struct stage stages[STAGES] = {{"transfer", {t->transfer}},
                                             {"scan", {t->scan}},
                                             {"clip", {t->clip}},
                                             {"islands", {t->islands}},
                                             {"measure", {t->measure}}};
        for (int i = 0; i < STAGES; i++) {
            c->stages[i].name = stages[i].name;
            c->stages[i].seconds[side] = stages[i].seconds[0];
            c->with_transfer[side] += stages[i].seconds[0];
        }
        c->without_transfer[side] = c->with_transfer[side] - t->transfer;
    }
}

/* --- the first cells that differ --- */

/* Takes the text up to a separator off the front of *rest, and returns its length. */
static int next_part(const char **rest, char separator, const char **part) {
    const size_t length = strcspn(*rest, separator == ',' ? ",\n" : "\n");
    *part = *rest;
    *rest += length + ((*rest)[length] == separator);
    return (int)length;
}

static void compare_rows(struct comparison *c, int64_t row, const char *names, const char *a,
                         const char *b) {
    while (*names && *names != '\n' && c->n_differences < MOST_DIFFERENCES) {
        const char *name, *first, *second;
        const int n = next_part(&names, ',', &name);
        const int n_first = next_part(&a, ',', &first), n_second = next_part(&b, ',', &second);
        if (n_first == n_second && memcmp(first, second, (size_t)n_first) == 0)
            continue;
        struct difference *d = &c->differences[c->n_differences++];
        d->row = row;
        snprintf(d->column, sizeof d->column, "%.*s", n, name);
        snprintf(d->cell[SIDE_CPU], CELL, "%.*s", n_first, first);
        snprintf(d->cell[SIDE_GPU], CELL, "%.*s", n_second, second);
    }
}

static void find_differences(struct comparison *c, const char *a, const char *b) {
    const char *names = a;
    for (int64_t row = 0; (*a || *b) && c->n_differences < MOST_DIFFERENCES; row++) {
        const char *first, *second;
        const int n_first = next_part(&a, '\n', &first), n_second = next_part(&b, '\n', &second);
        if (n_first != n_second || memcmp(first, second, (size_t)n_first) != 0)
            compare_rows(c, row, names, first, second);
    }
}

struct comparison comparison_make(const struct srcfind_catalogue *const catalogue[SIDES],
                                  char *const text[COMPARED_FORMATS][SIDES],
                                  const size_t size[COMPARED_FORMATS][SIDES]) {
    struct comparison c = {.catalogue = {catalogue[SIDE_CPU], catalogue[SIDE_GPU]}, .same = true};
    for (int format = 0; format < COMPARED_FORMATS; format++) {
        for (int side = 0; side < SIDES; side++)
            c.size[format][side] = size[format][side];
        c.same_bytes[format] =
            size[format][SIDE_CPU] == size[format][SIDE_GPU] &&
            memcmp(text[format][SIDE_CPU], text[format][SIDE_GPU], size[format][SIDE_CPU]) == 0;
        c.same = c.same && c.same_bytes[format];
    }
    compare_statistics(&c);
    for (int i = 0; i < STATISTICS; i++)
        c.same = c.same && c.statistics[i].same;
    compare_times(&c);
    find_differences(&c, text[SRCFIND_CSV][SIDE_CPU], text[SRCFIND_CSV][SIDE_GPU]);
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

/* Times in ms, and how many times faster the GPU is where both did something. */
static void write_times(const char *name, const double *seconds, FILE *stream) {
    fprintf(stream, "  %-17s %21.3f %24.3f", name, 1e3 * seconds[SIDE_CPU],
            1e3 * seconds[SIDE_GPU]);
    if (seconds[SIDE_CPU] > 0 && seconds[SIDE_GPU] > 0)
        fprintf(stream, "  %.3g x", seconds[SIDE_CPU] / seconds[SIDE_GPU]);
    fputc('\n', stream);
}

void comparison_write_text(const struct comparison *c, FILE *stream) {
    static const char *const formats[] = {"CSV bytes", "JSON bytes"};
    const struct srcfind_catalogue *cpu = c->catalogue[SIDE_CPU], *gpu = c->catalogue[SIDE_GPU];
    char title[32];
    snprintf(title, sizeof title, "CPU, %d thread%s", cpu->threads, plural(cpu->threads));
    fprintf(stream, "%s: %lld x %lld pixels\n", cpu->image.path, (long long)cpu->image.width,
            (long long)cpu->image.height);
    fprintf(stream, "  %-14s %24s %24s\n", "", title, gpu->device);
    for (int i = 0; i < STATISTICS; i++)
        write_statistic(&c->statistics[i], stream);
    for (int i = 0; i < COMPARED_FORMATS; i++)
        fprintf(stream, "  %-14s %24zu %24zu  %s\n", formats[i], c->size[i][SIDE_CPU],
                c->size[i][SIDE_GPU], verdict(c->same_bytes[i]));
    fprintf(stream, "  %-14s %24s %24s  speed-up\n", "ms, warm", cpu->timings.path,
            gpu->timings.path);
    for (int i = 0; i < STAGES; i++)
        write_times(c->stages[i].name, c->stages[i].seconds, stream);
    write_times("with transfer", c->with_transfer, stream);
    write_times("without transfer", c->without_transfer, stream);
    for (int i = 0; i < c->n_differences; i++)
        fprintf(stream, "  row %lld, %s: '%s' on the CPU, '%s' on the GPU\n",
                (long long)c->differences[i].row, c->differences[i].column,
                c->differences[i].cell[SIDE_CPU], c->differences[i].cell[SIDE_GPU]);
    fprintf(stream, "  the catalogues are %s\n", c->same ? "the same, byte for byte" : "DIFFERENT");
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

/* A pair, and whether it is the same. */
static cJSON *compared_json(const double *value, bool same) {
    struct json_tree pair = pair_tree(value);
    json_add(&pair, "same", cJSON_CreateBool(same));
    return json_end(&pair);
}

static cJSON *statistic_json(const struct statistic *s) {
    const double integer[SIDES] = {(double)s->integer[SIDE_CPU], (double)s->integer[SIDE_GPU]};
    return compared_json(s->is_real ? s->real : integer, s->same);
}

static cJSON *statistics_json(const struct comparison *c) {
    struct json_tree json = json_object();
    for (int i = 0; i < STATISTICS; i++)
        json_add(&json, c->statistics[i].name, statistic_json(&c->statistics[i]));
    return json_end(&json);
}

static cJSON *bytes_json(const struct comparison *c, int format) {
    const double size[SIDES] = {(double)c->size[format][SIDE_CPU],
                                (double)c->size[format][SIDE_GPU]};
    return compared_json(size, c->same_bytes[format]);
}

static cJSON *seconds_json(const struct comparison *c) {
    struct json_tree json = json_object();
    for (int i = 0; i < STAGES; i++)
        json_add(&json, c->stages[i].name, pair_json(c->stages[i].seconds));
    json_add(&json, "with_transfer", pair_json(c->with_transfer));
    json_add(&json, "without_transfer", pair_json(c->without_transfer));
    return json_end(&json);
}

static cJSON *difference_json(const struct difference *d) {
    struct json_tree json = json_object();
    json_add(&json, "row", cJSON_CreateNumber((double)d->row));
    json_add(&json, "column", cJSON_CreateString(d->column));
    for (int side = 0; side < SIDES; side++)
        json_add(&json, side_names[side], cJSON_CreateString(d->cell[side]));
    return json_end(&json);
}

static cJSON *differences_json(const struct comparison *c) {
    struct json_tree json = json_array();
    for (int i = 0; i < c->n_differences; i++)
        json_add(&json, NULL, difference_json(&c->differences[i]));
    return json_end(&json);
}

static cJSON *comparison_json(const struct comparison *c) {
    const struct srcfind_catalogue *cpu = c->catalogue[SIDE_CPU], *gpu = c->catalogue[SIDE_GPU];
    struct json_tree json = json_object();
    json_add(&json, "image", cJSON_CreateString(cpu->image.path));
    json_add(&json, "width", cJSON_CreateNumber((double)cpu->image.width));
    json_add(&json, "height", cJSON_CreateNumber((double)cpu->image.height));
    json_add(&json, "threads", cJSON_CreateNumber(cpu->threads));
    json_add(&json, "device", cJSON_CreateString(gpu->device));
    json_add(&json, "same", cJSON_CreateBool(c->same));
    json_add(&json, "statistics", statistics_json(c));
    json_add(&json, "csv_bytes", bytes_json(c, SRCFIND_CSV));
    json_add(&json, "json_bytes", bytes_json(c, SRCFIND_JSON));
    json_add(&json, "seconds", seconds_json(c));
    json_add(&json, "speedup_with_transfer",
             real_json(c->with_transfer[SIDE_CPU] / c->with_transfer[SIDE_GPU]));
    json_add(&json, "speedup_without_transfer",
             real_json(c->without_transfer[SIDE_CPU] / c->without_transfer[SIDE_GPU]));
    json_add(&json, "differences", differences_json(c));
    return json_end(&json);
}

bool comparison_write_json(const struct comparison *c, FILE *stream) {
    return json_print(comparison_json(c), "", "\n", stream);
}
