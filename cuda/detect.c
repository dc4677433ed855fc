/* How an image is searched on a device: the host enqueues the stages, and takes slower ways where a
 * shorter one failed.
 *
 * 1. Prepare: the image is uploaded if it fits, used in place if the caller has it on the device,
 *    or else streamed (upload.c).
 * 2. In one read (search_in_one_read): sample, plan, scan, sort of the listed values, clip,
 *    islands. Of images from 2^18 to 2^24 pixels all stages are enqueued at once; a second search
 *    with equal parameters records them as a CUDA graph, later ones launch it.
 * 3. If the clip cannot be computed from the list: a list of all pixels is sorted, if it fits in
 *    memory, else the host clips by histograms (clip_again).
 * 4. With local noise: boxes of nodes are clipped (noise.c), and a second scan picks candidates
 *    above the noise between them.
 * 5. If candidates are missing, they are scanned again; if a buffer overflowed, it grows to the
 *    number that the kernel counted, and the stage is repeated.
 * 6. Islands, and runs if they are wanted, are copied to the host.
 *
 * Always: the result has the bits of cpu_detect. Functions return false after an error, which
 * s->status and s->error then have.
 *
 * Cost: one read of an ordinary image; 1.6 bytes a pixel on the device beside the image. */
#include <stdlib.h>
#include <string.h>

#include "buffers.h"
#include "common/arrays.h"
#include "common/clock.h"
#include "copies.h"
#include "cpu/clip_histogram.h"
#include "cpu/clip_sorted.h"
#include "cpu/predict.h"
#include "cpu/runs.h"
#include "noise.h"
#include "upload.h"

/* Device memory that is left for fits: for each pixel of a small image; in all, for a large one. */
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
    bool keeps_only;        /* the device gets the image, and nothing is found in it */
    bool has_islands; /* islands were made with the final thresholds; buffers may have overflowed */
    struct detection_result *result;
    enum srcfind_status status; /* of the step that failed, like the error */
    struct error *error;
};

static bool is_streamed(const struct search *s) {
    return !s->params.pixels;
}

/* Notes the status of a step; false if it is an error. */
static bool note(struct search *s, enum srcfind_status status) {
    s->status = status;
    return status == SRCFIND_OK;
}

static bool check(struct search *s, cudaError_t code) {
    return note(s, cuda_check(s->cuda, code, "searching", s->error));
}

static bool reserve(struct search *s, bool new_image) {
    return note(s, buffers_reserve(s->cuda, &s->params, new_image, s->error));
}

/* --- the stages in their order --- */

static bool set_mark(struct search *s, enum mark mark) {
    return check(s, cudaEventRecordWithFlags(s->cuda->mark[mark], s->cuda->stream,
                                             s->recording ? cudaEventRecordExternal
                                                          : cudaEventRecordDefault));
}

/* Waits for all work in the stream, and copies the state to the host. */
static bool fetch_state(struct search *s) {
    struct state *state = s->cuda->state;
    return check(s, cuda_fetch(s->cuda, state, s->params.state, sizeof *state));
}

/* Reads a sample of a streamed image, copies its keys to the device, and sets its counts to 0. */
static bool upload_sample(struct search *s) {
    struct sample sample = {0};
    const int64_t capacity = s->params.n_sample;
    const cudaStream_t stream = s->cuda->stream;
    uint32_t *keys = calloc((size_t)capacity, sizeof *keys);
    bool ok = note(s, keys ? predict_draw_sample(s->source, capacity, s->threads, &sample, s->error)
                           : error_memory(s->error, "drawing a sample"));
    for (int64_t i = 0; ok && i < capacity; i++) {
        const int64_t from =
            sample.n > capacity ? i * sample.n / capacity : i; /* evenly from the whole sample */
        keys[i] = from < sample.n ? exact_key(sample.values[from]) : KEY_PADDING;
    }
    ok = ok &&
         check(s, cudaMemcpyAsync(s->params.sample, keys, (size_t)capacity * sizeof *keys,
                                  cudaMemcpyHostToDevice, stream)) &&
         check(s, cudaMemsetAsync(s->params.sample_counts, 0, sizeof *s->params.sample_counts,
                                  stream)) &&
         check(s, cudaStreamSynchronize(stream));
    free(keys);
    free(sample.values);
    return ok;
}

