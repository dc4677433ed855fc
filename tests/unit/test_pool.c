/* The pool of devices, by a module without CUDA (fake_cuda.h): each search has a context to itself,
 * errors lead where they should, and everything that was opened is closed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "fake_cuda.h"
#include "options.h"
#include "srcfind.h"
#include "unit.h"

enum { SIDE = 700, FINDERS = 12, EACH = 5, CONTEXTS = 8 /* of a small device, at most */ };

static struct fake_counts *counts;
static struct picture picture;
static char *expected;

static char *text_of(struct srcfind *finder, const struct srcfind_catalogue *catalogue) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, NULL, stream), SRCFIND_OK);
    fclose(stream);
    return text;
}

/* How the searches of one finder ended. */
struct ends {
    struct srcfind *finder;
    int on_cpu, on_gpu, failed, wrong;
    char reason[sizeof((struct srcfind_run *)0)->reason]; /* of the last on the CPU */
};

static void search(struct ends *e) {
    struct srcfind_catalogue *catalogue;
    const struct srcfind_pixels pixels = pixels_of(&picture);
    if (srcfind_find_pixels(e->finder, &pixels, &catalogue)) {
        e->failed++;
        return;
    }
    const struct srcfind_run *run = srcfind_catalogue_run(catalogue);
    const bool on_gpu = strcmp(run->backend, "cuda") == 0;
    char *text = text_of(e->finder, catalogue);
    e->on_gpu += on_gpu;
    e->on_cpu += !on_gpu;
    e->wrong += strcmp(text, expected) != 0;
    if (!on_gpu)
        strcpy(e->reason, run->reason);
    free(text);
    srcfind_catalogue_destroy(catalogue);
}

static int search_often(void *ends) {
    for (int i = 0; i < EACH; i++)
        search(ends);
    counts->idle_finders++;
    return 0;
}

/* Forgets what the module has counted, and tells it what to do. */
static void set_up(const char *name, const char *value) {
    static const char *const names[] = {
        "FAKE_CUDA_DEVICES", "FAKE_CUDA_START",           "FAKE_CUDA_SEARCH", "FAKE_CUDA_LOST",
        "FAKE_CUDA_REFUSED", "SRCFIND_PIXELS_BEFORE_GPU", "FAKE_CUDA_GIB"};
    for (int i = 0; i < 7; i++)
        unsetenv(names[i]);
    memset(counts, 0, sizeof *counts);
    if (name)
        setenv(name, value, 1);
}

/* A device, and as many threads as there are finders at most. */
static struct srcfind_options *options_for(const char *device) {
    char threads[8];
    snprintf(threads, sizeof threads, "%d", FINDERS);
    return options_with("device", device, "threads", threads, NULL);
}

/* Searches with several finders at the same time, and sums up. */
static struct ends search_with(const struct srcfind_options *options, int n, bool warm) {
    struct srcfind *finders[FINDERS];
    struct ends ends[FINDERS] = {{0}}, sum = {0};
    thrd_t threads[FINDERS];
    assert_int_equal(srcfind_create_many(options, n, finders), SRCFIND_OK);
    if (warm)
        srcfind_device_is_usable(finders[0]);
    for (int i = 0; i < n; i++) {
        ends[i].finder = finders[i];
        assert_int_equal(thrd_create(&threads[i], search_often, &ends[i]), thrd_success);
    }
    for (int i = 0; i < n; i++) {
        thrd_join(threads[i], NULL);
        sum.on_cpu += ends[i].on_cpu;
        sum.on_gpu += ends[i].on_gpu;
        sum.failed += ends[i].failed;
        sum.wrong += ends[i].wrong;
        if (*ends[i].reason)
            strcpy(sum.reason, ends[i].reason);
    }
    for (int i = 0; i < n; i++)
        srcfind_destroy(finders[i]);
    assert_int_equal(sum.on_cpu + sum.on_gpu + sum.failed, n * EACH);
    assert_int_equal(sum.wrong, 0);
    assert_int_equal(counts->overlaps, 0);
    assert_int_equal(counts->opened, counts->closed);
    return sum;
}

static void one_finder(void **state) {
    struct srcfind_options *options = options_for("0");
    (void)state;
    set_up(NULL, NULL);
    const struct ends e = search_with(options, 1, false);
    assert_int_equal(e.on_gpu, EACH);
    assert_int_equal(counts->opened, 1);
    assert_int_equal(counts->uploaders, FINDERS);
    srcfind_options_destroy(options);
}

static bool all_contexts_at_once(const struct fake_counts *c) {
    return c->most_at_once >= CONTEXTS;
}

