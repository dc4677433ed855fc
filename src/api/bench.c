/* Measures the time of each stage of a search, and of a plain read of the same pixels:
 *
 * 1. From the file to a catalogue that is written to /dev/null, the search by the device that the
 *    options name (`auto` is the CPU here).
 * 2. The pixels are copied to memory in the byte order of the file. There a plain read, which adds
 *    all words, and the detection take turns.
 *
 * Each part has one round that warms up, whose times are overwritten, and then as many as are asked
 * for. The plain read is the floor: no search that reads every pixel can be faster.
 * Costs the image in memory, and in a GPU's memory if the search is there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/bench.h"
#include "api/finder.h"
#include "api/views.h"
#include "common/clock.h"
#include "common/threads.h"
#include "input/chunks.h"
#include "input/image.h"
#include "input/memory_source.h"

enum { WARM_UP = 1 };

/* --- a plain read of the host's memory --- */

struct plain_read {
    const uint32_t *pixels;
    int64_t n;
    int n_threads;
    uint64_t sums[OPTIONS_MOST_THREADS]; /* stored so that the compiler keeps the reads */
};

typedef uint64_t four_words __attribute__((vector_size(32)));

/* Several independent sums, so that no addition waits for the one before. */
static void read_range(void *context, int i) {
    enum { SUMS = 4, PIXELS = SUMS * sizeof(four_words) / sizeof(uint32_t) };
    struct plain_read *r = context;
    const int64_t n_each = r->n / r->n_threads / PIXELS * PIXELS;
    const int64_t first = n_each * i, end = i + 1 == r->n_threads ? r->n : first + n_each;
    four_words sums[SUMS] = {0};
    int64_t at = first;
    for (; at + PIXELS <= end; at += PIXELS) {
        four_words words[SUMS];
        memcpy(words, r->pixels + at, sizeof words);
        for (int k = 0; k < SUMS; k++)
            sums[k] += words[k];
    }
    const four_words sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    r->sums[i] = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
    for (; at < end; at++)
        r->sums[i] += r->pixels[at];
}

static double time_plain_read(struct threads *threads, struct plain_read *r) {
    const double start = clock_seconds();
    threads_run(threads, r->n_threads, read_range, r);
    return clock_seconds() - start;
}

/* --- rounds --- */

static bool allocate_stage(struct srcfind_bench *bench, enum srcfind_stage stage) {
    bench->seconds[stage] = calloc((size_t)bench->rounds, sizeof *bench->seconds[stage]);
    return bench->seconds[stage] != NULL;
}

static void record_search(struct srcfind_bench *bench, int i, const struct srcfind_timings *t) {
    bench->seconds[SRCFIND_SCAN][i] = t->scan;
    bench->seconds[SRCFIND_CLIP][i] = t->clip;
    bench->seconds[SRCFIND_ISLANDS][i] = t->islands;
    bench->seconds[SRCFIND_SEARCH][i] = t->scan + t->clip + t->islands;
}

/* The index of a round's times. Those of warm-up rounds have index 0, which the first measured
 * round overwrites. */
static int time_index(int round) {
    return round < WARM_UP ? 0 : round - WARM_UP;
}

static enum srcfind_status bench_cpu(struct srcfind *finder, const struct pixel_source *source,
                                     const struct detection *detection, const uint32_t *pixels,
                                     struct srcfind_bench *bench) {
    enum srcfind_status status = SRCFIND_OK;
    struct plain_read *read = malloc(sizeof *read);
    if (!read)
        return error_memory(&finder->error, "measuring a search");
    read->pixels = pixels;
    read->n = source->width * source->height;
    read->n_threads = threads_count(finder->threads);
    for (int i = 0; status == SRCFIND_OK && i < WARM_UP + bench->rounds; i++) {
        struct detection_result result = {0};
        bench->seconds[SRCFIND_FLOOR_READ][time_index(i)] = time_plain_read(finder->threads, read);
        const double start = clock_seconds();
        status = cpu_detect(source, detection, finder->threads, &result, &finder->error);
        const double elapsed = clock_seconds() - start;
        record_search(bench, time_index(i), &result.timings);
        bench->seconds[SRCFIND_SEARCH][time_index(i)] = elapsed;
        detection_result_clear(&result);
    }
    free(read);
    return status;
}

static enum srcfind_status bench_gpu(struct srcfind *finder, const struct pixel_source *source,
                                     const struct detection *detection,
                                     struct srcfind_bench *bench) {
    struct cuda_round *rounds = calloc((size_t)bench->rounds, sizeof *rounds);
    struct gpu_context *context = NULL;
    if (!rounds || !allocate_stage(bench, SRCFIND_FLOOR_COPY)) {
        free(rounds);
        return error_memory(&finder->error, "measuring a search");
    }
    enum srcfind_status status = gpu_take(finder->gpu, GPU_WAIT, &context, &finder->error);
    if (status == SRCFIND_OK)
        status = context->backend->bench(context->cuda, source, detection, finder->threads,
                                         bench->rounds, rounds, &finder->error);
    if (context)
        gpu_give(finder->gpu, context);
    for (int i = 0; status == SRCFIND_OK && i < bench->rounds; i++) {
        bench->seconds[SRCFIND_FLOOR_READ][i] = rounds[i].read;
        bench->seconds[SRCFIND_FLOOR_COPY][i] = rounds[i].copy;
        record_search(bench, i, &rounds[i].search);
    }
    free(rounds);
    return status;
}

