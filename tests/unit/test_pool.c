/* The pool of devices, by a module without CUDA (fake_cuda.h): each search has a context to itself,
 * errors lead where they should, and everything that was opened is closed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "fake_cuda.h"
#include "srcfind.h"
#include "unit.h"

enum { SIDE = 700, FINDERS = 12, EACH = 5 };

static struct fake_facts *facts;
static struct picture picture;
static char *expected;

static char *text_of(struct srcfind *finder, const struct srcfind_catalogue *catalogue) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, SRCFIND_CSV, stream), SRCFIND_OK);
    fclose(stream);
    return text;
}

/* How the searches of one finder ended. */
struct ends {
    struct srcfind *finder;
    int on_cpu, on_gpu, failed, wrong;
    char reason[sizeof((struct srcfind_catalogue *)0)->reason]; /* of the last on the CPU */
};

static void search(struct ends *e) {
    struct srcfind_catalogue *catalogue;
    if (srcfind_find_pixels(e->finder, picture.pixels, SIDE, SIDE, SIDE, &catalogue)) {
        e->failed++;
        return;
    }
    const bool on_gpu = strcmp(catalogue->backend, "cuda") == 0;
    char *text = text_of(e->finder, catalogue);
    e->on_gpu += on_gpu;
    e->on_cpu += !on_gpu;
    e->wrong += strcmp(text, expected) != 0;
    if (!on_gpu)
        strcpy(e->reason, catalogue->reason);
    free(text);
    srcfind_catalogue_destroy(catalogue);
}

static int search_often(void *ends) {
    for (int i = 0; i < EACH; i++)
        search(ends);
    return 0;
}

/* Forgets what the module has counted, and tells it what to do. */
static void set_up(const char *name, const char *value) {
    static const char *const names[] = {"FAKE_CUDA_DEVICES", "FAKE_CUDA_START", "FAKE_CUDA_SEARCH",
                                        "FAKE_CUDA_LOST", "FAKE_CUDA_REFUSED"};
    for (int i = 0; i < 5; i++)
        unsetenv(names[i]);
    memset(facts, 0, sizeof *facts);
    if (name)
        setenv(name, value, 1);
}

static struct srcfind_options options_for(int device) {
    struct srcfind_options o = srcfind_default_options();
    o.device = device;
    o.threads = FINDERS;
    return o;
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
    assert_int_equal(facts->overlaps, 0);
    assert_int_equal(facts->opened, facts->closed);
    return sum;
}

static void one_finder(void **state) {
    const struct srcfind_options options = options_for(0);
    (void)state;
    set_up(NULL, NULL);
    const struct ends e = search_with(&options, 1, false);
    assert_int_equal(e.on_gpu, EACH);
    assert_int_equal(facts->opened, 1);
    assert_int_equal(facts->feeders, FINDERS);
}

