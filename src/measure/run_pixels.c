#include "measure/run_pixels.h"

#include <stdlib.h>

#include "cpu/noise_rows.h"
#include "input/chunks.h"

struct reading {
    const struct run_source *from;
    const struct run *runs;
    int64_t n;
    int64_t *first; /* of each run: the index of its first pixel; and the number of all pixels */
    const struct run_pixels *pixels;
    /* The runs that have pixels in chunk k: chunk_runs[chunk_first[k]] and so on. A long run may be
     * in several chunks. */
    int64_t *chunk_first, *chunk_runs;
};

/* Sets the noise of n pixels, from index `at` on, which begin at (x, y). */
static void set_noise(const struct run_pixels *pixels, const struct noise_rows *rows, int64_t at,
                      int64_t x, int64_t y, int64_t n) {
    struct noise_at noise[NOISE_RANGE];
    for (int64_t i = 0; i < n; i += NOISE_RANGE) {
        const int64_t count = n - i < NOISE_RANGE ? n - i : NOISE_RANGE;
        noise_rows_get(rows, x + i, y, count, noise);
        for (int64_t k = 0; k < count; k++) {
            pixels->background[at + i + k] = noise[k].background;
            pixels->rms[at + i + k] = noise[k].rms;
        }
    }
}

/* --- from a device --- */

enum { RUNS_A_PART = 1024 };

static void set_noise_of_part(void *context, int part) {
    const struct reading *r = context;
    const int64_t begin = (int64_t)part * RUNS_A_PART;
    const int64_t end = begin + RUNS_A_PART < r->n ? begin + RUNS_A_PART : r->n;
    const struct noise_rows rows = {.map = r->from->noise};
    for (int64_t i = begin; i < end; i++)
        set_noise(r->pixels, &rows, r->first[i], r->runs[i].x0, r->runs[i].y,
                  run_length(&r->runs[i]));
}

static enum srcfind_status gather(struct reading *r, struct threads *threads, struct error *error) {
    const enum srcfind_status status =
        r->from->gather(r->from->context, r->runs, r->n, r->pixels->value, error);
    if (status == SRCFIND_OK)
        threads_run(threads, (int)((r->n + RUNS_A_PART - 1) / RUNS_A_PART), set_noise_of_part, r);
    return status;
}

/* --- from a source --- */

/* The chunks [begin, end) that a run has pixels in. */
struct chunk_range {
    int64_t begin, end;
};

static struct chunk_range chunks_of(const struct pixel_source *source, const struct run *run) {
    const int64_t row = run->y * source->width, size = source->chunk_pixels;
    const struct chunk_range none = {0, 0};
    return run->x0 > run->x1
               ? none
               : (struct chunk_range){(row + run->x0) / size, (row + run->x1) / size + 1};
}

/* Sorts the runs by chunk. False where memory ran out. */
static bool sort_by_chunk(struct reading *r) {
    const int64_t n_chunks = chunks_count(r->from->source);
    r->chunk_first = calloc((size_t)n_chunks + 2, sizeof *r->chunk_first);
    if (!r->chunk_first)
        return false;
    for (int64_t i = 0; i < r->n; i++) {
        const struct chunk_range range = chunks_of(r->from->source, &r->runs[i]);
        for (int64_t k = range.begin; k < range.end; k++)
            r->chunk_first[k + 2]++;
    }
    for (int64_t k = 0; k < n_chunks; k++)
        r->chunk_first[k + 2] += r->chunk_first[k + 1];
    r->chunk_runs = malloc((size_t)r->chunk_first[n_chunks + 1] * sizeof *r->chunk_runs + 1);
    for (int64_t i = 0; r->chunk_runs && i < r->n; i++) {
        const struct chunk_range range = chunks_of(r->from->source, &r->runs[i]);
        for (int64_t k = range.begin; k < range.end; k++)
            r->chunk_runs[r->chunk_first[k + 1]++] = i; /* first[k + 1] becomes where k ends */
    }
    return r->chunk_runs;
}

