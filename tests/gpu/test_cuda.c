/* The CUDA backend gives the same bits as the CPU's, for all pixels, thresholds, byte orders and
 * chunk sizes, for images that are kept on the device and for streamed ones. Skipped (exit status
 * 77) if there is no device. */
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "cpu/fit.h"
#include "device.h"
#include "fit_scenes.h"
#include "measure/run_pixels.h"
#include "smooth_oracle.h"
#include "unit.h"

static struct cuda *cuda;
static int64_t all_memory;
static double began; /* the test, in seconds */

static void release(void) {
    for (int kind = 0; kind < BUFFERS; kind++)
        cuda_release(cuda, (enum buffer_kind)kind);
}

/* Before a test: frees all buffers, and lets the backend use all memory. */
static int set_up(void **state) {
    (void)state;
    began = clock_seconds();
    release();
    cuda->limit = all_memory;
    cuda->keeps_images = true;
    return 0;
}

/* After a test: says how long it took. */
static int tear_down(void **state) {
    (void)state;
    print_message("%.1f s\n", clock_seconds() - began);
    return 0;
}

/* The threads that find what is expected. Pictures of few pixels are searched before many threads
 * are awake. */
static struct threads *team_for(int64_t n_pixels) {
    return unit_threads(n_pixels > 1 << 16 ? 16 : 2);
}

static void assert_same_background(const struct srcfind_background *a,
                                   const struct srcfind_background *b) {
    assert_int_equal(a->n_pixels, b->n_pixels);
    assert_int_equal(a->n_blank, b->n_blank);
    assert_int_equal(a->n_kept, b->n_kept);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->empty, b->empty);
    ASSERT_SAME(a->median, b->median);
    ASSERT_SAME(a->rms, b->rms);
    ASSERT_SAME(a->mean, b->mean);
    assert_true(a->min == b->min && a->max == b->max);
}

static void assert_same_island(const struct island *a, const struct island *b) {
    assert_int_equal(a->n_pixels, b->n_pixels);
    assert_int_equal(a->x_min, b->x_min);
    assert_int_equal(a->x_max, b->x_max);
    assert_int_equal(a->y_min, b->y_min);
    assert_int_equal(a->y_max, b->y_max);
    assert_int_equal(a->x_peak, b->x_peak);
    assert_int_equal(a->y_peak, b->y_peak);
    assert_int_equal(a->unit, b->unit);
    assert_int_equal(a->edge, b->edge);
    ASSERT_SAME(a->peak, b->peak);
    for (int m = 0; m < MOMENTS; m++)
        assert_true(island_sum(a, m) == island_sum(b, m));
}

/* How often each clip method was used, to check that none goes untested. */
static int n_one_read, n_sorted, n_histogram;

/* Images that the device kept. */
static int n_gathered;

static struct detection detection_with_runs(const struct detection *d) {
    struct detection with_runs = *d;
    with_runs.keep_runs = true;
    return with_runs;
}

static void count_path(const char *path) {
    n_one_read += strcmp(path, "one read") == 0;
    n_sorted += strcmp(path, "sorted") == 0;
    n_histogram += strncmp(path, "histogram", 9) == 0;
}

static void assert_same_noise(const struct noise_map *a, const struct noise_map *b) {
    assert_int_equal(a->n_x, b->n_x);
    assert_int_equal(a->n_y, b->n_y);
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->nodes != NULL, b->nodes != NULL);
    for (int64_t i = 0; a->nodes && i < a->n_x * a->n_y; i++) {
        ASSERT_SAME(a->nodes[i].background, b->nodes[i].background);
        ASSERT_SAME(a->nodes[i].rms, b->nodes[i].rms);
    }
}

/* The device gathers the pixels of the runs that it found, as the CPU reads them. */
static void assert_same_pixels(const struct pixel_source *source, const struct segments *s,
                               int n_threads) {
    const struct noise_map noise = {.rms = 1};
    const struct run_source from = {.source = source, .noise = &noise};
    const int64_t n = s->first_run[s->n];
    int64_t *first = calloc((size_t)n + 1, sizeof *first), n_pixels = 0;
    struct run_set *sets = calloc((size_t)s->n + 1, sizeof *sets);
    struct run_pixels cpu = {0};
    struct error error;
    for (int64_t k = 0; k < s->n; k++) {
        const int64_t first_run = s->first_run[k];
        sets[k] = (struct run_set){s->runs + first_run, s->first_run[k + 1] - first_run, n_pixels};
        for (int64_t i = first_run; i < s->first_run[k + 1]; i++) {
            first[i] = n_pixels;
            n_pixels += run_length(&s->runs[i]);
        }
    }
    const struct gathered_runs runs = {s->runs, first, n, n_pixels};
    float *gpu = calloc((size_t)n_pixels + 1, sizeof *gpu);
    assert_int_equal(run_pixels_read(&from, sets, s->n, n_pixels, unit_threads(2), &cpu, &error),
                     SRCFIND_OK);
    assert_int_equal(cuda_gather(cuda, &runs, unit_threads(n_threads), gpu, &error), SRCFIND_OK);
    assert_memory_equal(gpu, cpu.value, (size_t)n_pixels * sizeof *gpu);
    run_pixels_clear(&cpu);
    free(first);
    free(sets);
    free(gpu);
}

