/* The host's part of a search: what is launched in which order, and what is done where the first
 * way was not enough. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu/histogram.h"
#include "cpu/plan.h"
#include "feed.h"

enum {
    LIST_PIXELS = 1 << 18,  /* so few are listed whole */
    WHOLE_PIXELS = 1 << 24, /* up to so many, all is launched at once, for the longest list */
    SAMPLE_MOST = 1 << 16,
    RUNS_LEAST = 1 << 14,
    ISLANDS_LEAST = 1 << 12,
};

struct search {
    struct cuda *cuda;
    const struct pixel_source *source;
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
    return !is_streamed(s) && s->job.n_pixels <= WHOLE_PIXELS;
}

static enum srcfind_status check(const struct search *s, cudaError_t code) {
    return cuda_check(s->cuda, code, "searching", s->error);
}

/* --- memory --- */

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
    const int64_t longer = job->list_room > job->n_sample ? job->list_room : job->n_sample;
    switch (kind) {
    case BUFFER_STATE:
        job->state = take(&l, 1, sizeof *job->state);
        break;
    case BUFFER_SAMPLE:
        for (int i = 0; i < 2; i++)
            job->sample[i] = take(&l, job->n_sample, sizeof *job->sample[i]);
        break;
    case BUFFER_LIST:
        for (int i = 0; i < 2; i++)
            job->list[i] = take(&l, job->list_room, sizeof *job->list[i]);
        break;
    case BUFFER_KEY_SUMS:
        job->key_sums = take(&l, longer / KEYS_A_SUM + 1, sizeof *job->key_sums);
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
        job->number = take(&l, job->runs_room + 1, sizeof *job->number);
        break;
    case BUFFER_ISLANDS:
        job->islands = take(&l, job->islands_room, sizeof *job->islands);
        job->extents = take(&l, job->islands_room, sizeof *job->extents);
        job->place = take(&l, job->islands_room + 1, sizeof *job->place);
        break;
    case BUFFER_TEMPORARY:
        job->temporary = take(&l, (int64_t)job->temporary_size, 1);
        break;
    default: /* not laid out by a job */
        break;
    }
    return l.size;
}

static size_t greater(size_t a, size_t b) {
    return a > b ? a : b;
}

/* How much room CUB wants for the longest of each kind. */
static enum srcfind_status size_temporary(struct search *s) {
    struct job *j = &s->job;
    const int64_t keys = j->list_room > j->n_sample ? j->list_room : j->n_sample;
    size_t sort = 0, sums = 0, tiles = 0, runs = 0, islands = 0;
    int sorted;
    cudaError_t code = cub_sort(NULL, &sort, j->list, keys, &sorted, NULL);
    if (!code)
        code = cub_sum_keys(NULL, &sums, NULL, keys / KEYS_A_SUM + 1, NULL);
    if (!code)
        code = cub_sum_int64(NULL, &tiles, NULL, j->n_tiles + 1, NULL);
    if (!code)
        code = cub_sum_int(NULL, &runs, NULL, j->runs_room + 1, NULL);
    if (!code)
        code = cub_sum_int(NULL, &islands, NULL, j->islands_room + 1, NULL);
    j->temporary_size = greater(greater(greater(sort, sums), greater(tiles, runs)), islands);
    return check(s, code);
}

/* Frees a buffer that is not in use, where memory may become scarce. */
static void make_room(struct cuda *cuda, enum buffer_kind kind) {
    if (cuda->used > cuda->limit / 2)
        cuda_release(cuda, kind);
}

/* Makes all buffers as large as the job's rooms say. */
static enum srcfind_status reserve(struct search *s) {
    enum srcfind_status status = size_temporary(s);
    for (int kind = 0; status == SRCFIND_OK && kind < BUFFERS; kind++) {
        status = cuda_reserve(s->cuda, kind, lay_out(&s->job, kind, NULL), s->error);
        lay_out(&s->job, kind, s->cuda->buffers[kind].memory);
    }
    return status;
}

/* What the job's buffers take together. */
static int64_t total_size(const struct job *job) {
    struct job copy = *job;
    int64_t size = 0;
    for (int kind = 0; kind < BUFFERS; kind++)
        size += lay_out(&copy, kind, NULL);
    return size;
}

/* --- the order of the work --- */

static enum srcfind_status mark(const struct search *s, enum mark mark) {
    return check(s, cudaEventRecordWithFlags(s->cuda->mark[mark], s->cuda->stream,
                                             s->recording ? cudaEventRecordExternal
                                                          : cudaEventRecordDefault));
}