static bool is_wanted(void *context, int64_t first, int64_t count) {
    const struct reading *r = context;
    const int64_t k = first / r->from->source->chunk_pixels;
    (void)count;
    return r->chunk_first[k] < r->chunk_first[k + 1];
}

/* Copies what a chunk has of run i. */
static void copy_run(const struct reading *r, const struct chunk *chunk,
                     const struct noise_rows *rows, int64_t i) {
    const struct run *run = &r->runs[i];
    const int64_t start = run->y * r->from->source->width + run->x0;
    const int64_t end = start + run_length(run), last = chunk->first + chunk->count;
    const int64_t from = start > chunk->first ? start : chunk->first, to = end < last ? end : last;
    const int64_t at = r->first[i] + (from - start);
    for (int64_t k = 0; k < to - from; k++)
        r->pixels->value[at + k] =
            pixel_value(chunk->pixels, from - chunk->first + k, r->from->source->swapped);
    set_noise(r->pixels, rows, at, run->x0 + (from - start), run->y, to - from);
}

static enum srcfind_status read_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    const struct reading *r = context;
    const struct run_source *from = r->from;
    struct noise_rows rows;
    (void)worker;
    enum srcfind_status status =
        noise_rows_make(&rows, from->noise, &from->user, from->source->width, chunk->count)
            ? noise_rows_read(&rows, chunk->first, chunk->count, error)
            : error_memory(error, "reading pixels again");
    for (int64_t k = r->chunk_first[chunk->number];
         status == SRCFIND_OK && k < r->chunk_first[chunk->number + 1]; k++)
        copy_run(r, chunk, &rows, r->chunk_runs[k]);
    noise_rows_clear(&rows);
    return status;
}

/* If a map of the user cannot be read by several threads at a time, one reads. */
static enum srcfind_status read_source(struct reading *r, struct threads *threads,
                                       struct error *error) {
    const struct pixel_source *source = r->from->source;
    const bool one = noise_sources_exist(&r->from->user) && !source->parallel;
    const struct chunk_work work = {.work = read_chunk, .wanted = is_wanted, .context = r};
    return sort_by_chunk(r)
               ? chunks_run(source, threads, one ? 1 : threads_count(threads), &work, error)
               : error_memory(error, "reading pixels again");
}

/* --- both --- */

/* False where memory ran out. */
static bool allocate(struct reading *r, struct run_pixels *pixels) {
    r->first = malloc(((size_t)r->n + 1) * sizeof *r->first);
    for (int64_t i = 0; r->first && i < r->n; i++) {
        r->first[i] = pixels->n;
        pixels->n += run_length(&r->runs[i]);
    }
    const size_t n = (size_t)pixels->n;
    pixels->value = malloc(n * sizeof *pixels->value + 1);
    pixels->background = malloc(n * sizeof *pixels->background + 1);
    pixels->rms = malloc(n * sizeof *pixels->rms + 1);
    return r->first && pixels->value && pixels->background && pixels->rms;
}

enum srcfind_status run_pixels_read(const struct run_source *from, const struct run *runs,
                                    int64_t n, struct threads *threads, struct run_pixels *pixels,
                                    struct error *error) {
    struct reading r = {.from = from, .runs = runs, .n = n, .pixels = pixels};
    *pixels = (struct run_pixels){0};
    enum srcfind_status status = SRCFIND_OK;
    if (!allocate(&r, pixels))
        status = error_memory(error, "reading pixels again");
    else if (from->gather)
        status = gather(&r, threads, error);
    else
        status = read_source(&r, threads, error);
    free(r.first);
    free(r.chunk_first);
    free(r.chunk_runs);
    return status;
}

void run_pixels_clear(struct run_pixels *pixels) {
    free(pixels->value);
    free(pixels->background);
    free(pixels->rms);
    *pixels = (struct run_pixels){0};
}