static bool predict(struct search *s) {
    const struct scan_plan all = scan_plan_all(-INFINITY);
    if (s->params.n_sample == 0)
        return check(s, launch_set_plan(&s->params, &all, s->cuda->stream));
    return (is_streamed(s) ? upload_sample(s)
                           : check(s, launch_sample(&s->params, s->cuda->stream))) &&
           check(s, launch_predict(&s->params, s->cuda->stream));
}

/* Scans the image; a streamed one is not read if the prediction is not useful. */
static bool scan(struct search *s) {
    if (!is_streamed(s))
        return check(
            s, launch_scan(&s->params, s->params.pixels, 0, s->params.n_pixels, s->cuda->stream));
    return fetch_state(s) &&
           (!s->cuda->state->scan_wanted ||
            note(s, upload_and_scan(s->cuda, s->source, s->threads, &s->params, s->error)));
}

static bool predict_and_scan(struct search *s) {
    return set_mark(s, MARK_START) && predict(s) && scan(s) && set_mark(s, MARK_SCANNED);
}

/* Sorts the n_keys keys of the list, and clips by them. */
static bool sort_and_clip(struct search *s, int64_t n_keys) {
    const struct params *params = &s->params;
    const cudaStream_t stream = s->cuda->stream;
    size_t size = params->temporary_size;
    int sorted = 0;
    return check(s, cub_sort(params->temporary, &size, params->list, n_keys, &sorted, stream)) &&
           check(s, launch_clip(params, params->list[sorted], n_keys, stream));
}

static bool clip_and_find(struct search *s, int64_t n_keys) {
    return sort_and_clip(s, n_keys) && set_mark(s, MARK_CLIPPED) &&
           check(s, launch_islands(&s->params, s->cuda->stream)) && set_mark(s, MARK_ENDED);
}

/* Enqueues all stages. The host does not know the list's length, so the whole capacity is sorted,
 * with padding behind the list. */
static bool enqueue_all(struct search *s) {
    _Static_assert(KEY_PADDING == 0xffffffffu, "all bytes are equal");
    const size_t size = (size_t)s->params.list_capacity * sizeof *s->params.list[0];
    return check(s, cudaMemsetAsync(s->params.list[0], 0xff, size, s->cuda->stream)) &&
           predict_and_scan(s) && clip_and_find(s, s->params.list_capacity);
}

static bool record_graph(struct search *s) {
    struct cuda *c = s->cuda;
    cudaGraph_t graph = NULL;
    if (!check(s, cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal)))
        return false;
    s->recording = true;
    const bool enqueued = enqueue_all(s);
    s->recording = false;
    const cudaError_t ended = cudaStreamEndCapture(c->stream, &graph);
    const bool ok = enqueued && check(s, ended) &&
                    check(s, cudaGraphInstantiate(&c->recording.graph, graph, 0));
    if (graph)
        cudaGraphDestroy(graph);
    return ok;
}

/* If all parameters equal those of the last search, the search is recorded as a CUDA graph. It and
 * later ones like it are launched with one call. */
static bool launch_at_once(struct search *s) {
    struct recording *r = &s->cuda->recording;
    const bool same = r->valid && memcmp(&r->params, &s->params, sizeof r->params) == 0;
    if (!same && r->graph)
        cudaGraphExecDestroy(r->graph);
    if (!same)
        *r = (struct recording){.valid = true};
    memcpy(&r->params, &s->params, sizeof r->params);
    if (!same)
        return enqueue_all(s);
    return (r->graph || record_graph(s)) && check(s, cudaGraphLaunch(r->graph, s->cuda->stream));
}