/* More finders than there are contexts: who asked for the device waits for it. */
static void waiting_for_a_device(void **state) {
    struct srcfind_options *options = options_for("0");
    (void)state;
    set_up(NULL, NULL);
    counts->search_may_end = all_contexts_at_once;
    const struct ends e = search_with(options, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_int_equal(counts->opened, CONTEXTS);
    assert_int_equal(counts->most_at_once, CONTEXTS);
    assert_int_equal(counts->uploaders, 1);
    srcfind_options_destroy(options);
}

static bool all_in_use(const struct fake_counts *c) {
    return c->most_at_once >= FINDERS;
}

/* On a device with a GiB for each finder none waits. */
static void a_context_for_each(void **state) {
    struct srcfind_options *options = options_for("0");
    char gib[8];
    (void)state;
    snprintf(gib, sizeof gib, "%d", FINDERS);
    set_up("FAKE_CUDA_GIB", gib);
    counts->search_may_end = all_in_use;
    const struct ends e = search_with(options, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_int_equal(counts->opened, FINDERS);
    assert_int_equal(counts->memory, FINDERS * (int64_t)FAKE_FREE_MEMORY);
    srcfind_options_destroy(options);
}

static bool three_at_once(const struct fake_counts *c) {
    return c->most_at_once >= 3;
}

/* All contexts together use what one would. */
static void shared_memory(void **state) {
    struct srcfind_options *options = options_for("0");
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            srcfind_options_set(options, "device-memory", "1");
        set_up(NULL, NULL);
        counts->search_may_end = three_at_once;
        search_with(options, 3, false);
        const int64_t all = i == 0 ? FAKE_FREE_MEMORY : 1 << 20;
        assert_int_equal(counts->opened, 3);
        assert_true(counts->memory <= all);
        assert_true(counts->memory / counts->opened >= all / 3);
    }
    srcfind_options_destroy(options);
}

static bool others_are_done(const struct fake_counts *c) {
    return c->idle_finders >= FINDERS - CONTEXTS;
}

/* Where the choice is srcfind's, who finds no context free does not wait: here searches on the
 * device end only when the other finders have searched all their images. */
static void both_at_once(void **state) {
    struct srcfind_options *options = options_for("auto");
    (void)state;
    set_up(NULL, NULL);
    counts->search_may_end = others_are_done;
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1);
    const struct ends e = search_with(options, FINDERS, true);
    assert_int_equal(e.on_gpu, CONTEXTS * EACH);
    assert_int_equal(e.on_cpu, (FINDERS - CONTEXTS) * EACH);
    assert_string_equal(e.reason, "the GPU is busy");
    srcfind_options_destroy(options);
}

static void all_devices(void **state) {
    struct srcfind_options *options = options_for("all");
    (void)state;
    set_up("FAKE_CUDA_DEVICES", "3");
    counts->search_may_end = all_in_use;
    const struct ends e = search_with(options, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_int_equal(counts->opened, FINDERS);
    for (int i = 0; i < 3; i++)
        assert_true(counts->searches_of[i] > 0);
    assert_int_equal(counts->searches_of[3], 0);
    set_up("FAKE_CUDA_DEVICES", "3");
    struct srcfind_options *second = options_for("2");
    assert_int_equal(search_with(second, 2, false).on_gpu, 2 * EACH);
    assert_int_equal(counts->searches_of[2], 2 * EACH);
    srcfind_options_destroy(options);
    srcfind_options_destroy(second);
}

/* Nothing is started for few pixels. The images of all finders count, and each thread. */
static void few_pixels_and_many(void **state) {
    struct srcfind_options *options = options_for("auto");
    (void)state;
    set_up(NULL, NULL);
    struct ends e = search_with(options, 2, false);
    assert_int_equal(e.on_cpu, 2 * EACH);
    assert_int_equal(counts->opened, 0);
    assert_string_equal(e.reason, "too few pixels for a GPU");
    set_up("FAKE_CUDA_DEVICES", "0");
    assert_string_equal(search_with(options, 2, false).reason, "no other device");
    srcfind_options_set(options, "threads", "2");
    set_up("SRCFIND_PIXELS_BEFORE_GPU", "980000"); /* the pixels of two images */
    e = search_with(options, 1, false);
    assert_int_equal(e.on_cpu, 2);
    assert_int_equal(e.on_gpu, EACH - 2);
    assert_int_equal(counts->opened, 1);
    srcfind_options_destroy(options);
}

/* A context that is lost takes one image with it where the device was asked for, and none where the
 * CPU may help out. */
static void lost_devices(void **state) {
    struct srcfind_options *asked = options_for("0");
    struct srcfind_options *any = options_for("auto");
    struct srcfind *finder;
    (void)state;
    set_up("FAKE_CUDA_LOST", "2");
    struct ends e = search_with(asked, 4, false);
    assert_int_equal(e.on_gpu, counts->opened);
    assert_int_equal(e.failed, 4 * EACH - counts->opened);
    set_up("FAKE_CUDA_LOST", "2");
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1);
    e = search_with(any, 4, true);
    assert_int_equal(e.failed, 0);
    set_up("FAKE_CUDA_LOST", "2");
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1);
    e = search_with(any, 1, true);
    assert_int_equal(e.on_gpu, 1);
    assert_int_equal(e.on_cpu, EACH - 1);
    assert_non_null(strstr(e.reason, "CUDA device 0"));
    set_up("FAKE_CUDA_LOST", "1");
    assert_int_equal(srcfind_create(asked, &finder), SRCFIND_OK);
    assert_true(srcfind_device_is_usable(finder));
    e = (struct ends){.finder = finder};
    search(&e);
    assert_non_null(strstr(srcfind_message(finder), "launch failure"));
    assert_false(srcfind_device_is_usable(finder));
    search(&e);
    assert_non_null(strstr(srcfind_message(finder), "lost in an earlier search"));
    assert_int_equal(e.failed, 2);
    srcfind_destroy(finder);
    srcfind_options_destroy(asked);
    srcfind_options_destroy(any);
}

