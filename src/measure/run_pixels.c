/* How the pixels of runs are read. find_first sets the index of each run's first pixel.
 *
 * From a device: the runs are copied there, their values are gathered and copied back; noise
 * follows from the noise map on the host.
 *
 * From a source: list_by_chunk lists, for each chunk of the image, the sets of runs that have rows
 * in it (counting sort). Threads read only these chunks, and copy the overlap of each run with the
 * chunk, with the noise there.
 *
 * Always: each pixel of each run is written once, to its index, so the order of the chunks does not
 * matter. Runs may overlap.
 *
 * Cost: a pass over the chunks with runs; 20 bytes a pixel, 8 a run, and 8 for each chunk of a set.
 */
#include "measure/run_pixels.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "cpu/noise_rows.h"
#include "input/chunks.h"

struct wanted_runs {
    void (*work)(struct wanted_runs *r, int64_t set); /* of for_each_set */
    const struct run_source *from;
    const struct run_set *sets;
    int64_t n, n_pixels;
    struct run_pixels *pixels;
    int64_t *set_runs; /* the number of runs of all sets before each one; n + 1 */
    /* The sets that may have pixels in chunk k: chunk_sets[chunk_first[k]] and so on. */
    int64_t *chunk_first, *chunk_sets;
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

enum { SETS_A_SHARE = 64 };

static void work_on_share(void *context, int share) {
    struct wanted_runs *r = context;
    const int64_t begin = (int64_t)share * SETS_A_SHARE;
    for (int64_t k = begin; k < r->n && k < begin + SETS_A_SHARE; k++)
        r->work(r, k);
}

/* Calls `work` for each set, on all threads. */
static void for_each_set(struct wanted_runs *r, struct threads *threads,
                         void (*work)(struct wanted_runs *r, int64_t set)) {
    r->work = work;
    threads_run(threads, (int)((r->n + SETS_A_SHARE - 1) / SETS_A_SHARE), work_on_share, r);
}

/* Finds the first pixel of each run of a set. */
static void find_first(struct wanted_runs *r, int64_t k) {
    const struct run_set *set = &r->sets[k];
    int64_t at = set->first, *first = r->pixels->first + r->set_runs[k];
    for (int64_t i = 0; i < set->n; i++) {
        first[i] = at;
        at += run_length(&set->runs[i]);
    }
    if (r->from->gather && set->n > 0)
        memcpy(r->pixels->runs + r->set_runs[k], set->runs, (size_t)set->n * sizeof *set->runs);
}

static void set_noise_of_set(struct wanted_runs *r, int64_t k) {
    const struct noise_rows rows = {.map = r->from->noise};
    int64_t at = r->sets[k].first;
    for (int64_t i = 0; i < r->sets[k].n; i++) {
        const struct run *run = &r->sets[k].runs[i];
        set_noise(r->pixels, &rows, at, run->x0, run->y, run_length(run));
        at += run_length(run);
    }
}

static enum srcfind_status gather(struct wanted_runs *r, struct threads *threads,
                                  struct error *error) {
    const int64_t n_runs = r->set_runs[r->n];
    struct run_pixels *p = r->pixels;
    if (!RESERVE(p->runs, p->runs_capacity, n_runs))
        return error_memory(error, "reading pixels again");
    for_each_set(r, threads, find_first);
    const struct gathered_runs gathered = {p->runs, p->first, n_runs, r->n_pixels};
    const enum srcfind_status status =
        r->from->gather(r->from->context, &gathered, p->value, error);
    if (status == SRCFIND_OK)
        for_each_set(r, threads, set_noise_of_set);
    return status;
}

/* --- from a source --- */

/* The chunks [begin, end) that have pixels of the rows of a set. */
struct chunk_range {
    int64_t begin, end;
};

static struct chunk_range chunks_of(const struct pixel_source *source, const struct run_set *set) {
    if (set->n == 0)
        return (struct chunk_range){0, 0};
    const int64_t size = source->chunk_pixels;
    return (struct chunk_range){
        set->runs[0].y * source->width / size,
        ((set->runs[set->n - 1].y + (int64_t)1) * source->width - 1) / size + 1};
}

/* Lists the sets of each chunk. */
static bool list_by_chunk(struct wanted_runs *r) {
    const int64_t n_chunks = chunks_count(r->from->source);
    r->chunk_first = calloc((size_t)n_chunks + 2, sizeof *r->chunk_first);
    if (!r->chunk_first)
        return false;
    for (int64_t k = 0; k < r->n; k++) {
        const struct chunk_range range = chunks_of(r->from->source, &r->sets[k]);
        for (int64_t c = range.begin; c < range.end; c++)
            r->chunk_first[c + 2]++;
    }
    for (int64_t c = 0; c < n_chunks; c++)
        r->chunk_first[c + 2] += r->chunk_first[c + 1];
    r->chunk_sets = malloc((size_t)r->chunk_first[n_chunks + 1] * sizeof *r->chunk_sets + 1);
    for (int64_t k = 0; r->chunk_sets && k < r->n; k++) {
        const struct chunk_range range = chunks_of(r->from->source, &r->sets[k]);
        for (int64_t c = range.begin; c < range.end; c++)
            r->chunk_sets[r->chunk_first[c + 1]++] = k; /* first[c + 1] becomes where c ends */
    }
    return r->chunk_sets;
}

static bool is_wanted(void *context, int64_t first, int64_t count) {
    const struct wanted_runs *r = context;
    const int64_t c = first / r->from->source->chunk_pixels;
    (void)count;
    return r->chunk_first[c] < r->chunk_first[c + 1];
}

/* Copies what a chunk has of a run, if anything; at: the index of the run's first pixel. */
static void copy_run(const struct wanted_runs *r, const struct chunk *chunk,
                     const struct noise_rows *rows, const struct run *run, int64_t at) {
    const int64_t start = run->y * r->from->source->width + run->x0;
    const int64_t end = start + run_length(run), last = chunk->first + chunk->count;
    const int64_t from = start > chunk->first ? start : chunk->first, to = end < last ? end : last;
    at += from - start;
    for (int64_t k = 0; k < to - from; k++)
        r->pixels->value[at + k] =
            pixel_value(chunk->pixels, from - chunk->first + k, r->from->source->swapped);
    set_noise(r->pixels, rows, at, run->x0 + (from - start), run->y, to - from);
}

/* The first run of a set that is not before row y. */
static int64_t first_from(const struct run_set *set, int64_t y) {
    int64_t low = 0, high = set->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (set->runs[middle].y < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Copies what a chunk has of set k. */
static void copy_set(const struct wanted_runs *r, const struct chunk *chunk,
                     const struct noise_rows *rows, int64_t k) {
    const struct run_set *set = &r->sets[k];
    const int64_t width = r->from->source->width;
    const int64_t last_row = (chunk->first + chunk->count - 1) / width;
    for (int64_t i = first_from(set, chunk->first / width);
         i < set->n && set->runs[i].y <= last_row; i++)
        copy_run(r, chunk, rows, &set->runs[i], r->pixels->first[r->set_runs[k] + i]);
}

static enum srcfind_status read_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    const struct wanted_runs *r = context;
    const struct run_source *from = r->from;
    struct noise_rows rows;
    (void)worker;
    enum srcfind_status status =
        noise_rows_make(&rows, from->noise, &from->user, from->source->width, chunk->count)
            ? noise_rows_read(&rows, chunk->first, chunk->count, error)
            : error_memory(error, "reading pixels again");
    for (int64_t i = r->chunk_first[chunk->number];
         status == SRCFIND_OK && i < r->chunk_first[chunk->number + 1]; i++)
        copy_set(r, chunk, &rows, r->chunk_sets[i]);
    noise_rows_clear(&rows);
    return status;
}

/* If a map of the user cannot be read by several threads at a time, one reads. */
static enum srcfind_status read_source(struct wanted_runs *r, struct threads *threads,
                                       struct error *error) {
    const struct pixel_source *source = r->from->source;
    const bool one = noise_sources_exist(&r->from->user) &&
                     !(source->parallel && noise_sources_are_parallel(&r->from->user));
    const struct chunk_work work = {.work = read_chunk, .wanted = is_wanted, .context = r};
    if (!list_by_chunk(r))
        return error_memory(error, "reading pixels again");
    for_each_set(r, threads, find_first);
    return chunks_run(source, threads, one ? 1 : threads_count(threads), &work, error);
}

/* --- both --- */

static bool reserve_pixels(struct run_pixels *p, int64_t n) {
    const int64_t more = p->value ? n + n / 8 : n; /* as RESERVE */
    if (n <= p->capacity && p->rms)
        return true;
    free(p->value);
    free(p->background);
    free(p->rms);
    p->value = arrays_allocate(more, sizeof *p->value);
    p->background = arrays_allocate(more, sizeof *p->background);
    p->rms = arrays_allocate(more, sizeof *p->rms);
    const bool ok = p->value && p->background && p->rms;
    p->capacity = ok ? more : 0;
    return ok;
}

static bool allocate(struct wanted_runs *r) {
    struct run_pixels *p = r->pixels;
    if (!reserve_pixels(p, r->n_pixels))
        return false;
    r->set_runs = malloc(((size_t)r->n + 1) * sizeof *r->set_runs);
    if (!r->set_runs)
        return false;
    r->set_runs[0] = 0;
    for (int64_t k = 0; k < r->n; k++)
        r->set_runs[k + 1] = r->set_runs[k] + r->sets[k].n;
    return RESERVE(p->first, p->first_capacity, r->set_runs[r->n]);
}

enum srcfind_status run_pixels_read(const struct run_source *from, const struct run_set *sets,
                                    int64_t n, int64_t n_pixels, struct threads *threads,
                                    struct run_pixels *pixels, struct error *error) {
    struct wanted_runs r = {
        .from = from, .sets = sets, .n = n, .n_pixels = n_pixels, .pixels = pixels};
    enum srcfind_status status = SRCFIND_OK;
    if (!allocate(&r))
        status = error_memory(error, "reading pixels again");
    else if (from->gather)
        status = gather(&r, threads, error);
    else
        status = read_source(&r, threads, error);
    free(r.set_runs);
    free(r.chunk_first);
    free(r.chunk_sets);
    return status;
}

void run_pixels_clear(struct run_pixels *pixels) {
    free(pixels->value);
    free(pixels->background);
    free(pixels->rms);
    free(pixels->first);
    free(pixels->runs);
    *pixels = (struct run_pixels){0};
}