static bool launch_in_steps(struct search *s) {
    if (!predict_and_scan(s) || !fetch_state(s))
        return false;
    const int64_t n = (int64_t)s->cuda->state->totals.n_listed;
    return clip_and_find(s, n <= s->params.list_capacity ? n : 0);
}

static double seconds_between(const struct search *s, enum mark a, enum mark b) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, s->cuda->mark[a], s->cuda->mark[b]);
    return 1e-3 * (double)milliseconds;
}

/* Searches in one read of the image, which suffices for ordinary images. */
static bool search_in_one_read(struct search *s) {
    struct srcfind_timings *t = &s->result->timings;
    if (!(s->params.at_once ? launch_at_once(s) : launch_in_steps(s)) || !fetch_state(s))
        return false;
    t->scan += seconds_between(s, MARK_START, MARK_SCANNED);
    t->clip += seconds_between(s, MARK_SCANNED, MARK_CLIPPED);
    t->islands += seconds_between(s, MARK_CLIPPED, MARK_ENDED);
    return true;
}

/* --- if that was not enough --- */

static bool scan_by(struct search *s, const struct scan_plan *plan) {
    return check(s, launch_set_plan(&s->params, plan, s->cuda->stream)) && scan(s) &&
           fetch_state(s);
}

/* Lists all pixels, sorts them and clips. */
static bool sort_all(struct search *s) {
    const struct scan_plan all = scan_plan_all(INFINITY);
    return scan_by(s, &all) && sort_and_clip(s, (int64_t)s->cuda->state->totals.n_listed) &&
           fetch_state(s);
}

static bool clip_by_histogram(struct search *s) {
    struct srcfind_background *b = &s->result->background;
    s->result->timings.clip_method = "histogram on the CPU";
    const enum srcfind_status status =
        histogram_clip(s->source, s->params.detection.kappa, s->threads, SORTED_MOST, b, s->error);
    return note(s, status != SRCFIND_OK && s->cuda->lost ? SRCFIND_ERROR_DEVICE : status);
}

/* Clips by a list of all pixels, if the list fits in memory; else state->clip.known stays false. */
static bool clip_by_sorting(struct search *s) {
    const int64_t ordinary = s->params.list_capacity;
    struct params all = s->params;
    all.list_capacity = all.n_pixels;
    all.at_once = false;
    if (!buffers_fit(s->cuda, &all))
        return true;
    s->params = all;
    /* the device may have less free memory than expected */
    const bool ok = reserve(s, false) ? sort_all(s) : !s->cuda->lost;
    s->params.list_capacity = ordinary;
    return ok && reserve(s, false);
}

/* Clips again if the prediction failed or there was none. */
static bool clip_again(struct search *s) {
    const double start = clock_seconds();
    s->result->timings.clip_method = "sorted";
    const bool ok = clip_by_sorting(s) && (s->cuda->state->clip.known || clip_by_histogram(s));
    s->result->timings.clip += clock_seconds() - start;
    return ok;
}

/* Scans for candidates again, until their buffer is large enough. */
static bool read_candidates(struct search *s, const struct thresholds *t) {
    const struct scan_plan candidates = scan_plan_candidates(t, s->params.detection.connectivity);
    const struct scan_totals *totals = &s->cuda->state->totals;
    const double start = clock_seconds();
    bool ok = scan_by(s, &candidates);
    while (ok && (int64_t)totals->n_candidates > s->params.values_capacity) {
        /* Warps reserve indices in advance; the next scan may reserve a few more. */
        const int64_t n = (int64_t)totals->n_candidates;
        buffers_grow(&s->params.values_capacity, n + n / 8, &s->cuda->shares.values,
                     s->params.n_pixels);
        ok = reserve(s, false) && scan_by(s, &candidates);
    }
    s->result->timings.scan += clock_seconds() - start;
    return ok;
}

