/* An opened device, as the host code of the backend sees it. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdatomic.h>

#include "gpu/gpu_backend.h"
#include "params.h"

enum buffer_kind {
    BUFFER_STATE,
    BUFFER_IMAGE,
    BUFFER_CHUNKS,
    BUFFER_SAMPLE,
    BUFFER_LIST,
    BUFFER_KEY_SUMS,
    BUFFER_MAPS,
    BUFFER_TILES,
    BUFFER_VALUES,
    BUFFER_NODES,
    BUFFER_RUNS,
    BUFFER_BLOCKS,
    BUFFER_ISLANDS,
    BUFFER_AFTER, /* a search: for its fits, for pixels that are gathered, or to smooth the image */
    BUFFER_SAMPLES, /* of the smoothed image */
    BUFFER_TEMPORARY,
    BUFFERS
};

/* Device memory, kept from one image to the next. It grows, and shrinks only by cuda_release. */
struct buffer {
    void *memory;
    int64_t size;
};

enum {
    UPLOADERS = 8,          /* most threads that read an image and copy it to the device */
    SLOTS = 2,              /* buffers per thread: one is copied while the other is filled */
    SLOT_PIXELS = 1 << 17,  /* of a slot if all uploaders work */
    LONGEST_SLOT = 1 << 19, /* of a slot, at most */
};

/* The stream and events with which one thread copies pixels to the device. */
struct uploader {
    cudaStream_t stream;
    cudaEvent_t copied[SLOTS]; /* complete when the slot has been copied (and scanned) */
    int next;
};

/* Events that separate the stages of a search, for the timings. */
enum mark { MARK_START, MARK_SCANNED, MARK_CLIPPED, MARK_ENDED, MARKS };

/* The last search's parameters, and its CUDA graph if it was recorded. */
struct recording {
    struct params params;
    bool valid; /* params are those of the last search */
    cudaGraphExec_t graph;
};

/* Capacities that an image needs, as shares of its number of pixels. */
struct shares {
    double values, runs, counting;
};

/* The image that was searched last, if the device has it: in a buffer, or the caller's. */
struct kept_image {
    const uint32_t *pixels; /* NULL: it has none */
    int64_t pitch;
    bool swapped;
};

struct cuda {
    int device;
    char name[SRCFIND_TEXT];
    int64_t limit, used;  /* bytes of device memory: allowed, and allocated in buffers */
    bool keeps_images;    /* if they fit; false in tests of streamed images */
    struct shares shares; /* what earlier images needed */
    cudaStream_t stream;
    cudaEvent_t mark[MARKS], before;
    struct buffer buffers[BUFFERS];
    struct uploader uploaders[UPLOADERS];
    struct uploader beside; /* for kernels beside those in `stream` */
    int n_uploaders;
    uint32_t *pinned; /* the slots of the uploaders at work */
    int64_t pinned_pixels;
    struct state *state; /* pinned; the host's copy of the device's state */
    struct recording recording;
    struct kept_image kept;
    struct kept_image image; /* the same, but for searches of the samples of the smoothed image */
    atomic_bool lost;        /* an error has left the device unusable */
    atomic_int calls;        /* CUDA calls checked so far */
    int failing_call;        /* number of the call that a test makes fail; 0: none */
};

/* Returns SRCFIND_OK if code is cudaSuccess; else formats an error that says what the backend was
 * `doing`. An error other than of allocation marks the device as lost. Every checked CUDA call goes
 * through this function, so that tests can make any of them fail. */
enum srcfind_status cuda_check(struct cuda *cuda, cudaError_t code, const char *doing,
                               struct error *error);

/* Copies `size` bytes to any memory of the host, after what is in cuda->stream, and waits for them.
 */
cudaError_t cuda_fetch(const struct cuda *cuda, void *to, const void *from, size_t size);

/* cuda_enter makes cuda's device the current one of the calling thread, and returns the previous
 * one, which the caller passes to cuda_leave. */
int cuda_enter(const struct cuda *cuda);
void cuda_leave(int device);

/* Frees a buffer; its size becomes 0. */
void cuda_release(struct cuda *cuda, enum buffer_kind kind);

/* Makes a buffer at least `size` bytes large; cuda->limit is not checked. If it grows, its contents
 * are lost. A new BUFFER_STATE is zeroed. */
enum srcfind_status cuda_reserve(struct cuda *cuda, enum buffer_kind kind, int64_t size,
                                 struct error *error);

/* Makes BUFFER_AFTER or BUFFER_SAMPLES at least `size` bytes large, and frees what the search
 * needed if the memory is too small for both. The image stays, and so do samples while BUFFER_AFTER
 * grows. SRCFIND_ERROR_DEVICE if the limit is too small. */
enum srcfind_status cuda_reserve_after_search(struct cuda *cuda, enum buffer_kind kind,
                                              int64_t size, struct error *error);

/* The largest such size. */
int64_t cuda_memory_after_search(const struct cuda *cuda, enum buffer_kind kind);

#endif
