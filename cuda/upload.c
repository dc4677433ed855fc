#include "upload.h"

#include <string.h>

#include "input/chunks.h"

enum { LONG_PIECE = 1 << 20 }; /* pixels */

struct feed {
    struct cuda *cuda;
    int n_workers;         /* threads that read and send */
    int64_t slot_pixels;   /* of pinned memory that a worker fills at a time */
    uint32_t *image;       /* where all pixels go; NULL if they are only scanned */
    const struct job *job; /* of the scan */
    enum srcfind_status status[FEEDERS];
    struct error error[FEEDERS];
};

static bool check(struct feed *feed, int worker, cudaError_t code) {
    if (feed->status[worker] == SRCFIND_OK)
        feed->status[worker] = cuda_check(feed->cuda, code, "copying pixels", &feed->error[worker]);
    return feed->status[worker] == SRCFIND_OK;
}

/* All that is pinned, shared out among the workers. Longer slots take fewer calls of CUDA, but they
 * should stay in a processor's cache. */
static int64_t slot_pixels(const struct cuda *cuda, int n_workers) {
    const int64_t n = cuda->pinned_pixels / (SLOTS * n_workers) / TILE * TILE;
    return n < LONGEST_SLOT ? n : LONGEST_SLOT;
}

static int64_t slot_offset(const struct feed *feed, int worker) {
    return (SLOTS * worker + feed->cuda->feeders[worker].next) * feed->slot_pixels;
}

static uint32_t *slot_of(const struct feed *feed, int worker) {
    return feed->cuda->pinned + slot_offset(feed, worker);
}

/* Waits until the worker's next slot is free. */
static uint32_t *next_slot(void *context, int worker) {
    struct feed *feed = context;
    const struct feeder *f = &feed->cuda->feeders[worker];
    const bool ok = check(feed, worker, cudaSetDevice(feed->cuda->device)) &&
                    check(feed, worker, cudaEventSynchronize(f->copied[f->next]));
    return ok ? slot_of(feed, worker) : NULL;
}

/* Where a chunk goes on the device. */
static uint32_t *destination(const struct feed *feed, int worker, int64_t first) {
    uint32_t *chunks = feed->cuda->buffers[BUFFER_CHUNKS].memory;
    return feed->image ? feed->image + first : chunks + slot_offset(feed, worker);
}

/* Copies what is in the next slot to the device, and has it scanned there. */
static bool send(struct feed *feed, int worker, int64_t first, int64_t count) {
    struct feeder *f = &feed->cuda->feeders[worker];
    uint32_t *to = destination(feed, worker, first);
    bool ok = check(feed, worker,
                    cudaMemcpyAsync(to, slot_of(feed, worker), (size_t)count * sizeof *to,
                                    cudaMemcpyHostToDevice, f->stream));
    if (ok && !feed->image)
        ok = check(feed, worker, launch_scan(feed->job, to, first, count, f->stream));
    ok = ok && check(feed, worker, cudaEventRecord(f->copied[f->next], f->stream));
    f->next = (f->next + 1) % SLOTS;
    return ok;
}

/* A piece was read into the next slot, or is elsewhere in memory and may take several. */
static bool send_piece(void *context, int worker, const struct piece *piece) {
    struct feed *feed = context;
    for (int64_t i = 0; i < piece->count; i += feed->slot_pixels) {
        const int64_t rest = piece->count - i;
        const int64_t n = rest < feed->slot_pixels ? rest : feed->slot_pixels;
        if (piece->pixels != slot_of(feed, worker)) {
            uint32_t *slot = next_slot(feed, worker);
            if (!slot)
                return false;
            memcpy(slot, piece->pixels + i, (size_t)n * sizeof *slot);
        }
        if (!send(feed, worker, piece->first + i, n))
            return false;
    }
    return true;
}

/* Pieces of a slot each, but where these are best taken as the source likes them. Scanned ones
 * begin at a tile; where the source's do not, they are many tiles long, so that few pixels are
 * unpacked for two of them. */
static int64_t piece_size(const struct feed *feed, const struct pixel_source *source) {
    const bool scanned = !feed->image;
    if (!source->packed)
        return feed->slot_pixels;
    if (!scanned || source->piece % TILE == 0)
        return source->piece;
    return (source->piece > LONG_PIECE ? source->piece : LONG_PIECE) / TILE * TILE;
}

/* Makes the main stream wait for all that the feeders have put into theirs. */
static void join_streams(struct feed *feed) {
    for (int i = 0; i < feed->n_workers; i++)
        for (int slot = 0; slot < SLOTS; slot++)
            check(feed, i,
                  cudaStreamWaitEvent(feed->cuda->stream, feed->cuda->feeders[i].copied[slot], 0));
}

/* After an error: nothing of this image may arrive later, among another one's pixels. */
static void wait_for_streams(struct feed *feed) {
    for (int i = 0; i < feed->cuda->n_feeders; i++)
        cudaStreamSynchronize(feed->cuda->feeders[i].stream);
    cudaGetLastError();
}

static enum srcfind_status run(struct feed *feed, const struct pixel_source *source, int n_threads,
                               struct error *error) {
    struct pixel_source pieces = *source;
    const struct piece_work work = {
        .work = send_piece, .room = source->packed ? NULL : next_slot, .context = feed};
    const int n_feeders = feed->cuda->n_feeders;
    feed->n_workers = n_threads < n_feeders ? n_threads : n_feeders;
    feed->slot_pixels = slot_pixels(feed->cuda, feed->n_workers);
    pieces.piece = piece_size(feed, source);
    enum srcfind_status status = pieces_run(&pieces, feed->n_workers, &work, error);
    join_streams(feed);
    for (int i = 0; i < feed->n_workers; i++) {
        if (feed->status[i] != SRCFIND_OK) {
            *error = feed->error[i];
            status = feed->status[i];
        }
    }
    if (status != SRCFIND_OK)
        wait_for_streams(feed);
    return status;
}

enum srcfind_status feed_image(struct cuda *cuda, const struct pixel_source *source, int n_threads,
                               uint32_t *image, struct error *error) {
    struct feed feed = {.cuda = cuda, .image = image};
    return run(&feed, source, n_threads, error);
}

int64_t feed_scan_size(const struct cuda *cuda) {
    return cuda->pinned_pixels * (int64_t)sizeof(uint32_t);
}

enum srcfind_status feed_scan(struct cuda *cuda, const struct pixel_source *source, int n_threads,
                              const struct job *job, struct error *error) {
    struct feed feed = {.cuda = cuda, .job = job};
    return run(&feed, source, n_threads, error);
}
