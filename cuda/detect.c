/* The host's part of a search: what is launched in which order, and what is done where the first
 * way was not enough. */
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "cpu/clip_histogram.h"
#include "cpu/predict.h"
#include "cpu/clip_sorted.h"
#include "upload.h"
#include "buffers.h"

struct search {
    struct cuda *cuda;
    const struct pixel_source *source;
    const struct device_pixels *on_device; /* NULL for pixels of the host */
    int n_threads;
    struct job job;
    bool recording; /* what is put into the stream is being recorded */
    bool found;     /* the islands are those of the final thresholds, as far as there was room */
    struct detection_result *result;
    struct error *error;
};

static bool is_streamed(const struct search *s) {
    return !s->job.pixels;
}

/* An image whose search needs no word from the host in between. */
static bool is_whole(const struct search *s) {
    return s->job.n_buckets > 0;
}

/* Has the list sorted by CUB, and narrowed before if it may be: buckets are for images that are
 * kept and for which there is room. */
static void forgo_buckets(struct search *s) {
    s->job.n_buckets = 0;
    s->job.narrows = rooms_may_narrow(&s->job);
}

static enum srcfind_status check(const struct search *s, cudaError_t code) {
    return cuda_check(s->cuda, code, "searching", s->error);
}

/* --- the order of the work --- */

static enum srcfind_status mark(const struct search *s, enum mark mark) {
    return check(s, cudaEventRecordWithFlags(s->cuda->mark[mark], s->cuda->stream,
                                             s->recording ? cudaEventRecordExternal
                                                          : cudaEventRecordDefault));
}

/* Waits for a stream, and looks at the state. */
static enum srcfind_status fetch_state_from(const struct search *s, cudaStream_t stream) {
    struct cuda *c = s->cuda;
    enum srcfind_status status = check(s, cudaMemcpyAsync(c->state, s->job.state, sizeof *c->state,
                                                          cudaMemcpyDeviceToHost, stream));
    return status == SRCFIND_OK ? check(s, cudaStreamSynchronize(stream)) : status;
}

static enum srcfind_status fetch_state(const struct search *s) {
    return fetch_state_from(s, s->cuda->stream);
}