/* More finders than there are contexts: who asked for the device waits for it. */
static void waiting_for_a_device(void **state) {
    const struct srcfind_options options = options_for(0);
    (void)state;
    set_up("FAKE_CUDA_SEARCH", "10");
    const struct ends e = search_with(&options, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_true(facts->opened > 1 && facts->opened <= 8);
    assert_true(facts->most_at_once > 1 && facts->most_at_once <= 8);
    assert_int_equal(facts->feeders, 1);
}

/* All contexts together use what one would. */
static void shared_memory(void **state) {
    struct srcfind_options options = options_for(0);
    (void)state;
    for (int i = 0; i < 2; i++) {
        options.device_memory = i == 0 ? 0 : 1 << 20;
        set_up("FAKE_CUDA_SEARCH", "10");
        search_with(&options, 3, false);
        const int64_t all = i == 0 ? FAKE_FREE_MEMORY : 1 << 20;
        assert_true(facts->opened > 1 && facts->memory <= all);
        assert_true(facts->memory / facts->opened >= all / 3);
    }
}

/* Where the choice is srcfind's, who finds none free does not wait. */
static void both_at_once(void **state) {
    const struct srcfind_options options = options_for(SRCFIND_DEVICE_AUTO);
    (void)state;
    set_up("FAKE_CUDA_SEARCH", "50");
    const struct ends e = search_with(&options, FINDERS, true);
    assert_true(e.on_gpu >= 8 && e.on_cpu >= FINDERS - 8);
    assert_string_equal(e.reason, "the GPU is busy");
}

static void all_devices(void **state) {
    const struct srcfind_options options = options_for(SRCFIND_DEVICE_ALL);
    (void)state;
    set_up("FAKE_CUDA_SEARCH", "5");
    setenv("FAKE_CUDA_DEVICES", "3", 1);
    const struct ends e = search_with(&options, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_true(facts->opened >= 3 && facts->opened <= FINDERS);
    for (int i = 0; i < 3; i++)
        assert_true(facts->searches_of[i] > 0);
    assert_int_equal(facts->searches_of[3], 0);
    set_up("FAKE_CUDA_DEVICES", "3");
    const struct srcfind_options second = options_for(2);
    assert_int_equal(search_with(&second, 2, false).on_gpu, 2 * EACH);
    assert_int_equal(facts->searches_of[2], 2 * EACH);
}

/* No image is searched where a start would cost more, and nothing is started. */
static void too_little_for_a_start(void **state) {
    struct srcfind_options options = options_for(SRCFIND_DEVICE_AUTO);
    (void)state;
    set_up(NULL, NULL);
    const struct ends e = search_with(&options, 2, false);
    assert_int_equal(e.on_cpu, 2 * EACH);
    assert_int_equal(facts->opened, 0);
    assert_string_equal(e.reason, "too little to start a GPU for");
    options.expected_pixels = (int64_t)1 << 40;
    options.threads = 1;
    setenv("FAKE_CUDA_START", "100", 1);
    const struct ends begun = search_with(&options, 1, false);
    assert_int_equal(facts->opened, 1);
    assert_int_equal(begun.on_cpu + begun.on_gpu, EACH);
    assert_string_equal(begun.reason, "the GPU is still starting");
}

/* A context that is lost takes one image with it where the device was asked for, and none where the
 * CPU may help out. */
static void lost_devices(void **state) {
    const struct srcfind_options asked = options_for(0);
    struct srcfind_options any = options_for(SRCFIND_DEVICE_AUTO);
    struct srcfind *finder;
    (void)state;
    any.threads = 4; /* so few that a GPU is sooner */
    set_up("FAKE_CUDA_LOST", "2");
    struct ends e = search_with(&asked, 4, false);
    assert_int_equal(e.on_gpu, facts->opened);
    assert_int_equal(e.failed, 4 * EACH - facts->opened);
    set_up("FAKE_CUDA_LOST", "2");
    e = search_with(&any, 4, true);
    assert_int_equal(e.failed, 0);
    assert_non_null(strstr(e.reason, "CUDA device 0"));
    set_up("FAKE_CUDA_LOST", "1");
    assert_int_equal(srcfind_create(&asked, &finder), SRCFIND_OK);
    assert_true(srcfind_device_is_usable(finder));
    e = (struct ends){.finder = finder};
    search(&e);
    assert_non_null(strstr(srcfind_message(finder), "launch failure"));
    assert_false(srcfind_device_is_usable(finder));
    search(&e);
    assert_non_null(strstr(srcfind_message(finder), "lost in an earlier search"));
    assert_int_equal(e.failed, 2);
    srcfind_destroy(finder);
}

/* Contexts that cannot be opened are done without, unless it is all of them. */
static void refused_contexts(void **state) {
    const struct srcfind_options asked = options_for(0), any = options_for(SRCFIND_DEVICE_AUTO);
    (void)state;
    set_up("FAKE_CUDA_SEARCH", "1");
    setenv("FAKE_CUDA_REFUSED", "3", 1);
    struct ends e = search_with(&asked, FINDERS, false);
    assert_int_equal(e.on_gpu, FINDERS * EACH);
    assert_int_equal(facts->opened, 2);
    assert_true(facts->refused > 0 && facts->refused <= 6); /* none is tried again */
    set_up("FAKE_CUDA_REFUSED", "1");
    e = search_with(&asked, 3, false);
    assert_int_equal(e.failed, 3 * EACH);
    e = search_with(&any, 3, true);
    assert_int_equal(e.on_cpu, 3 * EACH);
    assert_string_equal(e.reason, "CUDA device 0: refused");
    set_up("FAKE_CUDA_DEVICES", "0");
    e = search_with(&any, 3, true);
    assert_int_equal(e.on_cpu, 3 * EACH);
    assert_string_equal(e.reason, "no CUDA-capable device is detected");
}

/* A device that is still being made ready when its finders go. */
static void unused_device(void **state) {
    const struct srcfind_options options = options_for(0);
    struct srcfind *finders[FINDERS];
    (void)state;
    set_up("FAKE_CUDA_START", "30");
    assert_int_equal(srcfind_create_many(&options, FINDERS, finders), SRCFIND_OK);
    for (int i = 0; i < FINDERS; i++)
        srcfind_destroy(finders[i]);
    assert_int_equal(facts->opened, 1);
    assert_int_equal(facts->closed, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_finder),
        cmocka_unit_test(waiting_for_a_device),
        cmocka_unit_test(both_at_once),
        cmocka_unit_test(all_devices),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(lost_devices),
        cmocka_unit_test(too_little_for_a_start),
        cmocka_unit_test(unused_device),
        cmocka_unit_test(refused_contexts),
    };
    struct srcfind_options options = options_for(SRCFIND_DEVICE_CPU);
    struct random r = {1};
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    void *module = dlopen(getenv("SRCFIND_CUDA_MODULE"), RTLD_NOW);
    facts = module ? dlsym(module, "fake_facts") : NULL;
    if (!facts) {
        printf("SRCFIND_CUDA_MODULE does not lead to the module for tests\n");
        return 1;
    }
    picture = picture_make(5, SIDE, SIDE, &r);
    srcfind_create(&options, &finder);
    srcfind_find_pixels(finder, picture.pixels, SIDE, SIDE, SIDE, &catalogue);
    expected = text_of(finder, catalogue);
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(expected);
    picture_free(&picture);
    return failed;
}
