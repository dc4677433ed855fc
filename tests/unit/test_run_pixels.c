/* The pixels of runs are those of the image, with the noise of the map or of the user's maps there,
 * however they are read. */
#include <stdlib.h>

#include "measure/run_pixels.h"
#include "unit.h"

enum { MOST_SIDE = 90, MOST_RUNS = 300, MOST_SETS = 200, NODES = 4 };

/* An image, maps of the noise, and nodes. */
struct scene {
    struct picture pictures[3]; /* the image, the background, the rms */
    struct memory_source *sources[3];
    struct noise_at nodes[NODES * NODES];
    struct noise_map noise;
    struct run_source from;
};

static struct memory_source *source_of(const struct picture *p, bool is_parallel,
                                       struct random *r) {
    static const int64_t chunks[] = {1 << 16, 4096, 1000, 64, 7, 1};
    return memory_source_make(p, chunks[random_below(r, 6)], random_below(r, 2), is_parallel);
}

static void make_scene(struct scene *s, struct random *r) {
    const int width = 1 + random_below(r, MOST_SIDE), height = 1 + random_below(r, MOST_SIDE);
    const bool is_parallel = random_below(r, 4) > 0;
    for (int i = 0; i < 3; i++) {
        s->pictures[i] = picture_make(6, width, height, r); /* with blanks */
        s->sources[i] = source_of(&s->pictures[i], is_parallel, r);
    }
    for (int i = 0; i < NODES * NODES; i++)
        s->nodes[i] = (struct noise_at){random_unit(r), 1 + random_unit(r)};
    s->noise = (struct noise_map){.background = 0.25,
                                  .rms = 1.5,
                                  .nodes = random_below(r, 2) ? s->nodes : NULL,
                                  .n_x = NODES,
                                  .n_y = NODES,
                                  .step = MOST_SIDE / NODES};
    s->from = (struct run_source){.source = &s->sources[0]->source, .noise = &s->noise};
    if (random_below(r, 3) == 0)
        s->from.user.background = &s->sources[1]->source;
    if (random_below(r, 3) == 0)
        s->from.user.rms = &s->sources[2]->source;
}

static void free_scene(struct scene *s) {
    for (int i = 0; i < 3; i++) {
        picture_free(&s->pictures[i]);
        memory_source_free(s->sources[i]);
    }
}

/* Runs in the order of their rows, some of which overlap, are empty, or have a whole row. */
static int make_runs(const struct scene *s, struct run *runs, struct random *r) {
    const int width = s->pictures[0].width, height = s->pictures[0].height;
    const int n = random_below(r, MOST_RUNS);
    for (int i = 0; i < n; i++) {
        const int a = random_below(r, width), b = random_below(r, width);
        runs[i] = (struct run){random_below(r, height), a < b ? a : b, a < b ? b : a};
        if (random_below(r, 10) == 0)
            runs[i] = (struct run){runs[i].y, 0, -1};
        if (random_below(r, 10) == 0)
            runs[i] = (struct run){runs[i].y, 0, width - 1};
    }
    return n;
}

static int compare_rows(const void *a, const void *b) {
    return ((const struct run *)a)->y - ((const struct run *)b)->y;
}

/* Divides runs into sets, whose pixels leave gaps of a pixel; sets the number of all pixels. */
static int make_sets(struct run *runs, int n, struct run_set *sets, int64_t *n_pixels,
                     struct random *r) {
    int n_sets = 0;
    *n_pixels = 0;
    for (int i = 0, count; i < n; i += count) {
        count = random_below(r, n - i + 1) / (1 + random_below(r, 20));
        sets[n_sets] = (struct run_set){runs + i, count, ++*n_pixels};
        qsort(runs + i, (size_t)count, sizeof *runs, compare_rows);
        for (int k = i; k < i + count; k++)
            *n_pixels += run_length(&runs[k]);
        if (++n_sets == MOST_SETS)
            break;
    }
    return n_sets;
}

static float pixel_of(const struct picture *p, int x, int y) {
    return p->pixels[y * p->width + x];
}

/* The same value, or two NaN. */
static void assert_same_value(double value, double expected) {
    assert_true(value == expected || (isnan(value) && isnan(expected)));
}