/* Waits, and looks at the state. */
static enum srcfind_status fetch_state(const struct search *s) {
    struct cuda *c = s->cuda;
    enum srcfind_status status = check(s, cudaMemcpyAsync(c->state, s->job.state, sizeof *c->state,
                                                          cudaMemcpyDeviceToHost, c->stream));
    return status == SRCFIND_OK ? check(s, cudaStreamSynchronize(c->stream)) : status;
}

/* Reads a sample of a streamed image, and takes its keys to the device. */
static enum srcfind_status upload_sample(struct search *s) {
    struct sample sample = {0};
    const int64_t room = s->job.n_sample;
    enum srcfind_status status = plan_draw_sample(s->source, room, &sample, s->error);
    uint32_t *keys = calloc((size_t)room, sizeof *keys);
    if (!keys && status == SRCFIND_OK)
        status = error_memory(s->error, "drawing a sample");
    for (int64_t i = 0; status == SRCFIND_OK && i < room; i++)
        keys[i] = i < sample.n ? exact_key(sample.values[i]) : KEY_PADDING;
    if (status == SRCFIND_OK)
        status = check(s, cudaMemcpyAsync(s->job.sample[0], keys, (size_t)room * sizeof *keys,
                                          cudaMemcpyHostToDevice, s->cuda->stream));
    free(keys);
    free(sample.values);
    return status;
}

static enum srcfind_status plan(struct search *s) {
    const struct scan_plan all = scan_plan_all(-INFINITY);
    enum srcfind_status status;
    if (s->job.n_sample == 0)
        return check(s, launch_plan_of_host(&s->job, &all, s->cuda->stream));
    if (is_streamed(s))
        status = upload_sample(s);
    else
        status = check(s, launch_sample(&s->job, s->cuda->stream));
    return status == SRCFIND_OK ? check(s, launch_plan(&s->job, s->cuda->stream)) : status;
}

static enum srcfind_status scan(struct search *s) {
    if (is_streamed(s))
        return feed_scan(s->cuda, s->source, s->n_threads, &s->job, s->error);
    return check(s, launch_scan(&s->job, s->job.pixels, 0, s->job.n_pixels, s->cuda->stream));
}