/* Loads an image in the byte order of its file, and measures searches of its pixels in memory. */
static enum srcfind_status bench_memory(struct srcfind *finder, const char *path,
                                        struct srcfind_bench *bench) {
    struct input input;
    struct srcfind_image metadata;
    struct blanks *blanks = NULL, *unsearched = NULL;
    enum srcfind_status status =
        input_open(&input, path, &finder->options, finder->threads, &metadata, &finder->error);
    if (status == SRCFIND_OK)
        status = input_read_blanks(&input, &finder->options, &metadata, &blanks, &unsearched,
                                   finder->regions, finder->threads, &finder->error);
    const struct pixel_source *image = &input.pixels;
    const int64_t n = status == SRCFIND_OK ? image->width * image->height : 0;
    uint32_t *pixels = malloc((size_t)n * sizeof *pixels + 1);
    if (status == SRCFIND_OK)
        status = pixels ? chunks_copy(image, finder->threads, pixels, &finder->error)
                        : error_memory(&finder->error, "holding an image in memory");
    const struct views views = views_of_input(&input, &metadata, &finder->options, blanks);
    struct memory memory = {pixels, image->width, image->width};
    const struct pixel_source source = memory_source(&memory, image->height, image->swapped);
    if (status == SRCFIND_OK)
        status = finder_wants_gpu(&finder->options)
                     ? bench_gpu(finder, &source, &views.measure.detection, bench)
                     : bench_cpu(finder, &source, &views.measure.detection, pixels, bench);
    input_close(&input);
    image_clear_metadata(&metadata);
    blanks_destroy(blanks);
    blanks_destroy(unsearched);
    free(pixels);
    return status;
}

/* Measures searches from file to catalogue. The catalogues are written to /dev/null: the time of
 * the whole process (--bench) contains the cost of a file. */
static enum srcfind_status bench_files(struct srcfind *finder, const char *path, const char *format,
                                       struct srcfind_bench *bench) {
    enum srcfind_status status = SRCFIND_OK;
    FILE *null_device = fopen("/dev/null", "w");
    if (!null_device)
        return error_set(&finder->error, SRCFIND_ERROR_OUTPUT, "/dev/null: %s", strerror(errno));
    for (int i = 0; status == SRCFIND_OK && i < WARM_UP + bench->rounds; i++) {
        srcfind_catalogue_destroy(bench->catalogue);
        const double start = clock_seconds();
        status = srcfind_find_file(finder, path, &bench->catalogue);
        const double found = clock_seconds();
        if (status == SRCFIND_OK)
            status = srcfind_catalogue_write(finder, bench->catalogue, format, null_device);
        const double written = clock_seconds();
        if (status != SRCFIND_OK)
            break;
        bench->seconds[SRCFIND_MEASURE][time_index(i)] =
            srcfind_catalogue_timings(bench->catalogue)->measure;
        bench->seconds[SRCFIND_WRITE][time_index(i)] = written - found;
        bench->seconds[SRCFIND_FILE][time_index(i)] = written - start;
    }
    fclose(null_device);
    return status;
}

enum srcfind_status srcfind_bench_file(struct srcfind *finder, const char *path, const char *format,
                                       int rounds, struct srcfind_bench **result) {
    *result = NULL;
    if (rounds < 1 || rounds > SRCFIND_MAX_ROUNDS)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS, "rounds must be between 1 and %d",
                         SRCFIND_MAX_ROUNDS);
    struct srcfind_bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return error_memory(&finder->error, "measuring a search");
    bench->rounds = rounds;
    struct gpu *gpu = finder->gpu;
    if (!finder_wants_gpu(&finder->options))
        finder->gpu = NULL; /* device "auto", too, means the CPU here: all rounds on one device */
    enum srcfind_status status = SRCFIND_OK;
    for (int stage = 0; stage < SRCFIND_STAGES; stage++)
        if (stage != SRCFIND_FLOOR_COPY && !allocate_stage(bench, (enum srcfind_stage)stage))
            status = error_memory(&finder->error, "measuring a search");
    if (status == SRCFIND_OK)
        status = bench_files(finder, path, format, bench);
    if (status == SRCFIND_OK)
        status = bench_memory(finder, path, bench);
    finder->gpu = gpu;
    if (status == SRCFIND_OK)
        *result = bench;
    else
        srcfind_bench_destroy(bench);
    return status;
}

void srcfind_bench_destroy(struct srcfind_bench *bench) {
    if (!bench)
        return;
    srcfind_catalogue_destroy(bench->catalogue);
    for (int stage = 0; stage < SRCFIND_STAGES; stage++)
        free(bench->seconds[stage]);
    free(bench);
}

int srcfind_bench_rounds(const struct srcfind_bench *bench) {
    return bench->rounds;
}

const double *srcfind_bench_seconds(const struct srcfind_bench *bench, enum srcfind_stage stage) {
    return bench->seconds[stage];
}

const struct srcfind_catalogue *srcfind_bench_catalogue(const struct srcfind_bench *bench) {
    return bench->catalogue;
}