/* Reads a sample of a streamed image, and takes its keys to the device. Its counts are 0 then. */
static enum srcfind_status upload_sample(struct search *s) {
    struct sample sample = {0};
    const int64_t room = s->job.n_sample;
    enum srcfind_status status = plan_draw_sample(s->source, room, &sample, s->error);
    uint32_t *keys = calloc((size_t)room, sizeof *keys);
    if (!keys && status == SRCFIND_OK)
        status = error_memory(s->error, "drawing a sample");
    for (int64_t i = 0; status == SRCFIND_OK && i < room; i++) {
        const int64_t from =
            sample.n > room ? i * sample.n / room : i; /* from all over the image */
        keys[i] = from < sample.n ? exact_key(sample.values[from]) : KEY_PADDING;
    }
    if (status == SRCFIND_OK)
        status = check(s, cudaMemcpyAsync(s->job.sample, keys, (size_t)room * sizeof *keys,
                                          cudaMemcpyHostToDevice, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = check(s, cudaMemsetAsync(s->job.sample_counts, 0, sizeof *s->job.sample_counts,
                                          s->cuda->stream));
    if (status == SRCFIND_OK)
        status = check(s, cudaStreamSynchronize(s->cuda->stream));
    free(keys);
    free(sample.values);
    return status;
}

static enum srcfind_status plan(struct search *s) {
    const struct scan_plan all = scan_plan_all(-INFINITY);
    if (s->job.n_sample == 0)
        return check(s, launch_plan_of_host(&s->job, &all, s->cuda->stream));
    const enum srcfind_status status =
        is_streamed(s) ? upload_sample(s) : check(s, launch_sample(&s->job, s->cuda->stream));
    return status == SRCFIND_OK ? check(s, launch_plan(&s->job, s->cuda->stream)) : status;
}

/* A streamed image is not read if the plan says that it is not worth it. */
static enum srcfind_status scan(struct search *s) {
    if (is_streamed(s)) {
        const enum srcfind_status status = fetch_state(s);
        return status != SRCFIND_OK || !s->cuda->state->scan_wanted
                   ? status
                   : feed_scan(s->cuda, s->source, s->n_threads, &s->job, s->error);
    }
    return check(s, launch_scan(&s->job, s->job.pixels, 0, s->job.n_pixels, s->cuda->stream));
}

static enum srcfind_status plan_and_scan(struct search *s) {
    enum srcfind_status status = mark(s, MARK_START);
    if (status == SRCFIND_OK)
        status = plan(s);
    if (status == SRCFIND_OK)
        status = scan(s);
    return status == SRCFIND_OK ? mark(s, MARK_SCANNED) : status;
}

/* The list has n_keys; by buckets, it may have fewer. A narrowed one is in list[1]. */
static enum srcfind_status sort_and_clip(struct search *s, int64_t n_keys) {
    const struct job *j = &s->job;
    const bool narrowed = !is_whole(s) && s->cuda->state->narrowing.done;
    uint32_t *const keys[2] = {j->list[narrowed], j->list[!narrowed]};
    size_t size = j->temporary_size;
    int sorted = 0;
    enum srcfind_status status;
    if (is_whole(s))
        status = check(s, launch_bucket_sort(j, s->cuda->stream));
    else
        status = check(s, cub_sort(j->temporary, &size, keys, n_keys, &sorted, s->cuda->stream));
    return status == SRCFIND_OK ? check(s, launch_clip(j, keys[sorted], n_keys, s->cuda->stream))
                                : status;
}

static enum srcfind_status clip_and_find(struct search *s, int64_t n_keys) {
    enum srcfind_status status = sort_and_clip(s, n_keys);
    if (status == SRCFIND_OK)
        status = mark(s, MARK_CLIPPED);
    if (status == SRCFIND_OK)
        status = check(s, launch_islands(&s->job, s->cuda->stream));
    return status == SRCFIND_OK ? mark(s, MARK_ENDED) : status;
}

/* All at once: nobody on the host knows how long the list is. */
static enum srcfind_status enqueue_whole(struct search *s) {
    const enum srcfind_status status = plan_and_scan(s);
    return status == SRCFIND_OK ? clip_and_find(s, s->job.list_room) : status;
}

static enum srcfind_status record(struct search *s) {
    struct cuda *c = s->cuda;
    cudaGraph_t graph = NULL;
    enum srcfind_status status =
        check(s, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    if (status != SRCFIND_OK)
        return status;
    s->recording = true;
    status = enqueue_whole(s);
    s->recording = false;
    const cudaError_t ended = cudaStreamEndCapture(c->stream, &graph);
    if (status == SRCFIND_OK)
        status = check(s, ended);
    if (status == SRCFIND_OK)
        status = check(s, cudaGraphInstantiate(&c->recording.graph, graph, 0));
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

/* A search that is like the one before in all that kernels are told is recorded, so that it and
 * those that follow are launched with one call. */
static enum srcfind_status launch_whole(struct search *s) {
    struct recording *r = &s->cuda->recording;
    const bool same = r->valid && memcmp(&r->job, &s->job, sizeof r->job) == 0;
    if (!same && r->graph)
        cudaGraphExecDestroy(r->graph);
    if (!same)
        *r = (struct recording){.valid = true};
    memcpy(&r->job, &s->job, sizeof r->job);
    if (!same)
        return enqueue_whole(s);
    const enum srcfind_status status = r->graph ? SRCFIND_OK : record(s);
    return status == SRCFIND_OK ? check(s, cudaGraphLaunch(r->graph, s->cuda->stream)) : status;
}

/* Has the list narrowed. How long it will be is known before that is done. */
static enum srcfind_status narrow(struct search *s) {
    struct cuda *c = s->cuda;
    enum srcfind_status status = check(s, launch_count_parts(&s->job, c->stream));
    if (status == SRCFIND_OK)
        status = check(s, launch_foresee(&s->job, c->stream));
    if (status == SRCFIND_OK)
        status = check(s, cudaEventRecord(c->foreseen, c->stream));
    if (status == SRCFIND_OK)
        status = check(s, launch_narrow(&s->job, c->stream));
    if (status == SRCFIND_OK)
        status = check(s, cudaStreamWaitEvent(c->aside, c->foreseen, 0));
    return status == SRCFIND_OK ? fetch_state_from(s, c->aside) : status;
}

static enum srcfind_status launch_in_parts(struct search *s) {
    const struct state *state = s->cuda->state;
    enum srcfind_status status = plan_and_scan(s);
    if (status == SRCFIND_OK)
        status = s->job.narrows ? narrow(s) : fetch_state(s);
    const int64_t n = state->narrowing.done ? state->narrowing.n : (int64_t)state->totals.n_listed;
    return status == SRCFIND_OK ? clip_and_find(s, n <= s->job.list_room ? n : 0) : status;
}

static double seconds_between(const struct search *s, enum mark a, enum mark b) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, s->cuda->mark[a], s->cuda->mark[b]);
    return 1e-3 * (double)milliseconds;
}

/* The way that ordinary images go: one read, and all that follows from it. */
static enum srcfind_status search_in_one_read(struct search *s) {
    struct srcfind_timings *t = &s->result->timings;
    enum srcfind_status status = is_whole(s) ? launch_whole(s) : launch_in_parts(s);
    if (status == SRCFIND_OK)
        status = fetch_state(s);
    if (status == SRCFIND_OK) {
        t->scan += seconds_between(s, MARK_START, MARK_SCANNED);
        t->clip += seconds_between(s, MARK_SCANNED, MARK_CLIPPED);
        t->islands += seconds_between(s, MARK_CLIPPED, MARK_ENDED);
    }
    return status;
}

/* The same, once more where buckets or a narrowed list were not enough. */
static enum srcfind_status search_once(struct search *s) {
    const enum srcfind_status status = search_in_one_read(s);
    if (status != SRCFIND_OK || !s->cuda->state->list_unsorted)
        return status;
    s->job.n_buckets = 0;
    s->job.narrows = false;
    s->cuda->n_repeated++;
    return search_in_one_read(s);
}

/* --- where that was not enough --- */

static enum srcfind_status scan_by(struct search *s, const struct scan_plan *plan) {
    enum srcfind_status status = check(s, launch_plan_of_host(&s->job, plan, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = scan(s);
    return status == SRCFIND_OK ? fetch_state(s) : status;
}

/* Lists and sorts all pixels. */
static enum srcfind_status sort_all(struct search *s) {
    const struct scan_plan all = scan_plan_all(INFINITY);
    enum srcfind_status status = scan_by(s, &all);
    if (status == SRCFIND_OK)
        status = sort_and_clip(s, (int64_t)s->cuda->state->totals.n_listed);
    return status == SRCFIND_OK ? fetch_state(s) : status;
}

static enum srcfind_status clip_by_histogram(struct search *s) {
    struct srcfind_background *b = &s->result->background;
    s->result->timings.path = "histogram on the CPU";
    const enum srcfind_status status =
        histogram_clip(s->source, s->job.detection.kappa, s->n_threads, WHOLE_MOST, b, s->error);
    return status != SRCFIND_OK && s->cuda->lost ? SRCFIND_ERROR_DEVICE : status;
}

/* The clip of a list of all pixels, if there is room for it. */
static enum srcfind_status clip_by_sorting(struct search *s) {
    struct job all = s->job;
    all.list_room = all.n_pixels;
    all.n_buckets = 0;
    all.narrows = false;
    if (!rooms_fit(s->cuda, &all))
        return SRCFIND_OK;
    const struct job ordinary = s->job;
    s->job = all;
    enum srcfind_status status = rooms_reserve(s->cuda, &s->job, false, s->error);
    if (status == SRCFIND_OK)
        status = sort_all(s);
    else if (!s->cuda->lost) /* there was no room after all */
        status = SRCFIND_OK;
    s->job.list_room = ordinary.list_room;
    if (status == SRCFIND_OK)
        status = rooms_reserve(s->cuda, &s->job, false, s->error);
    return status;
}

/* The clip again, where the plan did not hold or there was none. */
static enum srcfind_status clip_again(struct search *s) {
    const double start = clock_seconds();
    s->result->timings.path = "sorted";
    enum srcfind_status status = clip_by_sorting(s);
    if (status == SRCFIND_OK && !s->cuda->state->clip.known)
        status = clip_by_histogram(s);
    s->result->timings.clip += clock_seconds() - start;
    return status;
}

/* Reads the candidates again, until there is room for all. */
static enum srcfind_status read_candidates(struct search *s, float threshold) {
    const struct scan_plan candidates = scan_plan_candidates(threshold);
    const double start = clock_seconds();
    enum srcfind_status status;
    for (;;) {
        status = scan_by(s, &candidates);
        const int64_t n = (int64_t)s->cuda->state->totals.n_candidates;
        if (status != SRCFIND_OK || n <= s->job.values_room)
            break;
        /* Warps take places in store, and another time a few more. */
        rooms_grow(&s->job.values_room, n + n / 8, &s->cuda->shares.values, s->job.n_pixels);
        status = rooms_reserve(s->cuda, &s->job, false, s->error);
        if (status != SRCFIND_OK)
            break;
    }
    s->result->timings.scan += clock_seconds() - start;
    return status;
}

static enum srcfind_status find_islands(struct search *s, const struct thresholds *thresholds) {
    enum srcfind_status status = check(s, launch_thresholds(&s->job, thresholds, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = check(s, launch_islands(&s->job, s->cuda->stream));
    return status == SRCFIND_OK ? fetch_state(s) : status;
}

/* Gives runs and islands the room that they turned out to need, and finds them again. */
static enum srcfind_status find_more_islands(struct search *s,
                                             const struct thresholds *thresholds) {
    const struct state *found = s->cuda->state;
    const double start = clock_seconds();
    enum srcfind_status status = SRCFIND_OK;
    while (status == SRCFIND_OK &&
           (found->n_runs > s->job.runs_room || found->n_counting > s->job.counting_room)) {
        const int64_t n = s->job.n_pixels;
        struct shares *shares = &s->cuda->shares;
        if (found->n_runs > MOST_RUNS)
            return error_set(s->error, SRCFIND_ERROR_DEVICE,
                             "CUDA device %d (%s): the image has more than 2^31 runs of pixels "
                             "above the threshold; --cpu takes them",
                             s->cuda->device, s->cuda->name);
        rooms_grow(&s->job.runs_room, found->n_runs, &shares->runs, n);
        rooms_grow(&s->job.counting_room, found->n_counting, &shares->counting, n);
        status = rooms_reserve(s->cuda, &s->job, false, s->error);
        if (status == SRCFIND_OK)
            status = find_islands(s, thresholds);
    }
    s->result->timings.islands += clock_seconds() - start;
    return status;
}

/* --- from the state to the result --- */

static void take_background(const struct state *state, struct srcfind_background *b) {
    const struct clip_outcome *c = &state->clip;
    b->n_blank = (int64_t)state->totals.n_blank;
    b->n_kept = c->n_kept;
    if (c->n_kept == 0)
        return;
    b->median = c->median;
    b->mean = exact_mean(&c->sums, c->n_kept);
    b->rms = exact_rms(&c->sums, c->n_kept);
    b->min = c->min;
    b->max = c->max;
    b->rounds = c->rounds;
    b->empty = c->empty;
}

static enum srcfind_status take_islands(const struct search *s) {
    struct island_list *list = &s->result->list;
    const int64_t n = s->cuda->state->n_counting;
    list->islands = calloc((size_t)n + 1, sizeof *list->islands);
    if (!list->islands)
        return error_memory(s->error, "taking islands from the device");
    list->n = n;
    const enum srcfind_status status =
        check(s, cudaMemcpyAsync(list->islands, s->job.islands, (size_t)n * sizeof *list->islands,
                                 cudaMemcpyDeviceToHost, s->cuda->stream));
    return status == SRCFIND_OK ? check(s, cudaStreamSynchronize(s->cuda->stream)) : status;
}

/* What the clip found; by another way if need be. */
static enum srcfind_status find_background(struct search *s) {
    const struct state *state = s->cuda->state;
    enum srcfind_status status = search_once(s);
    s->result->timings.path = "one read";
    s->found = status == SRCFIND_OK && state->clip.known;
    if (status == SRCFIND_OK && !s->found)
        status = clip_again(s);
    if (status == SRCFIND_OK && state->clip.known)
        take_background(state, &s->result->background);
    if (status == SRCFIND_OK && s->result->background.n_kept == 0)
        status = error_set(s->error, SRCFIND_ERROR_INPUT, BACKEND_NO_PIXELS,
                           (long long)s->result->background.n_pixels);
    return status;
}

static enum srcfind_status search(struct search *s) {
    const struct state *state = s->cuda->state;
    const struct srcfind_background *b = &s->result->background;
    enum srcfind_status status = find_background(s);
    const struct thresholds t = thresholds_of(b->median, b->rms, b->empty, &s->job.detection);
    if (status != SRCFIND_OK || !isfinite(t.detection))
        return status;
    if (!(state->plan.candidate <= t.island) ||
        state->totals.n_candidates > (unsigned long long)s->job.values_room) {
        s->found = false;
        status = read_candidates(s, t.island);
    }
    if (status == SRCFIND_OK && !s->found)
        status = find_islands(s, &t);
    if (status == SRCFIND_OK)
        status = find_more_islands(s, &t);
    return status == SRCFIND_OK ? take_islands(s) : status;
}

/* --- images from the host, and on the device --- */

static void describe(struct search *s, int64_t width, int64_t height, int64_t pitch,
                     const struct detection *detection) {
    struct job *job = &s->job;
    memset(job, 0, sizeof *job); /* also between its members: jobs are compared as they are */
    job->width = width;
    job->height = height;
    job->pitch = height > 1 ? pitch : width; /* so that n_pixels is never below it */
    job->n_pixels = pitch * (height - 1) + width;
    job->n_tiles = (job->n_pixels + TILE - 1) / TILE;
    job->detection = *detection;
    *s->result = (struct detection_result){.background.n_pixels = width * height};
    rooms_choose(job, s->cuda);
}

/* Searches, with the device as that of the calling thread meanwhile; `place` sees to it that the
 * job has its buffers, and its pixels unless they are streamed. */
static enum srcfind_status search_here(struct search *s, int64_t width, int64_t height,
                                       int64_t pitch, const struct detection *detection,
                                       enum srcfind_status (*place)(struct search *s)) {
    if (s->cuda->lost)
        return error_set(s->error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): lost in an earlier search; --cpu works without it",
                         s->cuda->device, s->cuda->name);
    const int callers_device = cuda_enter(s->cuda);
    describe(s, width, height, pitch, detection);
    enum srcfind_status status = place(s);
    if (status == SRCFIND_OK)
        status = search(s);
    if (status != SRCFIND_OK) {
        free(s->result->list.islands);
        s->result->list = (struct island_list){0};
    }
    cuda_leave(callers_device);
    return status;
}

/* Reserves buffers: for an image that is kept if there is room for it, and else for its chunks. */
static enum srcfind_status reserve_for_image(struct search *s) {
    s->job.image_size = s->job.n_pixels * (int64_t)sizeof(uint32_t);
    if (!rooms_fit(s->cuda, &s->job))
        forgo_buckets(s);
    if (s->cuda->keeps_images && rooms_fit(s->cuda, &s->job)) {
        const enum srcfind_status status = rooms_reserve(s->cuda, &s->job, true, s->error);
        if (status == SRCFIND_OK || s->cuda->lost)
            return status;
    }
    s->job.image_size = 0;
    forgo_buckets(s);
    s->job.chunks_size = feed_scan_size(s->cuda);
    return rooms_reserve(s->cuda, &s->job, true, s->error);
}

/* Takes the image to the device if it is kept there. */
static enum srcfind_status place_image(struct search *s) {
    const double start = clock_seconds();
    s->job.swapped = s->source->swapped;
    enum srcfind_status status = reserve_for_image(s);
    if (status != SRCFIND_OK || s->job.image_size == 0)
        return status;
    uint32_t *image = s->cuda->buffers[BUFFER_IMAGE].memory;
    s->job.pixels = image;
    status = feed_image(s->cuda, s->source, s->n_threads, image, s->error);
    if (status == SRCFIND_OK)
        status = check(s, cudaStreamSynchronize(s->cuda->stream));
    s->result->timings.transfer = clock_seconds() - start;
    return status;
}

enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, int n_threads,
                                struct detection_result *result, struct error *error) {
    struct search s = {
        .cuda = cuda, .source = source, .n_threads = n_threads, .result = result, .error = error};
    return search_here(&s, source->width, source->height, source->width, detection, place_image);
}

/* Pixels on the device, for what is done on the host, by any of its threads. */
static const uint32_t *read_device(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct search *s = state;
    const struct job *j = &s->job;
    const int callers_device = cuda_enter(s->cuda);
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < count;) {
        const int64_t y = (first + i) / j->width, x = (first + i) % j->width;
        const int64_t n = j->width - x < count - i ? j->width - x : count - i;
        status = cuda_check(s->cuda,
                            cudaMemcpy(buffer + i, j->pixels + y * j->pitch + x,
                                       (size_t)n * sizeof *buffer, cudaMemcpyDeviceToHost),
                            "reading pixels", error);
        i += n;
    }
    cuda_leave(callers_device);
    return status == SRCFIND_OK ? buffer : NULL;
}

/* Whether the pixels are where they should be, and the stream is one. */
static enum srcfind_status check_pixels(const struct search *s) {
    const struct device_pixels *pixels = s->on_device;
    const cudaStream_t stream = (cudaStream_t)pixels->stream;
    struct cudaPointerAttributes facts;
    const cudaError_t code = cudaPointerGetAttributes(&facts, pixels->pixels);
    const bool here =
        !code && (facts.type == cudaMemoryTypeManaged ||
                  (facts.type == cudaMemoryTypeDevice && facts.device == s->cuda->device));
    if (here && cudaEventRecord(s->cuda->before, stream) == cudaSuccess)
        return SRCFIND_OK;
    cudaGetLastError();
    return error_set(s->error, SRCFIND_ERROR_OPTIONS,
                     here ? "the stream is none of CUDA device %d (%s)"
                          : "the pixels are not in the memory of CUDA device %d (%s)",
                     s->cuda->device, s->cuda->name);
}

static enum srcfind_status place_pixels(struct search *s) {
    enum srcfind_status status = check_pixels(s);
    s->job.pixels = (const uint32_t *)(const void *)s->on_device->pixels;
    s->job.swapped = s->on_device->swapped;
    if (status == SRCFIND_OK)
        status = check(s, cudaStreamWaitEvent(s->cuda->stream, s->cuda->before, 0));
    return status == SRCFIND_OK ? rooms_reserve(s->cuda, &s->job, true, s->error) : status;
}

enum srcfind_status cuda_detect_pixels(struct cuda *cuda, const struct device_pixels *pixels,
                                       const struct detection *detection, int n_threads,
                                       struct detection_result *result, struct error *error) {
    struct search s = {.cuda = cuda,
                       .on_device = pixels,
                       .n_threads = n_threads,
                       .result = result,
                       .error = error};
    const struct pixel_source source = {.width = pixels->width,
                                        .height = pixels->height,
                                        .piece = 1 << 20,
                                        .sample_rows = 256,
                                        .swapped = pixels->swapped,
                                        .parallel = true,
                                        .state = &s,
                                        .read = read_device};
    s.source = &source;
    return search_here(&s, pixels->width, pixels->height, pixels->row_stride, detection,
                       place_pixels);
}