static bool find_islands(struct search *s, const struct thresholds *thresholds) {
    const double start = clock_seconds();
    const bool ok = check(s, launch_thresholds(&s->params, thresholds, s->cuda->stream)) &&
                    check(s, launch_islands(&s->params, s->cuda->stream)) && fetch_state(s);
    s->result->timings.islands += clock_seconds() - start;
    return ok;
}

/* Enlarges the buffers of runs and islands to what was counted, and finds the islands again. */
static bool find_more_islands(struct search *s, const struct thresholds *thresholds) {
    const struct state *state = s->cuda->state;
    const int64_t n = s->params.n_pixels;
    struct shares *shares = &s->cuda->shares;
    bool ok = true;
    while (ok && (state->n_runs > s->params.runs_capacity ||
                  state->n_counting > s->params.counting_capacity)) {
        if (state->n_runs > MOST_RUNS)
            return note(s, error_set(s->error, SRCFIND_ERROR_DEVICE,
                                     "CUDA device %d (%s): the image has more than 2^31 runs of "
                                     "pixels above the threshold; --cpu takes them",
                                     s->cuda->device, s->cuda->name));
        buffers_grow(&s->params.runs_capacity, state->n_runs, &shares->runs, n);
        buffers_grow(&s->params.counting_capacity, state->n_counting, &shares->counting, n);
        ok = reserve(s, false) && find_islands(s, thresholds);
    }
    return ok;
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

/* Gives run i and its island: see runs_group. */
static int64_t get_run(const void *context, int64_t i, struct run *run) {
    const struct listed_run *runs = context;
    *run = runs[i].run;
    return runs[i].island;
}

/* Takes the runs of the islands that were taken. */
static bool take_runs(struct search *s) {
    if (!check(s, launch_list_runs(&s->params, s->cuda->stream)) || !fetch_state(s))
        return false;
    const int64_t n = s->cuda->state->n_listed_runs;
    struct listed_run *runs = arrays_allocate(n, sizeof *runs);
    bool ok = runs && check(s, copy_out(s->cuda, s->threads, runs, s->params.listed_runs,
                                        n * (int64_t)sizeof *runs));
    if (!runs || (ok && !runs_group(get_run, runs, n, &s->result->segments)))
        ok = note(s, error_memory(s->error, "taking islands from the device"));
    free(runs);
    return ok;
}

static bool take_islands(struct search *s) {
    struct segments *out = &s->result->segments;
    const double start = clock_seconds();
    const int64_t n = s->cuda->state->n_counting, size = n * (int64_t)sizeof *out->islands;
    out->islands = arrays_allocate(n, sizeof *out->islands);
    if (!out->islands)
        return note(s, error_memory(s->error, "taking islands from the device"));
    out->n = n;
    const bool ok =
        check(s, copy_out(s->cuda, s->threads, out->islands, s->params.islands, size)) &&
        (!s->detection->keep_runs || take_runs(s));
    s->result->timings.islands += clock_seconds() - start;
    return ok;
}

/* Finds median and rms by one read or, if that fails, by a slower way. */
static bool find_background(struct search *s) {
    const struct state *state = s->cuda->state;
    struct srcfind_background *b = &s->result->background;
    bool ok = search_in_one_read(s);
    s->result->timings.clip_method = "one read";
    s->has_islands = ok && state->clip.known;
    ok = s->has_islands || (ok && clip_again(s));
    if (ok && state->clip.known)
        take_background(state, b);
    return ok && (b->n_kept > 0 || note(s, error_set(s->error, SRCFIND_ERROR_INPUT,
                                                     BACKEND_NO_PIXELS, (long long)b->n_pixels)));
}

/* Finds the islands of the pixels above one noise for the whole image. */
static bool find_above(struct search *s, const struct thresholds *t) {
    const struct state *state = s->cuda->state;
    if (!(state->plan.candidate <= t->island) ||
        state->totals.n_candidates > (unsigned long long)s->params.values_capacity) {
        s->has_islands = false;
        if (!read_candidates(s, t))
            return false;
    }
    return s->has_islands || find_islands(s, t);
}

/* Clips the box of each node, and finds the islands of the pixels above the noise between the
 * nodes. */
static bool find_above_nodes(struct search *s, const struct thresholds *all) {
    const double start = clock_seconds();
    s->params.detection = *s->detection;
    const bool ok = note(s, noise_find(s->cuda, &s->params, &s->grid, s->source, s->threads,
                                       &s->result->background, &s->result->noise, s->error));
    s->result->timings.clip += clock_seconds() - start;
    return ok && read_candidates(s, all) && find_islands(s, all);
}

static bool search_image(struct search *s) {
    const struct srcfind_background *b = &s->result->background;
    const bool is_local = s->detection->box > 0, ok = find_background(s);
    struct noise_map *noise = &s->result->noise;
    *noise = noise_of_clip(b->median, b->rms, s->detection);
    const struct thresholds all = {-INFINITY, -INFINITY};
    const struct thresholds t = is_local ? all : thresholds_of(noise, b->empty, s->detection);
    if (!ok || t.detection == INFINITY)
        return ok;
    return (is_local ? find_above_nodes(s, &t) : find_above(s, &t)) && find_more_islands(s, &t) &&
           take_islands(s);
}

/* --- images on the host, and on the device --- */

/* With local noise, the clip of the whole image keeps no candidates. */
static bool describe(struct search *s, int64_t width, int64_t height, int64_t pitch) {
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
        return note(s, error_memory(s->error, "measuring local noise"));
    if (params->detection.box > 0)
        params->detection.island = params->detection.threshold = INFINITY;
    buffers_choose(params, s->cuda);
    return true;
}

/* Whether the search is of the samples of a smoothed image. */
static bool is_of_samples(const struct search *s) {
    return s->on_device && s->on_device->pixels == s->cuda->buffers[BUFFER_SAMPLES].memory;
}

/* Searches, with the device as the calling thread's current one. `prepare` reserves the buffers of
 * s->params, and sets its pixels unless the image is streamed. */
static enum srcfind_status run_search(struct search *s, int64_t width, int64_t height,
                                      int64_t pitch, bool (*prepare)(struct search *s)) {
    if (s->cuda->lost)
        return error_set(s->error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): lost in an earlier search; --cpu works without it",
                         s->cuda->device, s->cuda->name);
    const int callers_device = cuda_enter(s->cuda);
    s->cuda->kept = (struct kept_image){0};
    if (!is_of_samples(s))
        s->cuda->image = s->cuda->kept;
    const bool ok =
        describe(s, width, height, pitch) && prepare(s) && (s->keeps_only || search_image(s));
    if (ok)
        s->cuda->kept = (struct kept_image){s->params.pixels, s->params.pitch, s->params.swapped};
    else
        detection_result_clear(s->result);
    if (!is_of_samples(s))
        s->cuda->image = s->cuda->kept;
    s->result->is_on_device = ok && !is_streamed(s);
    noise_grid_clear(&s->grid);
    cuda_leave(callers_device);
    return ok ? SRCFIND_OK : s->status;
}