static bool one_is_refused(const struct fake_counts *c) {
    return c->most_at_once >= 2 && c->refused > 0;
}

/* Contexts that cannot be opened are done without, unless it is all of them. */
static void refused_contexts(void **state) {
    struct srcfind_options *asked = options_for("0"), *any = options_for("auto");
    (void)state;
    set_up("FAKE_CUDA_REFUSED", "3");
    counts->search_may_end = one_is_refused;
    struct ends e = search_with(asked, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_int_equal(counts->opened, 2);
    assert_true(counts->refused > 0 && counts->refused <= 6); /* none is tried again */
    set_up("FAKE_CUDA_REFUSED", "1");
    e = search_with(asked, 3, false);
    assert_int_equal(e.failed, 3 * EACH);
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1);
    e = search_with(any, 3, true);
    assert_int_equal(e.on_cpu, 3 * EACH);
    assert_string_equal(e.reason, "CUDA device 0: refused");
    set_up("FAKE_CUDA_DEVICES", "0");
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1);
    e = search_with(any, 3, true);
    assert_int_equal(e.on_cpu, 3 * EACH);
    assert_string_equal(e.reason, "no other device");
    srcfind_options_destroy(asked);
    srcfind_options_destroy(any);
}

/* A device that is still being made ready when its finders go. */
static void unused_device(void **state) {
    struct srcfind_options *options = options_for("0");
    struct srcfind *finders[FINDERS];
    (void)state;
    set_up("FAKE_CUDA_START", "30");
    assert_int_equal(srcfind_create_many(options, FINDERS, finders), SRCFIND_OK);
    for (int i = 0; i < FINDERS; i++)
        srcfind_destroy(finders[i]);
    assert_int_equal(counts->opened, 1);
    assert_int_equal(counts->closed, 1);
    srcfind_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_finder),         cmocka_unit_test(waiting_for_a_device),
        cmocka_unit_test(a_context_for_each), cmocka_unit_test(both_at_once),
        cmocka_unit_test(all_devices),        cmocka_unit_test(shared_memory),
        cmocka_unit_test(lost_devices),       cmocka_unit_test(few_pixels_and_many),
        cmocka_unit_test(unused_device),      cmocka_unit_test(refused_contexts),
    };
    struct srcfind_options *options = options_for("cpu");
    struct random r = {1};
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
#ifndef TEST_HOOKS
    printf("skipped: built without -Dtest_hooks=true\n");
    return 77;
#endif
    void *module = dlopen(getenv("SRCFIND_CUDA_MODULE"), RTLD_NOW);
    counts = module ? dlsym(module, "fake_counts") : NULL;
    if (!counts) {
        printf("SRCFIND_CUDA_MODULE does not lead to the module for tests\n");
        return 1;
    }
    picture = picture_make(5, SIDE, SIDE, &r);
    srcfind_create(options, &finder);
    const struct srcfind_pixels pixels = pixels_of(&picture);
    srcfind_find_pixels(finder, &pixels, &catalogue);
    expected = text_of(finder, catalogue);
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(expected);
    picture_free(&picture);
    srcfind_options_destroy(options);
    return failed;
}
