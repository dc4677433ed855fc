#include "copies.h"

#include <string.h>

enum { HALVES = SLOTS, SHARE = 1 << 17 }; /* bytes that a thread copies at a time */

/* A copy in the host's memory. */
struct host_copy {
    char *to;
    const char *from;
    int64_t size;
};

static void copy_share(void *context, int share) {
    const struct host_copy *c = context;
    const int64_t first = (int64_t)share * SHARE;
    memcpy(c->to + first, c->from + first,
           (size_t)(c->size - first < SHARE ? c->size - first : SHARE));
}

static void copy_on_host(struct threads *threads, void *to, const void *from, int64_t size) {
    struct host_copy copy = {to, from, size};
    threads_run(threads, (int)((size + SHARE - 1) / SHARE), copy_share, &copy);
}

/* Piece i of a copy. Pinned memory is used in halves: threads fill or empty one while the device
 * copies the other. */
struct piece {
    char *pinned;
    cudaEvent_t copied; /* by the device */
    int64_t first, size;
};

static struct piece piece_of(const struct cuda *cuda, int64_t i, int64_t size) {
    const int64_t most = cuda->pinned_pixels / HALVES * (int64_t)sizeof *cuda->pinned;
    const int64_t first = i * most;
    return (struct piece){(char *)cuda->pinned + i % HALVES * most,
                          cuda->uploaders[0].copied[i % HALVES], first,
                          size - first < most ? size - first : most};
}

cudaError_t copy_in(const struct cuda *cuda, struct threads *threads, void *to, const void *from,
                    int64_t size) {
    cudaError_t code = cudaSuccess;
    int64_t i = 0;
    for (struct piece p = piece_of(cuda, 0, size); !code && p.size > 0;
         p = piece_of(cuda, ++i, size)) {
        code = cudaEventSynchronize(p.copied);
        if (!code)
            copy_on_host(threads, p.pinned, (const char *)from + p.first, p.size);
        if (!code)
            code = cudaMemcpyAsync((char *)to + p.first, p.pinned, (size_t)p.size,
                                   cudaMemcpyHostToDevice, cuda->stream);
        if (!code)
            code = cudaEventRecord(p.copied, cuda->stream);
    }
    return code;
}

/* Begins to copy a piece to its half. */
static cudaError_t fetch(const struct cuda *cuda, const struct piece *p, const void *from) {
    const cudaError_t code =
        p->size > 0 ? cudaMemcpyAsync(p->pinned, (const char *)from + p->first, (size_t)p->size,
                                      cudaMemcpyDeviceToHost, cuda->stream)
                    : cudaSuccess;
    return code ? code : cudaEventRecord(p->copied, cuda->stream);
}

cudaError_t copy_out(const struct cuda *cuda, struct threads *threads, void *to, const void *from,
                     int64_t size) {
    struct piece p = piece_of(cuda, 0, size);
    cudaError_t code = fetch(cuda, &p, from);
    for (int64_t i = 0; !code && p.size > 0;) {
        const struct piece next = piece_of(cuda, ++i, size);
        code = fetch(cuda, &next, from);
        if (!code)
            code = cudaEventSynchronize(p.copied);
        if (!code)
            copy_on_host(threads, (char *)to + p.first, p.pinned, p.size);
        p = next;
    }
    return code;
}