static enum srcfind_status plan_and_scan(struct search *s) {
    enum srcfind_status status = mark(s, MARK_START);
    if (status == SRCFIND_OK && is_whole(s))
        status = check(s, launch_clear_list(&s->job, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = plan(s);
    if (status == SRCFIND_OK)
        status = scan(s);
    return status == SRCFIND_OK ? mark(s, MARK_SCANNED) : status;
}

static enum srcfind_status clip_and_find(struct search *s, int64_t n_keys) {
    enum srcfind_status status = check(s, launch_clip(&s->job, n_keys, s->cuda->stream));
    if (status == SRCFIND_OK)
        status = mark(s, MARK_CLIPPED);
    if (status == SRCFIND_OK)
        status = check(s, launch_islands(&s->job, s->cuda->stream));
    return status == SRCFIND_OK ? mark(s, MARK_ENDED) : status;
}

/* All at once: lists are sorted with what pads them, since nobody knows their length yet. */
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

static enum srcfind_status launch_in_parts(struct search *s) {
    enum srcfind_status status = plan_and_scan(s);
    if (status == SRCFIND_OK)
        status = fetch_state(s);
    const int64_t n_listed = (int64_t)s->cuda->state->totals.n_listed;
    if (status == SRCFIND_OK)
        status = clip_and_find(s, n_listed < s->job.list_room ? n_listed : s->job.list_room);
    return status;
}

static double seconds_between(const struct search *s, enum mark a, enum mark b) {
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, s->cuda->mark[a], s->cuda->mark[b]);
    return 1e-3 * (double)milliseconds;
}

/* The way that ordinary images go: one read, and all that follows from it. */
static enum srcfind_status search_once(struct search *s) {
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
        status = check(
            s, launch_clip(&s->job, (int64_t)s->cuda->state->totals.n_listed, s->cuda->stream));
    return status == SRCFIND_OK ? fetch_state(s) : status;
}

/* Whether there is room for a list of all pixels beside what the job needs anyway. */
static bool can_sort_all(const struct search *s) {
    struct job all = s->job;
    all.list_room = s->job.n_pixels;
    const int64_t other =
        s->cuda->buffers[BUFFER_IMAGE].size + s->cuda->buffers[BUFFER_CHUNKS].size;
    return total_size(&all) + other < s->cuda->limit && all.list_room < INT32_MAX;
}

static enum srcfind_status clip_by_histogram(struct search *s) {
    struct srcfind_background *b = &s->result->background;
    s->result->timings.path = "histogram on the CPU";
    return histogram_clip(s->source, s->job.detection.kappa, s->n_threads, b, s->error);
}

/* The clip again, where the plan did not hold or there was none. */
static enum srcfind_status clip_again(struct search *s) {
    const int64_t ordinary_room = s->job.list_room;
    const double start = clock_seconds();
    enum srcfind_status status = SRCFIND_OK;
    if (can_sort_all(s)) {
        s->result->timings.path = "sorted";
        s->job.list_room = s->job.n_pixels;
        status = reserve(s);
        if (status == SRCFIND_OK)
            status = sort_all(s);
        s->job.list_room = ordinary_room;
        make_room(s->cuda, BUFFER_LIST);
    }
    if (status == SRCFIND_OK && !s->cuda->state->clip.known)
        status = clip_by_histogram(s);
    s->result->timings.clip += clock_seconds() - start;
    return status;
}

/* Makes a room large enough, and remembers for images to come what share of the pixels it took. */
static void grow(int64_t *room, int64_t wanted, double *share, int64_t n_pixels) {
    if (wanted <= *room)
        return;
    *room = wanted;
    *share = (double)wanted / (double)n_pixels;
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
        grow(&s->job.values_room, n, &s->cuda->shares.values, s->job.n_pixels);
        status = reserve(s);
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
           (found->n_runs > s->job.runs_room || found->n_islands > s->job.islands_room)) {
        if (found->n_runs >= INT32_MAX)
            return error_set(s->error, SRCFIND_ERROR_DEVICE,
                             "CUDA device %d (%s): the image has more than 2^31 runs of pixels "
                             "above the threshold; --cpu takes them",
                             s->cuda->device, s->cuda->name);
        grow(&s->job.runs_room, found->n_runs, &s->cuda->shares.runs, s->job.n_pixels);
        grow(&s->job.islands_room, found->n_islands, &s->cuda->shares.islands, s->job.n_pixels);
        status = reserve(s);
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
    return check(s, cudaMemcpy(list->islands, s->job.islands, (size_t)n * sizeof *list->islands,
                               cudaMemcpyDeviceToHost));
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

static int64_t at_most(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t room_for(double share, int64_t n, int64_t least) {
    const int64_t room = (int64_t)(share * (double)n) + least;
    return room < n ? room : n;
}

static double greater_share(double a, double b) {
    return a > b ? a : b;
}

/* Rooms for images whose candidates, runs and islands are no more than these shares of the pixels.
 * Ordinary ones have a few hundredths of candidates, and a run in 700 pixels. */
static void choose_rooms(struct job *job, const struct shares *shares) {
    const int64_t n = job->n_pixels;
    const bool all = n <= LIST_PIXELS;
    job->n_sample = all ? 0 : at_most(plan_sample_size(n), SAMPLE_MOST);
    job->list_room = all ? n : n <= WHOLE_PIXELS ? n / 8 : n / 12;
    job->values_room =
        all ? n : room_for(greater_share(1.0 / 32, shares->values), n, LIST_PIXELS / 8);
    job->runs_room = room_for(greater_share(1.0 / 256, shares->runs), n, RUNS_LEAST);
    job->islands_room = room_for(greater_share(1.0 / 2048, shares->islands), n, ISLANDS_LEAST);
}

/* As much room as the images before this one needed, but where memory is scarce. */
static void choose_learned_rooms(struct job *job, const struct cuda *cuda) {
    const struct shares none = {0, 0, 0};
    choose_rooms(job, &cuda->shares);
    if (total_size(job) > cuda->limit / 2)
        choose_rooms(job, &none);
}

static void begin(struct search *s, int64_t width, int64_t height, int64_t pitch,
                  const struct detection *detection) {
    struct job *job = &s->job;
    memset(job, 0, sizeof *job); /* also between its members: jobs are compared as they are */
    job->width = width;
    job->height = height;
    job->pitch = pitch;
    job->n_pixels = pitch * (height - 1) + width;
    job->n_tiles = (job->n_pixels + TILE - 1) / TILE;
    job->detection = *detection;
    choose_learned_rooms(job, s->cuda);
    *s->result = (struct detection_result){.background.n_pixels = width * height};
}

/* An error that has been found before leaves nothing to be done here. */
static enum srcfind_status use(struct search *s) {
    if (s->cuda->lost)
        return error_set(s->error, SRCFIND_ERROR_DEVICE,
                         "CUDA device %d (%s): lost in an earlier search; --cpu works without it",
                         s->cuda->device, s->cuda->name);
    const enum srcfind_status status = check(s, cudaSetDevice(s->cuda->device));
    for (int kind = 0; status == SRCFIND_OK && kind < BUFFERS; kind++)
        make_room(s->cuda, kind);
    return status;
}

/* Takes the image to the device, where all of it finds room there. */
static enum srcfind_status place_image(struct search *s) {
    struct cuda *c = s->cuda;
    const double start = clock_seconds();
    const int64_t size = s->job.n_pixels * (int64_t)sizeof(uint32_t);
    enum srcfind_status status = SRCFIND_OK;
    if (!c->keeps_images || total_size(&s->job) + size + (int64_t)s->job.temporary_size > c->limit)
        return SRCFIND_OK;
    status = cuda_reserve(c, BUFFER_IMAGE, size, s->error);
    s->job.pixels = c->buffers[BUFFER_IMAGE].memory;
    if (status == SRCFIND_OK)
        status = feed_image(c, s->source, s->n_threads, c->buffers[BUFFER_IMAGE].memory, s->error);
    if (status == SRCFIND_OK)
        status = check(s, cudaStreamSynchronize(c->stream));
    s->result->timings.transfer = clock_seconds() - start;
    return status;
}

static enum srcfind_status search_with_room(struct search *s) {
    enum srcfind_status status = reserve(s);
    if (status == SRCFIND_OK)
        status = search(s);
    if (status != SRCFIND_OK) {
        free(s->result->list.islands);
        s->result->list = (struct island_list){0};
    }
    return status;
}

enum srcfind_status cuda_detect(struct cuda *cuda, const struct pixel_source *source,
                                const struct detection *detection, int n_threads,
                                struct detection_result *result, struct error *error) {
    struct search s = {
        .cuda = cuda, .source = source, .n_threads = n_threads, .result = result, .error = error};
    begin(&s, source->width, source->height, source->width, detection);
    s.job.swapped = source->swapped;
    enum srcfind_status status = use(&s);
    if (status == SRCFIND_OK)
        status = place_image(&s);
    return status == SRCFIND_OK ? search_with_room(&s) : status;
}

/* Pixels on the device, for what is done on the host. */
static const uint32_t *read_device(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct search *s = state;
    const struct job *j = &s->job;
    enum srcfind_status status =
        cuda_check(s->cuda, cudaSetDevice(s->cuda->device), "reading pixels", error);
    for (int64_t i = 0; status == SRCFIND_OK && i < count;) {
        const int64_t y = (first + i) / j->width, x = (first + i) % j->width;
        const int64_t n = at_most(j->width - x, count - i);
        status = cuda_check(s->cuda,
                            cudaMemcpy(buffer + i, j->pixels + y * j->pitch + x,
                                       (size_t)n * sizeof *buffer, cudaMemcpyDeviceToHost),
                            "reading pixels", error);
        i += n;
    }
    return status == SRCFIND_OK ? buffer : NULL;
}

static enum srcfind_status check_pointer(const struct search *s, const void *pixels) {
    struct cudaPointerAttributes facts;
    const enum srcfind_status status = check(s, cudaPointerGetAttributes(&facts, pixels));
    if (status != SRCFIND_OK || facts.type == cudaMemoryTypeManaged ||
        (facts.type == cudaMemoryTypeDevice && facts.device == s->cuda->device))
        return status;
    return error_set(s->error, SRCFIND_ERROR_OPTIONS,
                     "the pixels are not in the memory of CUDA device %d (%s)", s->cuda->device,
                     s->cuda->name);
}

enum srcfind_status cuda_detect_pixels(struct cuda *cuda, const struct device_pixels *pixels,
                                       const struct detection *detection, int n_threads,
                                       struct detection_result *result, struct error *error) {
    struct search s = {.cuda = cuda, .n_threads = n_threads, .result = result, .error = error};
    const struct pixel_source source = {.width = pixels->width,
                                        .height = pixels->height,
                                        .piece = 1 << 20,
                                        .sample_rows = 256,
                                        .parallel = true,
                                        .state = &s,
                                        .read = read_device};
    s.source = &source;
    begin(&s, pixels->width, pixels->height, pixels->row_stride, detection);
    s.job.pixels = (const uint32_t *)(const void *)pixels->pixels;
    enum srcfind_status status = use(&s);
    if (status == SRCFIND_OK)
        status = check_pointer(&s, pixels->pixels);
    if (status == SRCFIND_OK)
        status = check(&s, cudaEventRecord(cuda->before, (cudaStream_t)pixels->stream));
    if (status == SRCFIND_OK)
        status = check(&s, cudaStreamWaitEvent(cuda->stream, cuda->before, 0));
    return status == SRCFIND_OK ? search_with_room(&s) : status;
}