static void check_run(const struct scene *s, const struct run *run, int64_t at,
                      const struct run_pixels *pixels) {
    const struct noise_sources *user = &s->from.user;
    for (int x = run->x0; x <= run->x1; x++, at++) {
        const struct noise_at noise = noise_map_at(&s->noise, x, run->y);
        assert_same_value((double)pixels->value[at], (double)pixel_of(&s->pictures[0], x, run->y));
        assert_same_value(pixels->background[at], user->background
                                                      ? (double)pixel_of(&s->pictures[1], x, run->y)
                                                      : noise.background);
        assert_same_value(pixels->rms[at],
                          user->rms ? (double)pixel_of(&s->pictures[2], x, run->y) : noise.rms);
    }
}

static void check_sets(const struct scene *s, const struct run_set *sets, int n,
                       const struct run_pixels *pixels) {
    for (int k = 0; k < n; k++) {
        int64_t at = sets[k].first;
        for (int64_t i = 0; i < sets[k].n; i++) {
            check_run(s, &sets[k].runs[i], at, pixels);
            at += run_length(&sets[k].runs[i]);
        }
    }
}

/* What a device does, without one. */
static enum srcfind_status gather(void *context, const struct gathered_runs *runs, float *values,
                                  struct error *error) {
    const struct scene *s = context;
    (void)error;
    for (int64_t i = 0; i < runs->n; i++)
        for (int x = runs->runs[i].x0; x <= runs->runs[i].x1; x++)
            values[runs->first[i] + x - runs->runs[i].x0] =
                pixel_of(&s->pictures[0], x, runs->runs[i].y);
    return SRCFIND_OK;
}

static void any_runs(void **state) {
    static struct scene s;
    static struct run runs[MOST_RUNS];
    static struct run_set sets[MOST_SETS];
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 3000 / UNIT_FEWER; i++) {
        struct run_pixels pixels = {0};
        struct error error;
        make_scene(&s, &r);
        int64_t n_pixels;
        const int n = make_sets(runs, make_runs(&s, runs, &r), sets, &n_pixels, &r);
        if (!noise_sources_exist(&s.from.user) && random_below(&r, 3) == 0) {
            s.from.gather = gather;
            s.from.context = &s;
        }
        assert_int_equal(run_pixels_read(&s.from, sets, n, n_pixels,
                                         unit_threads(1 + random_below(&r, 7)), &pixels, &error),
                         SRCFIND_OK);
        check_sets(&s, sets, n, &pixels);
        run_pixels_clear(&pixels);
        free_scene(&s);
    }
}

/* Reads zeros; fails beyond the first row. */
static const uint32_t *read_first_row(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                      struct error *error) {
    (void)state;
    (void)error;
    assert_in_range(first, 0, 99);
    memset(buffer, 0, (size_t)count * sizeof *buffer);
    return buffer;
}

/* The parts of the image without runs are not read. */
static void parts_of_the_image(void **state) {
    const struct pixel_source source = {
        .width = 100, .height = 1000, .chunk_pixels = 50, .read = read_first_row};
    const struct noise_map noise = {.rms = 1};
    const struct run_source from = {.source = &source, .noise = &noise};
    const struct run run = {0, 10, 70};
    const struct run_set set = {&run, 1, 0};
    struct run_pixels pixels = {0};
    struct error error;
    (void)state;
    assert_int_equal(run_pixels_read(&from, &set, 1, 61, NULL, &pixels, &error), SRCFIND_OK);
    run_pixels_clear(&pixels);
}

/* The file ends: the error is the source's, of the image's or of a map's. */
static const uint32_t *read_none(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                 struct error *error) {
    (void)state, (void)first, (void)count, (void)buffer;
    error_set(error, SRCFIND_ERROR_INPUT, "the file ends");
    return NULL;
}

static void failing_sources(void **state) {
    const struct run run = {10, 5, 9};
    const struct run_set set = {&run, 1, 0};
    const struct noise_map noise = {.rms = 1};
    struct random r = {2};
    struct picture p = picture_make(0, 30, 30, &r);
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct memory_source *sources[3];
        struct run_pixels pixels = {0};
        struct error error = {""};
        for (int i = 0; i < 3; i++)
            sources[i] = memory_source_make(&p, 64, false, true);
        sources[which]->source.read = read_none;
        const struct run_source from = {.source = &sources[0]->source,
                                        .noise = &noise,
                                        .user = {&sources[1]->source, &sources[2]->source}};
        assert_int_equal(run_pixels_read(&from, &set, 1, 5, unit_threads(3), &pixels, &error),
                         SRCFIND_ERROR_INPUT);
        assert_string_equal(error.text, "the file ends");
        run_pixels_clear(&pixels);
        for (int i = 0; i < 3; i++)
            memory_source_free(sources[i]);
    }
    picture_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_runs),
        cmocka_unit_test(parts_of_the_image),
        cmocka_unit_test(failing_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
