/* The host code of a search: it launches the stages in their order, and the slower ways if the
 * prediction failed or a buffer overflowed. */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "common/clock.h"
#include "cpu/clip_histogram.h"
#include "cpu/clip_sorted.h"
#include "cpu/predict.h"
#include "input/blanked.h"
#include "noise.h"
#include "take_runs.h"
#include "upload.h"

/* Device memory for the fits of an image, if sources are fitted: of a small and of a large one. */
enum { MEASURED_BYTES_A_PIXEL = 64, MEASURED_BYTES = 1 << 27 };

struct search {
    struct cuda *cuda;
    const struct pixel_source *source;
    const struct device_pixels *on_device; /* NULL if the pixels are on the host */
    struct threads *threads;
    const struct detection *detection;
    struct params params;
    struct noise_grid grid; /* of local noise */
    bool recording;         /* the stream is being captured */
    bool found; /* the islands were found with the final thresholds, but for overflows */
    struct detection_result *result;
    struct error *error;
};

static bool is_streamed(const struct search *s) {
    return !s->params.pixels;
}

static enum srcfind_status search_check(const struct search *s, cudaError_t code) {
    return cuda_check(s->cuda, code, "searching", s->error);
}

/* --- the stages in their order --- */

static enum srcfind_status search_mark(const struct search *s, enum mark mark) {
    return search_check(s, cudaEventRecordWithFlags(s->cuda->mark[mark], s->cuda->stream,
                                                    s->recording ? cudaEventRecordExternal
                                                                 : cudaEventRecordDefault));
}

/* Waits for all work in the stream, and copies the state to the host. */
static enum srcfind_status fetch_state(const struct search *s) {
    struct cuda *c = s->cuda;
    enum srcfind_status status =
        search_check(s, cudaMemcpyAsync(c->state, s->params.state, sizeof *c->state,
                                        cudaMemcpyDeviceToHost, c->stream));
    return status == SRCFIND_OK ? search_check(s, cudaStreamSynchronize(c->stream)) : status;
}