static void assert_same_runs(const struct segments *a, const struct segments *b) {
    for (int64_t k = 0; k <= a->n; k++)
        assert_int_equal(a->first_run[k], b->first_run[k]);
    assert_memory_equal(a->runs, b->runs, (size_t)b->first_run[b->n] * sizeof *b->runs);
}

/* Searches with runs, whether they are asked for or not. */
static void assert_same(const struct pixel_source *source, const struct detection *detection,
                        int n_threads) {
    const struct detection with_runs = detection_with_runs(detection), *d = &with_runs;
    struct detection_result cpu, gpu;
    struct error cpu_error, gpu_error = {""};
    struct threads *team = team_for(source->width * source->height);
    const enum srcfind_status expected = cpu_detect(source, d, team, &cpu, &cpu_error);
    const enum srcfind_status status =
        cuda_detect(cuda, source, d, unit_threads(n_threads), &gpu, &gpu_error);
    if (status != expected)
        print_message("%s\n", gpu_error.text);
    assert_int_equal(status, expected);
    if (status != SRCFIND_OK) {
        assert_string_equal(gpu_error.text, cpu_error.text);
        return;
    }
    count_path(gpu.timings.clip_method);
    assert_same_background(&gpu.background, &cpu.background);
    assert_same_noise(&gpu.noise, &cpu.noise);
    assert_int_equal(gpu.segments.n, cpu.segments.n);
    for (int64_t i = 0; i < cpu.segments.n; i++)
        assert_same_island(&gpu.segments.islands[i], &cpu.segments.islands[i]);
    if (cpu.segments.n > 0)
        assert_same_runs(&gpu.segments, &cpu.segments);
    if (cpu.segments.n > 0 && gpu.is_on_device)
        assert_same_pixels(source, &cpu.segments, n_threads);
    n_gathered += gpu.is_on_device;
    detection_result_clear(&cpu);
    detection_result_clear(&gpu);
}

static const struct detection ORDINARY = {3,     5, 3.5, NAN, 8, 1,   false,
                                          false, 0, 0,   0,   0, {0}, NULL};
static const struct detection LOCAL = {3,     5,  3.5, NAN, 8, 1,   false,
                                       false, 48, 16,  25,  0, {0}, NULL};

/* How a picture is searched. RANDOM and RANDOM_LOCAL: with random parameters. */
enum how { WITH_ORDINARY, WITH_LOCAL, RANDOM, RANDOM_LOCAL };

static struct detection detection_for(enum how how, struct random *r) {
    struct detection d = random_detection(r);
    if (how == RANDOM_LOCAL)
        random_boxes(r, &d);
    return how == WITH_ORDINARY ? ORDINARY : how == WITH_LOCAL ? LOCAL : d;
}

static void check_picture(int kind, int width, int height, uint64_t seed, enum how how) {
    static const int64_t chunks[] = {1 << 16, 1 << 20, 8192, 5000};
    struct random r = {seed};
    struct picture p = picture_make(kind, width, height, &r);
    struct detection d = detection_for(how, &r);
    if (width * height > 1 << 16 && d.box > 0 && d.step < 8)
        d.step = 8; /* a node at each pixel takes half a minute: small pictures have them */
    struct memory_source *m = memory_source_make(&p, chunks[random_below(&r, 4)],
                                                 random_below(&r, 2), random_below(&r, 4) > 0);
    cuda->keeps_images = random_below(&r, 3) > 0;
    print_message("%s, %d x %d, boxes of %d every %d, seed %llu%s\n", picture_name(kind), width,
                  height, (int)d.box, (int)d.step, (unsigned long long)seed,
                  cuda->keeps_images ? "" : ", streamed");
    assert_same(&m->source, &d, 1 + random_below(&r, 9));
    memory_source_free(m);
    picture_free(&p);
}

/* --- fits --- */

/* Jobs and their pixels. */
struct fits {
    struct fit_pixel *pixels;
    struct fit_job *jobs;
    int64_t n, n_pixels;
};

