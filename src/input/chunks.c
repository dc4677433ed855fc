/* How an image is read in chunks:
 *
 * 1. Workers take bands of consecutive chunks in the order of the pixels, under a lock; `wanted`
 *    may skip chunks.
 * 2. A source that is not parallel is read by one worker at a time; the others process their
 *    chunks.
 * 3. After a failure no new band is begun, but all chunks before the failed one are still
 *    processed: the error is always that of the lowest chunk that failed.
 *
 * Each worker has one buffer of a chunk, or the work gives it one. Every chunk is processed once.
 */
#include "input/chunks.h"

#include <stdlib.h>
#include <threads.h>

struct chunk_queue {
    const struct pixel_source *source;
    const struct chunk_work *work;
    struct threads *threads;
    int64_t n_chunks;
    mtx_t lock;
    int64_t next; /* the next chunk; the lock protects this member and those below */
    enum srcfind_status status;
    int64_t failed;      /* the first chunk, in the order of the pixels, that failed */
    struct error *error; /* of the chunk `failed` */
};

/* The remaining chunks of a worker's band, [next, end). */
struct band {
    int64_t next, end;
};

int64_t chunks_count(const struct pixel_source *source) {
    const int64_t n = source->width * source->height;
    return (n + source->chunk_pixels - 1) / source->chunk_pixels;
}

/* Records a failure. The error of the lowest chunk is kept, so that the report does not depend on
 * the timing of the threads. */
static void record_failure(struct chunk_queue *r, int64_t chunk, enum srcfind_status status,
                           const struct error *error) {
    if (r->status == SRCFIND_OK || chunk < r->failed) {
        r->status = status;
        r->failed = chunk;
        *r->error = *error;
    }
}

/* Takes the next chunk of the worker's band, or of a new band. False if none is left. After an
 * error no new band is started, but all chunks before the failed one are still read. */
static bool take_chunk(struct chunk_queue *r, struct band *band, struct chunk *chunk) {
    if (band->next == band->end) {
        const int64_t remaining = r->n_chunks - r->next;
        const int64_t size = r->work->band > 1 ? r->work->band : 1;
        if (remaining == 0 || r->status != SRCFIND_OK)
            return false;
        band->next = r->next;
        band->end = r->next += remaining < size ? remaining : size;
    }
    chunk->number = band->next++;
    return r->status == SRCFIND_OK || chunk->number < r->failed;
}

static void locate_chunk(const struct pixel_source *s, struct chunk *chunk) {
    const int64_t remaining = s->width * s->height - chunk->number * s->chunk_pixels;
    chunk->first = chunk->number * s->chunk_pixels;
    chunk->count = remaining < s->chunk_pixels ? remaining : s->chunk_pixels;
}

/* Takes the next chunk that is wanted. */
static bool take_wanted(struct chunk_queue *r, struct band *band, struct chunk *chunk) {
    while (take_chunk(r, band, chunk)) {
        locate_chunk(r->source, chunk);
        if (!r->work->wanted || r->work->wanted(r->work->context, chunk->first, chunk->count))
            return true;
    }
    return false;
}

/* Takes and reads the next chunk; false if none is left, or on an error. */
static bool next_chunk(struct chunk_queue *r, struct band *band, struct chunk *chunk,
                       uint32_t *buffer, struct error *error) {
    const struct pixel_source *s = r->source;
    mtx_lock(&r->lock);
    if (!take_wanted(r, band, chunk)) {
        mtx_unlock(&r->lock);
        return false;
    }
    if (s->parallel)
        mtx_unlock(&r->lock);
    chunk->pixels = s->read(s->state, chunk->first, chunk->count, buffer, error);
    if (s->parallel)
        mtx_lock(&r->lock);
    if (!chunk->pixels)
        record_failure(r, chunk->number, SRCFIND_ERROR_INPUT, error);
    mtx_unlock(&r->lock);
    return chunk->pixels != NULL;
}

/* The buffer for the worker's next chunk: the worker's, or one that the work gives. NULL on an
 * error, or if there is to be no next chunk. */
static uint32_t *next_buffer(const struct chunk_queue *r, int worker, uint32_t *own,
                             enum srcfind_status *status, struct error *error) {
    *status = threads_check(r->threads, error);
    if (*status != SRCFIND_OK)
        return NULL;
    if (r->work->buffer)
        return r->work->buffer(r->work->context, worker, status, error);
    *status = own ? SRCFIND_OK : error_memory(error, "working through the image");
    return own;
}

static void read_and_work(void *context, int worker) {
    struct chunk_queue *r = context;
    struct band band = {0, 0};
    struct chunk chunk = {.number = r->n_chunks};
    struct error error;
    enum srcfind_status status = SRCFIND_OK;
    uint32_t *own = r->work->buffer ? NULL : malloc((size_t)r->source->chunk_pixels * sizeof *own),
             *buffer;
    while (status == SRCFIND_OK && (buffer = next_buffer(r, worker, own, &status, &error)) &&
           next_chunk(r, &band, &chunk, buffer, &error))
        status = r->work->work(r->work->context, worker, &chunk, &error);
    if (status != SRCFIND_OK) {
        mtx_lock(&r->lock);
        record_failure(r, chunk.number, status, &error);
        mtx_unlock(&r->lock);
    }
    free(own);
}

enum srcfind_status chunks_run(const struct pixel_source *source, struct threads *threads,
                               int n_workers, const struct chunk_work *work, struct error *error) {
    struct chunk_queue r = {.source = source,
                            .work = work,
                            .threads = threads,
                            .n_chunks = chunks_count(source),
                            .error = error};
    if (mtx_init(&r.lock, mtx_plain) != thrd_success)
        return error_memory(error, "starting to read the image");
    threads_run(threads, n_workers < r.n_chunks ? n_workers : (int)r.n_chunks, read_and_work, &r);
    mtx_destroy(&r.lock);
    return r.status;
}

static enum srcfind_status copy_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    uint32_t *pixels = context;
    (void)worker;
    (void)error;
    memcpy(pixels + chunk->first, chunk->pixels, (size_t)chunk->count * sizeof *pixels);
    return SRCFIND_OK;
}

enum srcfind_status chunks_copy(const struct pixel_source *source, struct threads *threads,
                                uint32_t *pixels, struct error *error) {
    const struct chunk_work work = {.work = copy_chunk, .context = pixels};
    return chunks_run(source, threads, threads_count(threads), &work, error);
}