/* Reads a sample of a streamed image, copies its keys to the device, and sets its counts to 0. */
static enum srcfind_status upload_sample(struct search *s) {
    struct sample sample = {0};
    const int64_t capacity = s->params.n_sample;
    enum srcfind_status status =
        predict_draw_sample(s->source, capacity, s->threads, &sample, s->error);
    uint32_t *keys = calloc((size_t)capacity, sizeof *keys);
    if (!keys && status == SRCFIND_OK)
        status = error_memory(s->error, "drawing a sample");
    for (int64_t i = 0; status == SRCFIND_OK && i < capacity; i++) {
        const int64_t from =
            sample.n > capacity ? i * sample.n / capacity : i; /* evenly from the whole sample */
        keys[i] = from < sample.n ? exact_key(sample.values[from]) : KEY_PADDING;
    }
    if (status == SRCFIND_OK)
        status =
            search_check(s, cudaMemcpyAsync(s->params.sample, keys, (size_t)capacity * sizeof *keys,
                                            cudaMemcpyHostToDevice, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = search_check(s, cudaMemsetAsync(s->params.sample_counts, 0,
                                                 sizeof *s->params.sample_counts, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = search_check(s, cudaStreamSynchronize(s->cuda->stream));
    free(keys);
    free(sample.values);
    return status;
}

static enum srcfind_status search_predict(struct search *s) {
    const struct scan_plan all = scan_plan_all(-INFINITY);
    if (s->params.n_sample == 0)
        return search_check(s, launch_set_plan(&s->params, &all, s->cuda->stream));
    const enum srcfind_status status =
        is_streamed(s) ? upload_sample(s)
                       : search_check(s, launch_sample(&s->params, s->cuda->stream));
    return status == SRCFIND_OK ? search_check(s, launch_predict(&s->params, s->cuda->stream))
                                : status;
}

/* Scans the image; a streamed one is not read if the prediction is not useful. */
static enum srcfind_status search_scan(struct search *s) {
    if (is_streamed(s)) {
        const enum srcfind_status status = fetch_state(s);
        return status != SRCFIND_OK || !s->cuda->state->scan_wanted
                   ? status
                   : upload_and_scan(s->cuda, s->source, s->threads, &s->params, s->error);
    }
    return search_check(
        s, launch_scan(&s->params, s->params.pixels, 0, s->params.n_pixels, s->cuda->stream));
}

static enum srcfind_status predict_and_scan(struct search *s) {
    enum srcfind_status status = search_mark(s, MARK_START);
    if (status == SRCFIND_OK)
        status = search_predict(s);
    if (status == SRCFIND_OK)
        status = search_scan(s);
    return status == SRCFIND_OK ? search_mark(s, MARK_SCANNED) : status;
}

/* Sorts the n_keys keys of the list, and clips by them. */
static enum srcfind_status sort_and_clip(struct search *s, int64_t n_keys) {
    const struct params *params = &s->params;
    size_t size = params->temporary_size;
    int sorted = 0;
    const enum srcfind_status status = search_check(
        s, cub_sort(params->temporary, &size, params->list, n_keys, &sorted, s->cuda->stream));
    return status == SRCFIND_OK
               ? search_check(s, launch_clip(params, params->list[sorted], n_keys, s->cuda->stream))
               : status;
}

static enum srcfind_status clip_and_find(struct search *s, int64_t n_keys) {
    enum srcfind_status status = sort_and_clip(s, n_keys);
    if (status == SRCFIND_OK)
        status = search_mark(s, MARK_CLIPPED);
    if (status == SRCFIND_OK)
        status = search_check(s, launch_islands(&s->params, s->cuda->stream));
    return status == SRCFIND_OK ? search_mark(s, MARK_ENDED) : status;
}

/* Enqueues all stages. The host does not know the list's length, so the whole capacity is sorted,
 * with padding behind the list. */
static enum srcfind_status enqueue_all(struct search *s) {
    _Static_assert(KEY_PADDING == 0xffffffffu, "all bytes are equal");
    enum srcfind_status status =
        search_check(s, cudaMemsetAsync(s->params.list[0], 0xff,
                                        (size_t)s->params.list_capacity * sizeof *s->params.list[0],
                                        s->cuda->stream));
    if (status == SRCFIND_OK)
        status = predict_and_scan(s);
    return status == SRCFIND_OK ? clip_and_find(s, s->params.list_capacity) : status;
}

static enum srcfind_status record_graph(struct search *s) {
    struct cuda *c = s->cuda;
    cudaGraph_t graph = NULL;
    enum srcfind_status status =
        search_check(s, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    if (status != SRCFIND_OK)
        return status;
    s->recording = true;
    status = enqueue_all(s);
    s->recording = false;
    const cudaError_t ended = cudaStreamEndCapture(c->stream, &graph);
    if (status == SRCFIND_OK)
        status = search_check(s, ended);
    if (status == SRCFIND_OK)
        status = search_check(s, cudaGraphInstantiate(&c->recording.graph, graph, 0));
    if (graph)
        cudaGraphDestroy(graph);
    return status;
}

/* If all parameters equal those of the last search, the search is recorded as a CUDA graph. It and
 * later ones like it are launched with one call. */
static enum srcfind_status launch_at_once(struct search *s) {
    struct recording *r = &s->cuda->recording;
    const bool same = r->valid && memcmp(&r->params, &s->params, sizeof r->params) == 0;
    if (!same && r->graph)
        cudaGraphExecDestroy(r->graph);
    if (!same)
        *r = (struct recording){.valid = true};
    memcpy(&r->params, &s->params, sizeof r->params);
    if (!same)
        return enqueue_all(s);
    const enum srcfind_status status = r->graph ? SRCFIND_OK : record_graph(s);
    return status == SRCFIND_OK ? search_check(s, cudaGraphLaunch(r->graph, s->cuda->stream))
                                : status;
}

static enum srcfind_status launch_in_steps(struct search *s) {
    enum srcfind_status status = predict_and_scan(s);
    if (status == SRCFIND_OK)
        status = fetch_state(s);
    const int64_t n = (int64_t)s->cuda->state->totals.n_listed;
    return status == SRCFIND_OK ? clip_and_find(s, n <= s->params.list_capacity ? n : 0) : status;
}

static double seconds_between(const struct search *s, enum mark a, enum mark b) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, s->cuda->mark[a], s->cuda->mark[b]);
    return 1e-3 * (double)milliseconds;
}

/* The fast way, which suffices for ordinary images: it reads the image once. */
static enum srcfind_status search_in_one_read(struct search *s) {
    struct srcfind_timings *t = &s->result->timings;
    enum srcfind_status status = s->params.at_once ? launch_at_once(s) : launch_in_steps(s);
    if (status == SRCFIND_OK)
        status = fetch_state(s);
    if (status == SRCFIND_OK) {
        t->scan += seconds_between(s, MARK_START, MARK_SCANNED);
        t->clip += seconds_between(s, MARK_SCANNED, MARK_CLIPPED);
        t->islands += seconds_between(s, MARK_CLIPPED, MARK_ENDED);
    }
    return status;
}

/* --- if that was not enough --- */

static enum srcfind_status scan_by(struct search *s, const struct scan_plan *plan) {
    enum srcfind_status status =
        search_check(s, launch_set_plan(&s->params, plan, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = search_scan(s);
    return status == SRCFIND_OK ? fetch_state(s) : status;
}

/* Lists all pixels, sorts them and clips. */
static enum srcfind_status sort_all(struct search *s) {
    const struct scan_plan all = scan_plan_all(INFINITY);
    enum srcfind_status status = scan_by(s, &all);
    if (status == SRCFIND_OK)
        status = sort_and_clip(s, (int64_t)s->cuda->state->totals.n_listed);
    return status == SRCFIND_OK ? fetch_state(s) : status;
}

static enum srcfind_status clip_by_histogram(struct search *s) {
    struct srcfind_background *b = &s->result->background;
    s->result->timings.clip_method = "histogram on the CPU";
    const enum srcfind_status status =
        histogram_clip(s->source, s->params.detection.kappa, s->threads, SORTED_MOST, b, s->error);
    return status != SRCFIND_OK && s->cuda->lost ? SRCFIND_ERROR_DEVICE : status;
}

/* Clips by a list of all pixels, if it fits in memory. Else state->clip.known stays false. */
static enum srcfind_status clip_by_sorting(struct search *s) {
    struct params all = s->params;
    all.list_capacity = all.n_pixels;
    all.at_once = false;
    if (!buffers_fit(s->cuda, &all))
        return SRCFIND_OK;
    const struct params ordinary = s->params;
    s->params = all;
    enum srcfind_status status = buffers_reserve(s->cuda, &s->params, false, s->error);
    if (status == SRCFIND_OK)
        status = sort_all(s);
    else if (!s->cuda->lost) /* the device has less free memory than expected */
        status = SRCFIND_OK;
    s->params.list_capacity = ordinary.list_capacity;
    if (status == SRCFIND_OK)
        status = buffers_reserve(s->cuda, &s->params, false, s->error);
    return status;
}

/* Clips again if the prediction failed or there was none. */
static enum srcfind_status clip_again(struct search *s) {
    const double start = clock_seconds();
    s->result->timings.clip_method = "sorted";
    enum srcfind_status status = clip_by_sorting(s);
    if (status == SRCFIND_OK && !s->cuda->state->clip.known)
        status = clip_by_histogram(s);
    s->result->timings.clip += clock_seconds() - start;
    return status;
}

/* Scans for candidates again, until their buffer is large enough. */
static enum srcfind_status read_candidates(struct search *s, const struct thresholds *t) {
    const struct scan_plan candidates = scan_plan_candidates(t, s->params.detection.connectivity);
    const double start = clock_seconds();
    enum srcfind_status status;
    for (;;) {
        status = scan_by(s, &candidates);
        const int64_t n = (int64_t)s->cuda->state->totals.n_candidates;
        if (status != SRCFIND_OK || n <= s->params.values_capacity)
            break;
        /* Warps reserve indices in advance; the next scan may reserve a few more. */
        buffers_grow(&s->params.values_capacity, n + n / 8, &s->cuda->shares.values,
                     s->params.n_pixels);
        status = buffers_reserve(s->cuda, &s->params, false, s->error);
        if (status != SRCFIND_OK)
            break;
    }
    s->result->timings.scan += clock_seconds() - start;
    return status;
}

static enum srcfind_status find_islands(struct search *s, const struct thresholds *thresholds) {
    const double start = clock_seconds();
    enum srcfind_status status =
        search_check(s, launch_thresholds(&s->params, thresholds, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = search_check(s, launch_islands(&s->params, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = fetch_state(s);
    s->result->timings.islands += clock_seconds() - start;
    return status;
}

/* Enlarges the buffers of runs and islands to what was counted, and finds the islands again. */
static enum srcfind_status find_more_islands(struct search *s,
                                             const struct thresholds *thresholds) {
    const struct state *found = s->cuda->state;
    enum srcfind_status status = SRCFIND_OK;
    while (status == SRCFIND_OK && (found->n_runs > s->params.runs_capacity ||
                                    found->n_counting > s->params.counting_capacity)) {
        const int64_t n = s->params.n_pixels;
        struct shares *shares = &s->cuda->shares;
        if (found->n_runs > MOST_RUNS)
            return error_set(s->error, SRCFIND_ERROR_DEVICE,
                             "CUDA device %d (%s): the image has more than 2^31 runs of pixels "
                             "above the threshold; --cpu takes them",
                             s->cuda->device, s->cuda->name);
        buffers_grow(&s->params.runs_capacity, found->n_runs, &shares->runs, n);
        buffers_grow(&s->params.counting_capacity, found->n_counting, &shares->counting, n);
        status = buffers_reserve(s->cuda, &s->params, false, s->error);
        if (status == SRCFIND_OK)
            status = find_islands(s, thresholds);
    }
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
    struct segments *out = &s->result->segments;
    const int64_t n = s->cuda->state->n_counting;
    out->islands = calloc((size_t)n + 1, sizeof *out->islands);
    if (!out->islands)
        return error_memory(s->error, "taking islands from the device");
    out->n = n;
    enum srcfind_status status = search_check(
        s, cudaMemcpyAsync(out->islands, s->params.islands, (size_t)n * sizeof *out->islands,
                           cudaMemcpyDeviceToHost, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = search_check(s, cudaStreamSynchronize(s->cuda->stream));
    return status == SRCFIND_OK && s->detection->keep_runs
               ? take_runs(s->cuda, &s->params, out, s->error)
               : status;
}

/* Finds median and rms: by the clip of one read, or by a slower way if that failed. */
static enum srcfind_status find_background(struct search *s) {
    const struct state *state = s->cuda->state;
    enum srcfind_status status = search_in_one_read(s);
    s->result->timings.clip_method = "one read";
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

/* Finds the islands of the pixels above one noise for the whole image. */
static enum srcfind_status find_above(struct search *s, const struct thresholds *t) {
    const struct state *state = s->cuda->state;
    enum srcfind_status status = SRCFIND_OK;
    if (!(state->plan.candidate <= t->island) ||
        state->totals.n_candidates > (unsigned long long)s->params.values_capacity) {
        s->found = false;
        status = read_candidates(s, t);
    }
    return status == SRCFIND_OK && !s->found ? find_islands(s, t) : status;
}

/* Clips the box of each node, and finds the islands of the pixels above the noise between the
 * nodes. */
static enum srcfind_status find_above_nodes(struct search *s, const struct thresholds *all) {
    const double start = clock_seconds();
    s->params.detection = *s->detection;
    enum srcfind_status status = noise_find(s->cuda, &s->params, &s->grid, s->source, s->threads,
                                            &s->result->noise, s->error);
    s->result->timings.clip += clock_seconds() - start;
    if (status == SRCFIND_OK)
        status = read_candidates(s, all);
    return status == SRCFIND_OK ? find_islands(s, all) : status;
}

static enum srcfind_status search_image(struct search *s) {
    const struct srcfind_background *b = &s->result->background;
    const bool is_local = s->detection->box > 0;
    enum srcfind_status status = find_background(s);
    struct noise_map *noise = &s->result->noise;
    *noise = noise_of_clip(b->median, b->rms, s->detection);
    const struct thresholds all = {-INFINITY, -INFINITY};
    const struct thresholds t = is_local ? all : thresholds_of(noise, b->empty, s->detection);
    if (status != SRCFIND_OK || t.detection == INFINITY)
        return status;
    status = is_local ? find_above_nodes(s, &t) : find_above(s, &t);
    if (status == SRCFIND_OK)
        status = find_more_islands(s, &t);
    return status == SRCFIND_OK ? take_islands(s) : status;
}

/* --- images on the host, and on the device --- */

/* With local noise, the clip of the whole image keeps no candidates. */
static enum srcfind_status search_describe(struct search *s, int64_t width, int64_t height,
                                           int64_t pitch) {
    struct params *params = &s->params;
    memset(params, 0, sizeof *params); /* also the padding: params are compared bytewise */
    params->width = width;
    params->height = height;
    params->pitch = height > 1 ? pitch : width; /* so that n_pixels >= pitch */
    params->n_pixels = pitch * (height - 1) + width;
    params->n_tiles = (params->n_pixels + TILE - 1) / TILE;
    params->detection = *s->detection;
    *s->result = (struct detection_result){.background.n_pixels = width * height};
    if (!noise_plan(params, &s->grid))
        return error_memory(s->error, "measuring local noise");
    if (params->detection.box > 0)
        params->detection.island = params->detection.threshold = INFINITY;
    buffers_choose(params, s->cuda);
    return SRCFIND_OK;
}

/* Searches, with the device as the calling thread's current one. `prepare` reserves the buffers of
 * s->params, and sets its pixels unless the image is streamed. */
static enum srcfind_status run_search(struct search *s, int64_t width, int64_t height,
                                      int64_t pitch,
                                      enum srcfind_status (*prepare)(struct search *s)) {
    if (s->cuda->lost)
        return error_set(s->error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): lost in an earlier search; --cpu works without it",
                         s->cuda->device, s->cuda->name);
    const int callers_device = cuda_enter(s->cuda);
    s->cuda->kept = (struct kept_image){0};
    enum srcfind_status status = search_describe(s, width, height, pitch);
    if (status == SRCFIND_OK)
        status = prepare(s);
    if (status == SRCFIND_OK)
        status = search_image(s);
    if (status == SRCFIND_OK)
        s->cuda->kept = (struct kept_image){s->params.pixels, s->params.pitch, s->params.swapped};
    else
        detection_result_clear(s->result);
    s->result->is_on_device = status == SRCFIND_OK && !is_streamed(s);
    noise_grid_clear(&s->grid);
    cuda_leave(callers_device);
    return status;
}

/* Whether the image, beside which sources are measured, leaves memory for that. */
static bool leaves_memory(const struct search *s) {
    const int64_t all = s->params.n_pixels * MEASURED_BYTES_A_PIXEL;
    return !s->detection->keep_runs ||
           s->params.image_size + (all < MEASURED_BYTES ? all : MEASURED_BYTES) <= s->cuda->limit;
}

/* Reserves buffers: for the whole image if it fits, else for its chunks. */
static enum srcfind_status reserve_for_image(struct search *s) {
    s->params.image_size = s->params.n_pixels * (int64_t)sizeof(uint32_t);
    if (s->cuda->keeps_images && buffers_fit(s->cuda, &s->params) && leaves_memory(s)) {
        const enum srcfind_status status = buffers_reserve(s->cuda, &s->params, true, s->error);
        if (status == SRCFIND_OK || s->cuda->lost)
            return status;
    }
    s->params.image_size = 0;
    s->params.at_once = false;
    noise_leave_to_host(&s->params);
    s->params.chunks_size = upload_scan_size(s->cuda);
    return buffers_reserve(s->cuda, &s->params, true, s->error);
}

/* Uploads the image if it fits in the device's memory. */
static enum srcfind_status prepare_image(struct search *s) {
    const double start = clock_seconds();
    s->params.swapped = s->source->swapped;
    enum srcfind_status status = reserve_for_image(s);
    if (status != SRCFIND_OK || s->params.image_size == 0)
        return status;
    uint32_t *image = s->cuda->buffers[BUFFER_IMAGE].memory;
    s->params.pixels = image;
    status = upload_image(s->cuda, s->source, s->threads, image, s->error);
    if (status == SRCFIND_OK)
        status = search_check(s, cudaStreamSynchronize(s->cuda->stream));
    s->result->timings.transfer = clock_seconds() - start;
    return status;
}

enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, struct threads *threads,
                                struct detection_result *result, struct error *error) {
    struct search s = {.cuda = cuda,
                       .source = source,
                       .detection = detection,
                       .threads = threads,
                       .result = result,
                       .error = error};
    return run_search(&s, source->width, source->height, source->width, prepare_image);
}

/* Reads pixels from the device for stages that run on the host; any of its threads may call it. */
static const uint32_t *read_device(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct search *s = state;
    const struct params *params = &s->params;
    const int callers_device = cuda_enter(s->cuda);
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < count;) {
        const int64_t y = (first + i) / params->width, x = (first + i) % params->width;
        const int64_t n = params->width - x < count - i ? params->width - x : count - i;
        status = cuda_check(s->cuda,
                            cudaMemcpy(buffer + i, params->pixels + y * params->pitch + x,
                                       (size_t)n * sizeof *buffer, cudaMemcpyDeviceToHost),
                            "reading pixels", error);
        i += n;
    }
    cuda_leave(callers_device);
    return status == SRCFIND_OK ? buffer : NULL;
}

/* Checks that the pixels are in the device's memory and that the stream is one of the device. */
static enum srcfind_status check_pixels(const struct search *s) {
    const struct device_pixels *pixels = s->on_device;
    const cudaStream_t stream = (cudaStream_t)pixels->stream;
    struct cudaPointerAttributes attributes;
    const cudaError_t code = cudaPointerGetAttributes(&attributes, pixels->pixels);
    const bool here =
        !code &&
        (attributes.type == cudaMemoryTypeManaged ||
         (attributes.type == cudaMemoryTypeDevice && attributes.device == s->cuda->device));
    if (here && cudaEventRecord(s->cuda->before, stream) == cudaSuccess)
        return SRCFIND_OK;
    cudaGetLastError();
    return error_set(s->error, SRCFIND_ERROR_OPTIONS,
                     here ? "the stream is none of CUDA device %d (%s)"
                          : "the pixels are not in the memory of CUDA device %d (%s)",
                     s->cuda->device, s->cuda->name);
}

static bool are_changed(const struct device_pixels *pixels) {
    return pixels->negated || pixels->has_blank;
}

/* Copies the pixels, with the changes that were asked for. */
static cudaError_t change_pixels(struct search *s) {
    const struct device_pixels *p = s->on_device;
    const float zero = -0.0f, other = p->blank == 0 ? -p->blank : p->blank;
    const struct pixel_change change = {.has_blank = p->has_blank,
                                        .value = pixel_bits(p->blank, p->swapped),
                                        .other = pixel_bits(other, p->swapped),
                                        .blank = pixel_bits(NAN, p->swapped),
                                        .sign = p->negated ? pixel_bits(zero, p->swapped) : 0};
    uint32_t *image = s->cuda->buffers[BUFFER_IMAGE].memory;
    s->params.pixels = image;
    return launch_change((const uint32_t *)(const void *)p->pixels, p->row_stride, p->width,
                         p->height, &change, image, s->cuda->stream);
}

static enum srcfind_status prepare_pixels(struct search *s) {
    enum srcfind_status status = check_pixels(s);
    const bool changed = are_changed(s->on_device);
    s->params.pixels = (const uint32_t *)(const void *)s->on_device->pixels;
    s->params.swapped = s->on_device->swapped;
    s->params.image_size = changed ? s->params.n_pixels * (int64_t)sizeof(uint32_t) : 0;
    if (!buffers_fit(s->cuda, &s->params))
        noise_leave_to_host(&s->params);
    if (status == SRCFIND_OK)
        status = search_check(s, cudaStreamWaitEvent(s->cuda->stream, s->cuda->before, 0));
    if (status == SRCFIND_OK)
        status = buffers_reserve(s->cuda, &s->params, true, s->error);
    return status == SRCFIND_OK && changed ? search_check(s, change_pixels(s)) : status;
}

enum srcfind_status cuda_detect_pixels(struct cuda *cuda, const struct device_pixels *pixels,
                                       const struct detection *detection, struct threads *threads,
                                       struct detection_result *result, struct error *error) {
    struct search s = {.cuda = cuda,
                       .on_device = pixels,
                       .detection = detection,
                       .threads = threads,
                       .result = result,
                       .error = error};
    const struct pixel_source source = {.width = pixels->width,
                                        .height = pixels->height,
                                        .chunk_pixels = 1 << 20,
                                        .sample_rows = 256,
                                        .swapped = pixels->swapped,
                                        .parallel = true,
                                        .state = &s,
                                        .read = read_device};
    s.source = &source;
    return run_search(&s, pixels->width, pixels->height,
                      are_changed(pixels) ? pixels->width : pixels->row_stride, prepare_pixels);
}