/* Jobs of all kinds, of up to side x side pixels: beyond 32 x 32 some are for the host. */
static struct fits make_fits(int64_t n, int side, uint64_t seed) {
    struct random r = {seed};
    struct fits f = {.jobs = calloc((size_t)n + 1, sizeof *f.jobs)};
    for (; f.n < n; f.n++) {
        struct fit_scene scene = fit_scene_make(random_below(&r, FIT_SCENES), side, &r);
        struct fit_job *job = &f.jobs[f.n];
        f.pixels =
            realloc(f.pixels, (size_t)(f.n_pixels + scene.job.n_pixels + 1) * sizeof *f.pixels);
        memcpy(f.pixels + f.n_pixels, scene.pixels + scene.job.first,
               (size_t)scene.job.n_pixels * sizeof *f.pixels);
        *job = scene.job;
        job->first = f.n_pixels;
        if (random_below(&r, 4) == 0)
            job->limits = (struct fit_limits){1 + random_below(&r, 40), 1e-3};
        f.n_pixels += job->n_pixels;
        fit_scene_free(&scene);
    }
    return f;
}

static void free_fits(struct fits *f) {
    free(f->pixels);
    free(f->jobs);
}

static struct fit_job *copy_jobs(const struct fits *f) {
    struct fit_job *jobs = malloc((size_t)f->n * sizeof *jobs + 1);
    memcpy(jobs, f->jobs, (size_t)f->n * sizeof *jobs);
    return jobs;
}

static void assert_same_fits(const struct fits *f) {
    struct fit_job *cpu = copy_jobs(f), *gpu = copy_jobs(f);
    struct error error = {""};
    assert_int_equal(cpu_fit(f->pixels, cpu, f->n, unit_threads(16), &error), SRCFIND_OK);
    const enum srcfind_status status =
        cuda_fit(cuda, f->pixels, gpu, f->n, unit_threads(3), &error);
    if (status != SRCFIND_OK)
        print_message("%s\n", error.text);
    assert_int_equal(status, SRCFIND_OK);
    for (int64_t i = 0; i < f->n; i++) {
        if (memcmp(&gpu[i], &cpu[i], sizeof *gpu) != 0)
            print_message("job %d: %d pixels, %d sources\n", (int)i, (int)f->jobs[i].n_pixels,
                          (int)f->jobs[i].set.n);
        ASSERT_SAME(gpu[i], cpu[i]);
    }
    free(cpu);
    free(gpu);
}

static void check_fits(int64_t n, int side, uint64_t seed) {
    struct fits f = make_fits(n, side, seed);
    print_message("%d fits, up to %d x %d pixels, seed %llu\n", (int)n, side, side,
                  (unsigned long long)seed);
    assert_same_fits(&f);
    free_fits(&f);
}

static void fits(void **state) {
    struct random r = {13};
    (void)state;
    check_fits(0, 10, 0);
    for (int i = 0; i < 30; i++) /* a call takes as long as its longest job: half a second */
        check_fits(1 + random_below(&r, 12), i % 10 ? 22 : 45, (uint64_t)i);
    for (int i = 30; i < 40; i++)
        check_fits(i % 2 ? 330 : 2400, i % 10 ? 22 : 45, (uint64_t)i);
}

/* So many that each warp has several. */
static void many_fits(void **state) {
    (void)state;
    check_fits(60000, 12, 1);
    check_fits(3000, 40, 2);
}

/* The host takes a share: all of a few jobs, a few of many. In all other tests the device has all
 * that are not too large for it. */
static void shared_fits(void **state) {
    (void)state;
    unsetenv("SRCFIND_FITS_ON_DEVICE");
    for (int i = 0; i < 30; i += 2)
        check_fits(1 + i * i * i / 4, 22, (uint64_t)i);
    check_fits(4000, 30, 5);
    setenv("SRCFIND_FITS_ON_DEVICE", "1", 1);
}

