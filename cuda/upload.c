#include "upload.h"

#include <string.h>

#include "input/chunks.h"

enum { LONG_CHUNK = 1 << 20 }; /* pixels */

struct upload {
    struct cuda *cuda;
    int n_workers;               /* threads that read chunks and copy them */
    int64_t slot_pixels;         /* pinned memory that a worker fills at a time */
    uint32_t *image;             /* destination on the device; NULL if pixels are only scanned */
    const struct params *params; /* of the scan */
};

static enum srcfind_status upload_check(const struct upload *upload, cudaError_t code,
                                        struct error *error) {
    return cuda_check(upload->cuda, code, "copying pixels", error);
}

/* The pinned memory is divided among the workers. Longer slots need fewer CUDA calls, but a slot
 * should stay in the processor's cache. */
static int64_t slot_pixels(const struct cuda *cuda, int n_workers) {
    const int64_t n = cuda->pinned_pixels / (SLOTS * n_workers) / TILE * TILE;
    return n < LONGEST_SLOT ? n : LONGEST_SLOT;
}

static int64_t slot_offset(const struct upload *upload, int worker) {
    return (SLOTS * worker + upload->cuda->uploaders[worker].next) * upload->slot_pixels;
}

static uint32_t *slot_of(const struct upload *upload, int worker) {
    return upload->cuda->pinned + slot_offset(upload, worker);
}

/* Waits until the worker's next slot may be overwritten. Returns NULL after an error. */
static uint32_t *next_slot(void *context, int worker, enum srcfind_status *status,
                           struct error *error) {
    const struct upload *upload = context;
    const struct uploader *uploader = &upload->cuda->uploaders[worker];
    *status = upload_check(upload, cudaSetDevice(upload->cuda->device), error);
    if (*status == SRCFIND_OK)
        *status =
            upload_check(upload, cudaEventSynchronize(uploader->copied[uploader->next]), error);
    return *status == SRCFIND_OK ? slot_of(upload, worker) : NULL;
}

/* The address on the device to which a chunk is copied. */
static uint32_t *destination(const struct upload *upload, int worker, int64_t first) {
    uint32_t *chunks = upload->cuda->buffers[BUFFER_CHUNKS].memory;
    return upload->image ? upload->image + first : chunks + slot_offset(upload, worker);
}

/* Copies the worker's next slot to the device and, if the image is not kept, scans it there. */
static enum srcfind_status send(const struct upload *upload, int worker, int64_t first,
                                int64_t count, struct error *error) {
    struct uploader *uploader = &upload->cuda->uploaders[worker];
    uint32_t *to = destination(upload, worker, first);
    cudaError_t code = cudaMemcpyAsync(to, slot_of(upload, worker), (size_t)count * sizeof *to,
                                       cudaMemcpyHostToDevice, uploader->stream);
    if (!code && !upload->image)
        code = launch_scan(upload->params, to, first, count, uploader->stream);
    if (!code)
        code = cudaEventRecord(uploader->copied[uploader->next], uploader->stream);
    uploader->next = (uploader->next + 1) % SLOTS;
    return upload_check(upload, code, error);
}

/* Sends a chunk. Its pixels are in the worker's next slot, or elsewhere in memory; then they may
 * take several slots. */
static enum srcfind_status send_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    const struct upload *upload = context;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < chunk->count; i += upload->slot_pixels) {
        const int64_t remaining = chunk->count - i;
        const int64_t n = remaining < upload->slot_pixels ? remaining : upload->slot_pixels;
        const bool is_elsewhere = chunk->pixels != slot_of(upload, worker);
        uint32_t *slot = is_elsewhere ? next_slot(context, worker, &status, error) : NULL;
        if (slot)
            memcpy(slot, chunk->pixels + i, (size_t)n * sizeof *slot);
        if (status == SRCFIND_OK)
            status = send(upload, worker, chunk->first + i, n, error);
    }
    return status;
}

/* A chunk fills a slot, unless the source unpacks chunks of its own size. Chunks that are scanned
 * must begin at a tile. If the source's do not, they become many tiles long, so that few pixels are
 * unpacked twice. */
static int64_t chunk_pixels(const struct upload *upload, const struct pixel_source *source) {
    const bool scanned = !upload->image;
    if (!source->packed)
        return upload->slot_pixels;
    if (!scanned || source->chunk_pixels % TILE == 0)
        return source->chunk_pixels;
    return (source->chunk_pixels > LONG_CHUNK ? source->chunk_pixels : LONG_CHUNK) / TILE * TILE;
}

/* Makes the main stream wait for all work in the uploaders' streams. */
static enum srcfind_status join_streams(const struct upload *upload, struct error *error) {
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < upload->n_workers; i++)
        for (int slot = 0; !code && slot < SLOTS; slot++)
            code = cudaStreamWaitEvent(upload->cuda->stream,
                                       upload->cuda->uploaders[i].copied[slot], 0);
    return upload_check(upload, code, error);
}

/* After an error: waits for the uploaders' streams, so that no pixel of this image arrives among
 * those of the next one. */
static void wait_for_streams(struct upload *upload) {
    for (int i = 0; i < upload->cuda->n_uploaders; i++)
        cudaStreamSynchronize(upload->cuda->uploaders[i].stream);
    cudaGetLastError();
}

static enum srcfind_status upload_run(struct upload *upload, const struct pixel_source *source,
                                      struct threads *threads, struct error *error) {
    struct pixel_source chunks = *source;
    const struct chunk_work work = {
        .work = send_chunk, .buffer = source->packed ? NULL : next_slot, .context = upload};
    const int n_uploaders = upload->cuda->n_uploaders;
    upload->n_workers = threads_count(threads) < n_uploaders ? threads_count(threads) : n_uploaders;
    upload->slot_pixels = slot_pixels(upload->cuda, upload->n_workers);
    chunks.chunk_pixels = chunk_pixels(upload, source);
    enum srcfind_status status = chunks_run(&chunks, threads, upload->n_workers, &work, error);
    if (status == SRCFIND_OK)
        status = join_streams(upload, error);
    if (status != SRCFIND_OK)
        wait_for_streams(upload);
    return status;
}

enum srcfind_status upload_image(struct cuda *cuda, const struct pixel_source *source,
                                 struct threads *threads, uint32_t *image, struct error *error) {
    struct upload upload = {.cuda = cuda, .image = image};
    return upload_run(&upload, source, threads, error);
}

int64_t upload_scan_size(const struct cuda *cuda) {
    return cuda->pinned_pixels * (int64_t)sizeof(uint32_t);
}

enum srcfind_status upload_and_scan(struct cuda *cuda, const struct pixel_source *source,
                                    struct threads *threads, const struct params *params,
                                    struct error *error) {
    struct upload upload = {.cuda = cuda, .params = params};
    return upload_run(&upload, source, threads, error);
}
