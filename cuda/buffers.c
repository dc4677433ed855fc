#include "buffers.h"

enum {
    SAMPLE_LEAST = 1 << 13,
    SAMPLE_MOST = 1 << 18,
    PIXELS_A_SAMPLE = 256,
    RUNS_LEAST = 1 << 14,
    ISLANDS_LEAST = 1 << 12,
    PIXELS_A_VALUE = 8,           /* of a list, at least */
    PIXELS_A_VALUE_OF_LARGE = 12, /* the same, of more than WHOLE_PIXELS */
    BUCKETS_ROOM = 2,             /* for so many times the longest list */
    NARROW_PIXELS = 1 << 27,      /* the list of fewer is sorted sooner than it is narrowed */
};
_Static_assert(WHOLE_PIXELS / PIXELS_A_VALUE * BUCKETS_ROOM / BUCKET <= BUCKETS_MOST, "enough");

static int64_t at_most(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* --- numbers --- */

bool rooms_may_narrow(const struct job *job) {
    return job->n_sample > 0 && job->list_room <= UINT32_MAX;
}

/* Room for the share of n that is usual, or for what was needed once. */
static int64_t room_for(double usual, double learned, int64_t n, int64_t least) {
    const double share = learned > usual ? learned : usual;
    return at_most((int64_t)(share * (double)n) + least, n);
}

/* Ordinary images have a few hundredths of candidates, and a run in 700 pixels. An image with more
 * values to list than there is room for is not worth a list. */
static void choose(struct job *job, const struct shares *learned) {
    const int64_t n = job->n_pixels;
    const bool all = n <= LIST_PIXELS, whole = !all && n <= WHOLE_PIXELS;
    job->n_sample = all ? 0 : at_most(n / PIXELS_A_SAMPLE + SAMPLE_LEAST, SAMPLE_MOST);
    job->list_room = all ? n : n / (whole ? PIXELS_A_VALUE : PIXELS_A_VALUE_OF_LARGE);
    job->n_buckets = whole ? job->list_room * BUCKETS_ROOM / BUCKET : 0;
    job->narrows = n > NARROW_PIXELS && rooms_may_narrow(job);
    job->values_room = all ? n : room_for(1.0 / 32, learned->values, n, LIST_PIXELS / 8);
    job->runs_room = at_most(room_for(1.0 / 256, learned->runs, n, RUNS_LEAST), (int64_t)MOST_RUNS);
    job->counting_room = room_for(1.0 / 2048, learned->counting, n, ISLANDS_LEAST);
}

void rooms_choose(struct job *job, const struct cuda *cuda) {
    const struct shares none = {0, 0, 0};
    choose(job, &cuda->shares);
    if (!rooms_fit(cuda, job))
        choose(job, &none);
}

void rooms_grow(int64_t *room, int64_t wanted, double *share, int64_t n_pixels) {
    if (wanted <= *room)
        return;
    *room = wanted;
    *share = (double)wanted / (double)n_pixels;
}

/* --- buffers --- */

/* Parts of a buffer, one after the other. */
struct layout {
    char *at;
    int64_t size;
};

/* The next part: `count` elements of some size. */
static void *take(struct layout *layout, int64_t count, size_t size) {
    const int64_t bytes = (count * (int64_t)size + 255) / 256 * 256;
    void *part = layout->at;
    layout->size += bytes;
    if (layout->at)
        layout->at += bytes;
    return part;
}

/* Lays a kind of buffer out; without memory, only its size is of use. */
static int64_t lay_out(struct job *job, enum buffer_kind kind, void *memory) {
    struct layout l = {memory, 0};
    switch (kind) {
    case BUFFER_STATE:
        job->state = take(&l, 1, sizeof *job->state);
        break;
    case BUFFER_IMAGE:
        take(&l, job->image_size, 1);
        break;
    case BUFFER_CHUNKS:
        take(&l, job->chunks_size, 1);
        break;
    case BUFFER_SAMPLE:
        job->sample = take(&l, job->n_sample, sizeof *job->sample);
        job->sample_counts = take(&l, 1, sizeof *job->sample_counts);
        break;
    case BUFFER_LIST:
        for (int i = 0; i < 2; i++)
            job->list[i] = take(&l, job->list_room, sizeof *job->list[i]);
        break;
    case BUFFER_BUCKETS:
        job->bin_parts = take(&l, BINS, sizeof *job->bin_parts);
        job->bucket_size = take(&l, job->n_buckets, sizeof *job->bucket_size);
        job->buckets = take(&l, job->n_buckets * BUCKET, sizeof *job->buckets);
        job->part_low = take(&l, PARTS, sizeof *job->part_low);
        job->part_size = take(&l, PARTS, sizeof *job->part_size);
        job->part_use = take(&l, PARTS, sizeof *job->part_use);
        break;
    case BUFFER_KEY_SUMS:
        job->key_sums = take(&l, job->list_room / KEYS_A_SUM + 1, sizeof *job->key_sums);
        job->key_groups = take(&l, KEY_GROUPS, sizeof *job->key_groups);
        break;
    case BUFFER_MAPS:
        job->candidates = take(&l, job->n_tiles * TILE / 32, sizeof *job->candidates);
        job->blank = take(&l, job->n_tiles * TILE / 32, sizeof *job->blank);
        break;
    case BUFFER_TILES:
        job->tile_value = take(&l, job->n_tiles, sizeof *job->tile_value);
        job->tile_runs = take(&l, job->n_tiles + 1, sizeof *job->tile_runs);
        break;
    case BUFFER_VALUES:
        job->values = take(&l, job->values_room, sizeof *job->values);
        break;
    case BUFFER_RUNS:
        job->runs = take(&l, job->runs_room, sizeof *job->runs);
        job->parent = take(&l, job->runs_room, sizeof *job->parent);
        job->extents = take(&l, job->runs_room, sizeof *job->extents);
        job->place = take(&l, job->runs_room, sizeof *job->place);
        break;
    case BUFFER_BLOCKS:
        job->tile_words = job->n_tiles / TILES_A_BLOCK + 2;
        job->run_words = job->runs_room / RUNS_A_BLOCK + 2;
        job->tile_blocks = take(&l, job->tile_words + job->run_words, sizeof *job->tile_blocks);
        job->run_blocks = job->tile_blocks + job->tile_words;
        break;
    case BUFFER_ISLANDS:
        job->islands = take(&l, job->counting_room, sizeof *job->islands);
        break;
    case BUFFER_TEMPORARY:
        job->temporary = take(&l, (int64_t)job->temporary_size, 1);
        break;
    case BUFFERS:
        break;
    }
    return l.size;
}

/* How much room CUB wants: for sorting, or for sums over what has been sorted. */
static cudaError_t size_temporary(struct job *j) {
    uint32_t *const no_keys[2] = {NULL, NULL};
    size_t sort = 0, sums = 0;
    int sorted;
    cudaError_t code = cub_sort(NULL, &sort, no_keys, j->list_room, &sorted, NULL);
    if (!code)
        code = cub_sum_keys(NULL, &sums, NULL, j->list_room / KEYS_A_SUM + 1, NULL);
    j->temporary_size = sort > sums ? sort : sums;
    return code;
}

/* What each buffer has to have; returns the sum. */
static int64_t find_needs(const struct job *job, int64_t *needs) {
    struct job copy = *job;
    int64_t sum = 0;
    for (int kind = 0; kind < BUFFERS; kind++)
        sum += needs[kind] = lay_out(&copy, (enum buffer_kind)kind, NULL);
    return sum;
}

bool rooms_fit(const struct cuda *cuda, const struct job *job) {
    struct job copy = *job;
    int64_t needs[BUFFERS];
    return size_temporary(&copy) == cudaSuccess && find_needs(&copy, needs) <= cuda->limit;
}

/* What the buffers will take if none is freed that is large enough. */
static int64_t size_with_surplus(const struct cuda *cuda, const int64_t *needs) {
    int64_t sum = 0;
    for (int kind = 0; kind < BUFFERS; kind++)
        sum += cuda->buffers[kind].size > needs[kind] ? cuda->buffers[kind].size : needs[kind];
    return sum;
}

static void free_surplus(struct cuda *cuda, const int64_t *needs, bool new_image) {
    for (int kind = 0; kind < BUFFERS; kind++) {
        const bool of_clip = kind == BUFFER_SAMPLE || kind == BUFFER_LIST ||
                             kind == BUFFER_BUCKETS || kind == BUFFER_KEY_SUMS;
        if (cuda->buffers[kind].size > needs[kind] && (new_image || of_clip))
            cuda_release(cuda, (enum buffer_kind)kind);
    }
}

static enum srcfind_status too_little(const struct cuda *cuda, int64_t size, struct error *error) {
    return error_set(error, SRCFIND_ERROR_DEVICE,
                     "CUDA device %d (%s): the image needs %lld MiB of its memory, of which %lld "
                     "may be used; --cpu works without it",
                     cuda->device, cuda->name, (long long)(size >> 20) + 1,
                     (long long)(cuda->limit >> 20));
}

enum srcfind_status rooms_reserve(struct cuda *cuda, struct job *job, bool new_image,
                                  struct error *error) {
    int64_t needs[BUFFERS];
    enum srcfind_status status = cuda_check(cuda, size_temporary(job), "sizing buffers", error);
    if (status != SRCFIND_OK)
        return status;
    const int64_t size = find_needs(job, needs);
    if (size_with_surplus(cuda, needs) > (new_image ? cuda->limit / 2 : cuda->limit))
        free_surplus(cuda, needs, new_image);
    if (size > cuda->limit || size_with_surplus(cuda, needs) > cuda->limit)
        return too_little(cuda, size, error);
    for (int kind = 0; status == SRCFIND_OK && kind < BUFFERS; kind++) {
        status = cuda_reserve(cuda, (enum buffer_kind)kind, needs[kind], error);
        lay_out(job, (enum buffer_kind)kind, cuda->buffers[kind].memory);
    }
    return status;
}