/* With memory for a few warps, beside what a search keeps there; and with too little. */
static void fits_in_little_memory(void **state) {
    struct random r = {14};
    struct picture p = picture_make(5, 900, 900, &r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    struct fits f = make_fits(500, 20, 3);
    struct fit_job *jobs = copy_jobs(&f);
    struct error error = {""};
    (void)state;
    cuda->limit = 64 << 20;
    for (int i = 0; i < 3; i++) {
        assert_same(&m->source, &ORDINARY, 3);
        assert_same_fits(&f);
        assert_true(cuda->used <= cuda->limit);
    }
    release();
    cuda->limit = 1 << 20;
    assert_int_equal(cuda_fit(cuda, f.pixels, jobs, f.n, unit_threads(2), &error),
                     SRCFIND_ERROR_DEVICE);
    assert_non_null(strstr(error.text, "memory"));
    cuda->limit = all_memory;
    assert_same_fits(&f);
    free(jobs);
    free_fits(&f);
    memory_source_free(m);
    picture_free(&p);
}

/* --- smoothed images --- */

/* Takes the samples of the CPU, row after row. */
struct taken {
    float *samples;
    int64_t width;
};

static enum srcfind_status put(void *context, int64_t y, int64_t n, const float *samples,
                               struct error *error) {
    const struct taken *t = context;
    (void)error;
    memcpy(t->samples + y * t->width, samples, (size_t)(n * t->width) * sizeof *samples);
    return SRCFIND_OK;
}

/* What is smoothed. */
struct smoothed {
    const struct pixel_source *source;
    const struct gaussian *gaussians;
    int n;
};

static struct model model_of(const struct smoothed *s) {
    const struct model_box box = {0, 0, s->source->width, s->source->height, MODEL_CELL};
    struct model model;
    assert_true(model_make(&model, s->gaussians, s->n, &box));
    return model;
}

/* Smooths the image that a device has. */
static enum srcfind_status smooth_there(struct cuda *device, const struct smoothed *what,
                                        const struct smoothing *s, struct device_pixels *samples,
                                        int64_t *n_samples, struct error *error) {
    struct model m = model_of(what);
    const struct smoothing_model less = {m.gaussians, what->n, m.first,   m.reaching,
                                         m.n_x,       m.n_y,   m.box.cell};
    const enum srcfind_status status =
        cuda_smooth(device, s, &less, what->source->width, what->source->height, unit_threads(3),
                    samples, n_samples, error);
    model_clear(&m);
    return status;
}

/* Searches samples on the CPU, and those that the device has there. */
static void assert_same_search(const float *samples, const struct smoothing *s,
                               const struct device_pixels *on_device) {
    const struct picture p = {(int)s->width, (int)s->height, (float *)samples};
    struct memory_source *m = memory_source_make(&p, 1 << 16, false, true);
    const struct detection d = detection_with_runs(&LOCAL);
    struct detection_result cpu, gpu;
    struct error error;
    struct threads *team = team_for(s->width * s->height);
    assert_int_equal(cpu_detect(&m->source, &d, team, &cpu, &error), SRCFIND_OK);
    const enum srcfind_status status =
        cuda_detect_pixels(cuda, on_device, &d, unit_threads(2), &gpu, &error);
    if (status != SRCFIND_OK)
        print_message("%s\n", error.text);
    assert_int_equal(status, SRCFIND_OK);
    assert_same_background(&gpu.background, &cpu.background);
    assert_int_equal(gpu.segments.n, cpu.segments.n);
    for (int64_t i = 0; i < cpu.segments.n; i++)
        assert_same_island(&gpu.segments.islands[i], &cpu.segments.islands[i]);
    if (cpu.segments.n > 0)
        assert_same_pixels(&m->source, &cpu.segments, 2);
    detection_result_clear(&cpu);
    detection_result_clear(&gpu);
    memory_source_free(m);
}

/* Smooths on both, and searches the samples. */
static void assert_same_smoothing(const struct smoothed *what, const struct smoothing *s) {
    const int64_t n = s->width * s->height;
    const struct taken taken = {malloc((size_t)n * sizeof(float)), s->width};
    float *found = malloc((size_t)n * sizeof *found);
    struct model model = model_of(what);
    const struct smooth_work work = {s, what->source, &model, put, (void *)&taken};
    struct device_pixels samples;
    int64_t n_cpu, n_gpu;
    struct error error;
    struct threads *team = team_for(what->source->width * what->source->height);
    assert_int_equal(smooth(&work, team, &n_cpu, &error), SRCFIND_OK);
    assert_int_equal(smooth_there(cuda, what, s, &samples, &n_gpu, &error), SRCFIND_OK);
    assert_int_equal(
        cudaMemcpy(found, samples.pixels, (size_t)n * sizeof *found, cudaMemcpyDeviceToHost),
        cudaSuccess);
    assert_same_samples(taken.samples, found, n);
    assert_int_equal(n_gpu, n_cpu);
    if (n_cpu > 0)
        assert_same_search(taken.samples, s, &samples);
    model_clear(&model);
    free(taken.samples);
    free(found);
}

/* Searches a picture, and then two smoothed images of it. */
static void check_smoothing(int kind, int width, int height, uint64_t seed) {
    enum { GAUSSIANS = 6 };
    struct random r = {seed};
    struct picture p = picture_make(kind, width, height, &r);
    struct memory_source *m =
        memory_source_make(&p, 5000, random_below(&r, 2), random_below(&r, 4) > 0);
    struct gaussian g[GAUSSIANS];
    struct detection_result result;
    struct error error;
    const struct smoothed what = {&m->source, g, random_below(&r, GAUSSIANS + 1)};
    cuda->keeps_images = true;
    for (int i = 0; i < what.n; i++)
        g[i] = random_gaussian(&r, width, height);
    print_message("smoothed %s, %d x %d, seed %llu\n", picture_name(kind), width, height,
                  (unsigned long long)seed);
    if (cuda_detect(cuda, &m->source, &ORDINARY, unit_threads(3), &result, &error) == SRCFIND_OK) {
        assert_true(result.is_on_device);
        detection_result_clear(&result);
        for (int i = 0; i < 2; i++) {
            struct smoothing s = random_smoothing(&r, width, height);
            assert_same_smoothing(&what, &s);
            smoothing_clear(&s);
        }
    }
    memory_source_free(m);
    picture_free(&p);
}

static void smoothed_pictures(void **state) {
    struct random r = {21};
    (void)state;
    for (int i = 0; i < 600; i++) {
        const int most = i % 20 ? 120 : 900;
        check_smoothing(i % PICTURE_KINDS, 1 + random_below(&r, most), 1 + random_below(&r, most),
                        (uint64_t)i);
    }
}

/* More rows than a band has; and with little memory, in which the image stays. */
static void smoothed_in_bands(void **state) {
    (void)state;
    check_smoothing(6, 700, 70000, 1);
    cuda->limit = 400 << 20;
    check_smoothing(6, 3000, 2900, 2);
    assert_true(cuda->used <= cuda->limit);
}

/* Each failing call of smoothing is an error; so is too little memory. */
static void failing_smoothing(void **state) {
    struct random r = {22};
    struct picture p = picture_make(5, 300, 200, &r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    const struct gaussian g = random_gaussian(&r, 300, 200);
    const struct smoothed what = {&m->source, &g, 1};
    struct smoothing s;
    int n_failed = 0;
    (void)state;
    assert_true(smoothing_make(&s, 20, 4, 1, 300, 200));
    for (int call = 1;; call++) {
        struct cuda *failing;
        struct detection_result result;
        struct device_pixels samples;
        struct error error;
        int64_t n;
        assert_int_equal(cuda_open(0, 0, 1, UPLOADERS, &failing, &error), SRCFIND_OK);
        assert_int_equal(
            cuda_detect(failing, &m->source, &ORDINARY, unit_threads(2), &result, &error),
            SRCFIND_OK);
        detection_result_clear(&result);
        failing->failing_call = failing->calls + call;
        enum srcfind_status status = smooth_there(failing, &what, &s, &samples, &n, &error);
        const bool is_lost = failing->lost;
        failing->limit = 1 << 10;
        if (status == SRCFIND_OK)
            assert_int_equal(smooth_there(failing, &what, &s, &samples, &n, &error),
                             SRCFIND_ERROR_DEVICE);
        assert_non_null(strstr(error.text, "--cpu works without it"));
        cuda_close(failing);
        if (status == SRCFIND_OK)
            break;
        assert_int_equal(status, SRCFIND_ERROR_DEVICE);
        assert_true(is_lost);
        n_failed++;
    }
    assert_true(n_failed > 0);
    smoothing_clear(&s);
    memory_source_free(m);
    picture_free(&p);
}

/* Each kind of picture three times: few enough for compute-sanitizer. */
static void few_pictures(void **state) {
    (void)state;
    for (int i = 0; i < PICTURE_KINDS; i++) {
        check_picture(i, 70, 50, (uint64_t)i, WITH_ORDINARY);
        check_picture(i, 620, 440, (uint64_t)i, i % 2 ? WITH_ORDINARY : RANDOM);
        check_picture(i, 200, 170, (uint64_t)i, i % 2 ? WITH_LOCAL : RANDOM_LOCAL);
    }
    for (int i = 0; i < 4; i++)
        check_fits(30, 20, (uint64_t)i);
    for (int i = 0; i < PICTURE_KINDS; i++)
        check_smoothing(i, 90 + i, 80, (uint64_t)i);
}

static void small_pictures(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 2500; i++)
        check_picture(i % PICTURE_KINDS, 1 + random_below(&r, 90), 1 + random_below(&r, 90),
                      (uint64_t)i, i % 2 ? RANDOM : RANDOM_LOCAL);
}

static void thin_pictures(void **state) {
    struct random r = {2};
    (void)state;
    for (int i = 0; i < 10 * PICTURE_KINDS; i++) {
        const int length = 1 + random_below(&r, 9000);
        check_picture(i % PICTURE_KINDS, i % 3 ? length : 1, i % 3 ? 1 : length, (uint64_t)i,
                      i % 4 ? RANDOM : RANDOM_LOCAL);
    }
}

/* An image one pixel wide, in which each pixel of the first block of tiles is a run: the buffer of
 * runs overflows at first. */
static void column(void **state) {
    enum { HEIGHT = 1 << 20, BRIGHT = TILES_A_BLOCK * TILE };
    struct random r = {11};
    struct picture p = picture_make(0, 1, HEIGHT, &r);
    (void)state;
    for (int i = 0; i < BRIGHT; i++)
        p.pixels[i] += 1e6f;
    struct memory_source *m = memory_source_make(&p, 1 << 16, false, true);
    assert_same(&m->source, &ORDINARY, 2);
    memory_source_free(m);
    picture_free(&p);
}

/* Pictures large enough for a prediction from a sample. */
static void predicted_pictures(void **state) {
    struct random r = {3};
    (void)state;
    n_one_read = n_sorted = 0;
    for (int i = 0; i < 5 * PICTURE_KINDS; i++) /* each kind in all four ways */
        check_picture(i % PICTURE_KINDS, 400 + random_below(&r, 500), 700 + random_below(&r, 200),
                      (uint64_t)i + 1000, (enum how)(i % 4));
    print_message("%d in one read, %d sorted\n", n_one_read, n_sorted);
    assert_true(n_one_read > 10 && n_sorted > 10);
}

/* Half of the pixels in sources, all pixels in one source, and shapes that are hard to label. */
static void dense_pictures(void **state) {
    static const struct {
        int kind;
        struct detection detection;
    } cases[] = {
        {0, {3, 0.1, 0.05, NAN, 4, 1, false, false, 0, 0, 0, 0, {0}, NULL}},
        {1, {3, 5, 5, 0, 4, 1, false, false, 0, 0, 0, 0, {0}, NULL}},
        {12, {10, 0.5, 0.5, NAN, 4, 1, false, false, 0, 0, 0, 0, {0}, NULL}},
        {12, {10, 0.5, 0.5, NAN, 8, 1, false, false, 0, 0, 0, 0, {0}, NULL}},
        {16, ORDINARY},
        {17, {10, 0.1, 0.1, NAN, 8, 1, false, false, 0, 0, 0, 0, {0}, NULL}},
        {18, ORDINARY},
        {20, ORDINARY},
        {19, {10, 0.001, 0.0001, NAN, 8, 1, false, false, 0, 0, 0, 0, {0}, NULL}},
    };
    struct random r = {8};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct picture p = picture_make(cases[i].kind, 1900, 1700, &r);
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        struct detection local = cases[i].detection;
        local.box = 40 + 100 * (int64_t)(i % 5); /* up to more than have lists */
        local.step = local.box / 3;
        for (int pass = 0; pass < 4; pass++) {
            cuda->keeps_images = pass % 2;
            assert_same(&m->source, pass < 2 ? &cases[i].detection : &local, 8);
        }
        memory_source_free(m);
        picture_free(&p);
    }
}

