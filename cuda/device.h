/* A device that has been made ready, as the host's part of the backend sees it. */
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
    BUFFER_BUCKETS,
    BUFFER_KEY_SUMS,
    BUFFER_MAPS,
    BUFFER_TILES,
    BUFFER_VALUES,
    BUFFER_RUNS,
    BUFFER_BLOCKS,
    BUFFER_ISLANDS,
    BUFFER_TEMPORARY,
    BUFFERS
};

/* Device memory that is kept from one image to the next, and only grows. */
struct buffer {
    void *memory;
    int64_t size;
};

enum {
    FEEDERS = 8,            /* threads that read an image and copy it to the device, at most */
    SLOTS = 2,              /* of each: one is copied while the other is filled */
    SLOT_PIXELS = 1 << 17,  /* where all feeders are at work */
    LONGEST_SLOT = 1 << 19, /* where there are few */
};

/* What one thread needs to bring pixels to the device. */
struct feeder {
    cudaStream_t stream;
    cudaEvent_t copied[SLOTS]; /* nothing reads the slot any more */
    int next;
};

/* Between the stages of a search. */
enum mark { MARK_START, MARK_SCANNED, MARK_CLIPPED, MARK_ENDED, MARKS };

/* A search that was launched before, for being launched again at once. */
struct recording {
    struct job job;
    bool valid; /* job is that of the last search */
    cudaGraphExec_t graph;
};

/* Elements that an image needs room for, as shares of its pixels. */
struct shares {
    double values, runs, counting;
};

struct cuda {
    int device;
    char name[SRCFIND_TEXT];
    int64_t limit, used;        /* bytes of device memory */
    bool keeps_images;          /* those for which there is room; tests take that away */
    int64_t n_repeated;         /* searches done again with the whole list; tests look at it */
    struct shares shares;       /* the greatest so far */
    cudaStream_t stream, aside; /* the second, to look at the state while the first goes on */
    cudaEvent_t mark[MARKS], before;
    cudaEvent_t foreseen; /* the state says how long a narrowed list will be */
    struct buffer buffers[BUFFERS];
    struct feeder feeders[FEEDERS];
    int n_feeders;
    uint32_t *pinned; /* the slots of the feeders that are at work */
    int64_t pinned_pixels;
    struct state *state; /* pinned; a copy of the device's */
    struct recording recording;
    atomic_bool lost; /* an error has left the device unusable */
    atomic_int calls; /* that were checked so far */
    int failing_call; /* one that is to fail, in a test; 0: none */
};

/* Words an error unless code is cudaSuccess. Every CUDA call goes through here. */
enum srcfind_status cuda_check(struct cuda *cuda, cudaError_t code, const char *doing,
                               struct error *error);

/* Makes the device that of the calling thread, and returns which one was; cuda_leave makes it that
 * again. */
int cuda_enter(const struct cuda *cuda);
void cuda_leave(int device);

/* Frees a buffer. */
void cuda_release(struct cuda *cuda, enum buffer_kind kind);

/* Makes a buffer no smaller than this, whatever the limit. What was in it is lost if it grows. */
enum srcfind_status cuda_reserve(struct cuda *cuda, enum buffer_kind kind, int64_t size,
                                 struct error *error);

#endif