/* Whether memory is left beside the image to measure sources. */
static bool leaves_memory(const struct search *s) {
    const int64_t all = s->params.n_pixels * MEASURED_BYTES_A_PIXEL;
    return !s->detection->keep_runs ||
           s->params.image_size + (all < MEASURED_BYTES ? all : MEASURED_BYTES) <= s->cuda->limit;
}

/* Reserves buffers: for the whole image if it fits, else for its chunks. */
static bool reserve_for_image(struct search *s) {
    s->params.image_size = s->params.n_pixels * (int64_t)sizeof(uint32_t);
    if (s->cuda->keeps_images && buffers_fit(s->cuda, &s->params) && leaves_memory(s)) {
        const bool ok = reserve(s, true);
        if (ok || s->cuda->lost)
            return ok;
    }
    s->params.image_size = 0;
    if (s->keeps_only)
        return true;
    s->params.at_once = false;
    noise_leave_to_host(&s->params);
    s->params.chunks_size = upload_scan_size(s->cuda);
    return reserve(s, true);
}

/* Uploads the image if it fits in the device's memory. */
static bool prepare_image(struct search *s) {
    const double start = clock_seconds();
    s->params.swapped = s->source->swapped;
    bool ok = reserve_for_image(s);
    if (!ok || s->params.image_size == 0)
        return ok;
    uint32_t *image = s->cuda->buffers[BUFFER_IMAGE].memory;
    s->params.pixels = image;
    ok = note(s, upload_image(s->cuda, s->source, s->threads, image, s->error)) &&
         check(s, cudaStreamSynchronize(s->cuda->stream));
    s->result->timings.transfer = clock_seconds() - start;
    return ok;
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

enum srcfind_status cuda_keep(struct cuda *cuda, const struct pixel_source *source,
                              struct threads *threads, bool *is_kept, struct error *error) {
    static const struct detection for_scales = {.connectivity = 4, .keep_runs = true};
    struct detection_result result = {0};
    struct search s = {.cuda = cuda,
                       .source = source,
                       .detection = &for_scales,
                       .threads = threads,
                       .keeps_only = true,
                       .result = &result,
                       .error = error};
    const enum srcfind_status status =
        run_search(&s, source->width, source->height, source->width, prepare_image);
    *is_kept = result.is_on_device;
    return status;
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
static bool check_pixels(struct search *s) {
    const struct device_pixels *pixels = s->on_device;
    const cudaStream_t stream = (cudaStream_t)pixels->stream;
    struct cudaPointerAttributes attributes;
    const cudaError_t code = cudaPointerGetAttributes(&attributes, pixels->pixels);
    const bool here =
        !code &&
        (attributes.type == cudaMemoryTypeManaged ||
         (attributes.type == cudaMemoryTypeDevice && attributes.device == s->cuda->device));
    if (here && cudaEventRecord(s->cuda->before, stream) == cudaSuccess)
        return true;
    cudaGetLastError();
    return note(s, error_set(s->error, SRCFIND_ERROR_OPTIONS,
                             here ? "the stream is none of CUDA device %d (%s)"
                                  : "the pixels are not in the memory of CUDA device %d (%s)",
                             s->cuda->device, s->cuda->name));
}

/* Copies the pixels, changed. */
static cudaError_t change_pixels(struct search *s) {
    const struct device_pixels *p = s->on_device;
    uint32_t *image = s->cuda->buffers[BUFFER_IMAGE].memory;
    s->params.pixels = image;
    return launch_change((const uint32_t *)(const void *)p->pixels, p->row_stride, p->width,
                         p->height, &p->change, image, s->cuda->stream);
}

static bool prepare_pixels(struct search *s) {
    const bool changed = pixel_change_is_any(s->on_device->change);
    if (!check_pixels(s))
        return false;
    s->params.pixels = (const uint32_t *)(const void *)s->on_device->pixels;
    s->params.swapped = s->on_device->swapped;
    s->params.image_size = changed ? s->params.n_pixels * (int64_t)sizeof(uint32_t) : 0;
    if (is_of_samples(s)) { /* both are needed again */
        s->params.image_size = s->cuda->buffers[BUFFER_IMAGE].size;
        s->params.samples_size = s->cuda->buffers[BUFFER_SAMPLES].size;
    }
    if (!buffers_fit(s->cuda, &s->params))
        noise_leave_to_host(&s->params);
    return check(s, cudaStreamWaitEvent(s->cuda->stream, s->cuda->before, 0)) && reserve(s, true) &&
           (!changed || check(s, change_pixels(s)));
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
                                        .packed = true, /* each call has a cost */
                                        .parallel = true,
                                        .state = &s,
                                        .read = read_device};
    s.source = &source;
    return run_search(&s, pixels->width, pixels->height,
                      pixel_change_is_any(pixels->change) ? pixels->width : pixels->row_stride,
                      prepare_pixels);
}