/* Many listed pixels have the same value. */
static void many_equal(void **state) {
    struct random r = {12};
    struct picture p = picture_make(0, 1900, 1700, &r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    (void)state;
    for (int i = 0; i < 1900 * 1700; i += 37)
        m->pixels[i] = __builtin_bswap32(exact_bits(7));
    n_one_read = 0;
    for (int pass = 0; pass < 3; pass++)
        assert_same(&m->source, &ORDINARY, 8);
    assert_int_equal(n_one_read, 3);
    memory_source_free(m);
    picture_free(&p);
}

static void search_noisy(int kind, int height, struct random *r) {
    struct picture p = picture_make(kind, 600, height, r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    assert_same(&m->source, &ORDINARY, 3);
    memory_source_free(m);
    picture_free(&p);
}

/* From the third search of images of one shape on, the recorded graph is launched; once buffers are
 * as large as these images need, which the first searches find. */
static void repeated(void **state) {
    struct random r = {4};
    (void)state;
    for (int i = 0; i < 4; i++)
        search_noisy(i % 2 ? 5 : 6, 700, &r);
    for (int i = 0; i < 12; i++) {
        const int height = i < 6 ? 690 : 500;
        search_noisy(i % 2 ? 5 : 6, height, &r);
        assert_int_equal(cuda->recording.params.height, height);
        assert_true(i % 6 < 2 || cuda->recording.graph);
    }
}

/* With little memory images are streamed, and clipped on the CPU if they cannot be sorted on the
 * device. */
static void little_memory(void **state) {
    static const int kinds[] = {0, 1, 5, 11}; /* noise, and pictures for which predictions fail */
    struct random r = {5};
    (void)state;
    n_one_read = n_histogram = 0;
    for (int i = 0; i < 8; i++) {
        struct picture p = picture_make(kinds[i % 4], 3000, 2800 + 10 * i, &r);
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        release();
        cuda->limit = 48 << 20;
        assert_same(&m->source, &ORDINARY, 3);
        assert_true(cuda->used <= cuda->limit && cuda->buffers[BUFFER_IMAGE].size == 0);
        memory_source_free(m);
        picture_free(&p);
    }
    print_message("%d in one read, %d by histogram\n", n_one_read, n_histogram);
    assert_true(n_one_read >= 4 && n_histogram > 0);
}

/* Images of all sizes one after the other, with memory for only one of them: the buffers of one
 * must not prevent the search of the next. */
static void one_after_the_other(void **state) {
    static const int shapes[][3] = {{0, 3000, 2000}, {11, 800, 700},   {5, 1500, 1400},
                                    {0, 300, 200},   {11, 1500, 1400}, {16, 900, 900},
                                    {0, 3000, 2100}, {1, 60, 50}};
    struct random r = {9};
    (void)state;
    cuda->limit = 52 << 20;
    for (int i = 0; i < 16; i++) {
        const int *shape = shapes[i % 8];
        struct picture p = picture_make(shape[0], shape[1], shape[2], &r);
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        assert_same(&m->source, &ORDINARY, 3);
        assert_true(cuda->used <= cuda->limit);
        memory_source_free(m);
        picture_free(&p);
    }
}

/* Noise and sources, with values changed so that the list is hard to clip. */
enum change { NONE, OFFSET, NEGATIVE, VERY_BRIGHT, SKEWED, CUT_OFF, COARSE, CHANGES };

static float changed(enum change change, float v, int i) {
    if (i % 2000 == 5)
        v = (float)(6 + i % 90);
    switch (change) {
    case OFFSET:
        return v + 1000;
    case NEGATIVE:
        return -v;
    case VERY_BRIGHT:
        return i % 2000 == 5 ? ldexpf(v, i / 2000 % 70) : v;
    case SKEWED:
        return v * fabsf(v);
    case CUT_OFF:
        return v < -2 ? -50 : v;
    case COARSE:
        return rintf(v * 4096) / 4096;
    default:
        return v;
    }
}

/* Images of more than AT_ONCE_PIXELS; first streamed, then kept. */
static void large_pictures(void **state) {
    enum { WIDTH = 4200, HEIGHT = 4100 };
    static const struct detection detections[] = {
        {3, 5, 3.5, NAN, 8, 1, false, false, 0, 0, 0, 0, {0}, NULL},
        {2.2, 5, 3, NAN, 8, 1, false, false, 0, 0, 0, 0, {0}, NULL},
        {6, 5, 4, 0, 4, 3, false, false, 0, 0, 0, 0, {0}, NULL}};
    struct random r = {10};
    struct picture p = picture_make(0, WIDTH, HEIGHT, &r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    (void)state;
    n_one_read = n_sorted = 0;
    for (int i = 0; i < 2 * CHANGES; i++) {
        for (int k = 0; k < WIDTH * HEIGHT; k++) {
            const float v = changed((enum change)(i % CHANGES), p.pixels[k], k);
            m->pixels[k] = __builtin_bswap32(exact_bits(v));
        }
        cuda->keeps_images = i >= CHANGES;
        assert_same(&m->source, &detections[i % CHANGES % 3], 8);
        assert_same(&m->source, &LOCAL, 8);
    }
    print_message("%d in one read, %d sorted\n", n_one_read, n_sorted);
    assert_true(n_one_read > 4 && n_sorted > 0);
    memory_source_free(m);
    picture_free(&p);
}

/* A file that ends too early is an error; the next search, of a whole file, works. */
static const uint32_t *(*read_well)(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error);

static const uint32_t *read_half(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                 struct error *error) {
    if (first < 900 * 450)
        return read_well(state, first, count, buffer, error);
    error_set(error, SRCFIND_ERROR_INPUT, "the file ends");
    return NULL;
}

static void failing_source(void **state) {
    struct random r = {11};
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct picture p = picture_make(5, 900, 900, &r);
        struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
        struct detection_result result;
        struct error error;
        cuda->keeps_images = i % 2;
        read_well = m->source.read;
        m->source.read = read_half;
        assert_int_equal(cuda_detect(cuda, &m->source, &ORDINARY, unit_threads(8), &result, &error),
                         SRCFIND_ERROR_INPUT);
        assert_string_equal(error.text, "the file ends");
        m->source.read = read_well;
        assert_same(&m->source, &ORDINARY, 8);
        memory_source_free(m);
        picture_free(&p);
    }
}

/* Too little memory is an error that says so, and the next search works. */
static void too_little_memory(void **state) {
    struct random r = {6};
    struct picture p = picture_make(5, 900, 900, &r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    struct detection_result result;
    struct error error;
    (void)state;
    cuda->limit = 1 << 20;
    assert_int_equal(cuda_detect(cuda, &m->source, &ORDINARY, unit_threads(2), &result, &error),
                     SRCFIND_ERROR_DEVICE);
    assert_non_null(strstr(error.text, "memory"));
    cuda->limit = all_memory;
    assert_same(&m->source, &ORDINARY, 2);
    memory_source_free(m);
    picture_free(&p);
}

/* Each failing CUDA call is an error, and the device is not used after it. */
static void check_failing_calls(const struct pixel_source *source, bool keeps_images,
                                const struct detection *detection) {
    struct error error;
    int n_failed = 0;
    for (int call = 1;; call += 1 + call / 8) {
        struct cuda *failing;
        struct detection_result result;
        assert_int_equal(cuda_open(0, 0, 1, UPLOADERS, &failing, &error), SRCFIND_OK);
        failing->keeps_images = keeps_images;
        failing->failing_call = failing->calls + call;
        const enum srcfind_status first =
            cuda_detect(failing, source, detection, unit_threads(2), &result, &error);
        const enum srcfind_status second =
            first ? cuda_detect(failing, source, detection, unit_threads(2), &result, &error)
                  : SRCFIND_OK;
        cuda_close(failing);
        if (first == SRCFIND_OK) {
            detection_result_clear(&result);
            break;
        }
        assert_int_equal(first, SRCFIND_ERROR_DEVICE);
        assert_int_equal(second, SRCFIND_ERROR_DEVICE);
        assert_non_null(strstr(error.text, "lost"));
        n_failed++;
    }
    assert_true(n_failed > 5);
}

static void failing_calls(void **state) {
    struct random r = {7};
    struct picture p = picture_make(5, 600, 600, &r);
    struct memory_source *m = memory_source_make(&p, 1 << 16, true, true);
    (void)state;
    for (int keeps_images = 0; keeps_images < 2; keeps_images++) {
        check_failing_calls(&m->source, keeps_images, &ORDINARY);
        check_failing_calls(&m->source, keeps_images, &LOCAL);
    }
    memory_source_free(m);
    picture_free(&p);
}

/* Each failing call of a fit is an error. */
static void failing_fits(void **state) {
    struct fits f = make_fits(60, 45, 4);
    int n_failed = 0;
    (void)state;
    for (int call = 1;; call++) {
        struct fit_job *jobs = copy_jobs(&f);
        struct cuda *failing;
        struct error error;
        assert_int_equal(cuda_open(0, 0, 1, UPLOADERS, &failing, &error), SRCFIND_OK);
        failing->failing_call = failing->calls + call;
        const enum srcfind_status status =
            cuda_fit(failing, f.pixels, jobs, f.n, unit_threads(2), &error);
        const bool is_lost = failing->lost;
        cuda_close(failing);
        if (status == SRCFIND_OK) {
            free(jobs);
            break;
        }
        assert_int_equal(status, SRCFIND_ERROR_DEVICE);
        assert_non_null(strstr(error.text, "--cpu works without it"));
        assert_true(is_lost);
        free(jobs);
        n_failed++;
    }
    assert_true(n_failed > 2);
    free_fits(&f);
}

#define RUN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        RUN(few_pictures),
        RUN(small_pictures),
        RUN(thin_pictures),
        RUN(column),
        RUN(predicted_pictures),
        RUN(dense_pictures),
        RUN(many_equal),
        RUN(repeated),
        RUN(little_memory),
        RUN(one_after_the_other),
        RUN(large_pictures),
        RUN(failing_source),
        RUN(too_little_memory),
        RUN(failing_calls),
        RUN(fits),
        RUN(many_fits),
        RUN(shared_fits),
        RUN(fits_in_little_memory),
        RUN(failing_fits),
        RUN(smoothed_pictures),
        RUN(smoothed_in_bands),
        RUN(failing_smoothing),
    };
    struct error error;
    setenv("SRCFIND_FITS_ON_DEVICE", "1", 1);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    if (cuda_count(&error) == 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    if (cuda_open(0, 0, 1, UPLOADERS, &cuda, &error) != SRCFIND_OK) {
        printf("%s\n", error.text);
        return 1;
    }
    all_memory = cuda->limit;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cuda_close(cuda);
    return failed;
}
