/* srcfind.h with a device: pixels in the device's memory give the same catalogue as pixels on the
 * host; impossible requests are errors. Skipped (exit status 77) if there is no device. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#include <cuda_runtime_api.h>

#include "options.h"
#include "srcfind.h"
#include "unit.h"

enum { WIDTH = 700, HEIGHT = 500 };

/* The sources, and what the clip found. (JSON also has figures that pixels on a device lack.) */
static char *text_of(struct srcfind *finder, const struct srcfind_catalogue *catalogue) {
    const struct srcfind_background *b = srcfind_catalogue_background(catalogue);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, "csv", stream), SRCFIND_OK);
    fprintf(stream, "%a %a %a %a %a %lld %lld %d\n", b->median, b->rms, b->mean, b->min, b->max,
            (long long)b->n_kept, (long long)b->n_blank, b->rounds);
    fclose(stream);
    return text;
}

/* The catalogue of one search as text. Checks which backend made it. */
static char *search(struct srcfind *finder, const struct srcfind_pixels *pixels,
                    const char *backend) {
    struct srcfind_catalogue *catalogue;
    assert_int_equal(srcfind_find_pixels(finder, pixels, &catalogue), SRCFIND_OK);
    const struct srcfind_run *run = srcfind_catalogue_run(catalogue);
    assert_string_equal(run->backend, backend);
    assert_int_equal(*run->device != '\0', strcmp(backend, "cuda") == 0);
    char *text = text_of(finder, catalogue);
    srcfind_catalogue_destroy(catalogue);
    return text;
}

static char *search_device(struct srcfind *finder, const struct srcfind_pixels *pixels,
                           cudaStream_t stream) {
    struct srcfind_catalogue *catalogue;
    assert_int_equal(srcfind_find_device_pixels(finder, pixels, stream, &catalogue), SRCFIND_OK);
    char *text = text_of(finder, catalogue);
    srcfind_catalogue_destroy(catalogue);
    return text;
}

/* An option and its value. */
struct option {
    const char *name, *value;
};

static const struct option none = {"kappa", "3"};

static char *find_on_host(const struct picture *p, const char *device, struct option option) {
    struct srcfind_options *options =
        options_with("device", device, option.name, option.value, NULL);
    const struct srcfind_pixels pixels = pixels_of(p);
    struct srcfind *finder;
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    char *text = search(finder, &pixels, strcmp(device, "cpu") == 0 ? "cpu" : "cuda");
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
    return text;
}

/* Copies a picture to the device in a stream, with rows `stride` apart, and searches it in that
 * stream without waiting for the copy. The pixels between the rows are garbage, which the search
 * must not read. */
static char *find_on_device(const struct picture *p, int64_t stride, bool with_stream,
                            struct option option) {
    const size_t pitch = (size_t)stride * sizeof(float), row = (size_t)p->width * sizeof(float);
    struct srcfind_pixels pixels = pixels_of(p);
    struct srcfind *finder;
    cudaStream_t stream = NULL;
    float *values, *pinned;
    struct srcfind_options *options =
        options_with("device", "auto", option.name, option.value, NULL);
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    srcfind_options_destroy(options);
    assert_int_equal(cudaMalloc((void **)&values, pitch * (size_t)p->height), cudaSuccess);
    assert_int_equal(cudaMallocHost((void **)&pinned, row * (size_t)p->height), cudaSuccess);
    if (with_stream)
        assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    memcpy(pinned, p->pixels, row * (size_t)p->height);
    cudaMemsetAsync(values, 0x7f, pitch * (size_t)p->height, stream);
    for (int i = 0; i < 50; i++) /* delays the pixels */
        cudaMemsetAsync(values, 0x7f, pitch * (size_t)p->height, stream);
    cudaMemcpy2DAsync(values, pitch, pinned, row, row, (size_t)p->height, cudaMemcpyHostToDevice,
                      stream);
    pixels.values = values;
    pixels.row_stride = stride;
    char *text = search_device(finder, &pixels, stream);
    srcfind_destroy(finder);
    cudaFree(values);
    cudaFreeHost(pinned);
    if (with_stream)
        cudaStreamDestroy(stream);
    return text;
}

static void assert_same_text(char *text, const char *expected) {
    assert_string_equal(text, expected);
    free(text);
}

static void device_pixels(void **state) {
    static const int kinds[] = {0, 5, 6, 7, 11};
    static const struct option options[] = {{"kappa", "3"},      {"rms-box", "48"},  {"blank", "0"},
                                            {"negative", "yes"}, {"shapes", "free"}, {"fit", "yes"},
                                            {"contrast", "0.3"}};
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 35; i++) {
        const struct option option = options[i / 5];
        struct picture p = picture_make(kinds[i % 5], WIDTH, HEIGHT, &r);
        for (int k = 0; k < 3 * WIDTH; k++)
            p.pixels[k] = k % 2 ? 0.25f : -0.0f;
        char *expected = find_on_host(&p, "cpu", option);
        assert_same_text(find_on_host(&p, "0", option), expected);
        assert_same_text(find_on_device(&p, WIDTH, false, option), expected);
        assert_same_text(find_on_device(&p, WIDTH, true, option), expected);
        assert_same_text(find_on_device(&p, WIDTH + 1, true, option), expected);
        assert_same_text(find_on_device(&p, WIDTH + 333, false, option), expected);
        assert_same_text(find_on_device(&p, 3 * WIDTH, true, option), expected);
        free(expected);
        picture_free(&p);
    }
}

static void narrow_device_pixels(void **state) {
    struct random r = {2};
    (void)state;
    for (int width = 1; width < 9; width++) {
        struct picture p = picture_make(5, width, 3000 / width, &r);
        char *expected = find_on_host(&p, "cpu", none);
        assert_same_text(find_on_device(&p, width, true, none), expected);
        assert_same_text(find_on_device(&p, width + 2, true, none), expected);
        free(expected);
        picture_free(&p);
    }
}

/* One finder searches the same address with other pixels again and again: its recorded graph must
 * not depend on the pixels. The caller's current device must not change. */
static void same_address(void **state) {
    const size_t size = WIDTH * HEIGHT * sizeof(float);
    struct random r = {4};
    struct srcfind *finder;
    float *values;
    int device = -1;
    (void)state;
    srcfind_create(NULL, &finder);
    assert_int_equal(cudaMalloc((void **)&values, size), cudaSuccess);
    for (int i = 0; i < 6; i++) {
        struct picture p = picture_make(5 + i % 3, WIDTH, HEIGHT, &r);
        struct srcfind_pixels pixels = pixels_of(&p);
        char *expected = find_on_host(&p, "cpu", none);
        cudaMemcpy(values, p.pixels, size, cudaMemcpyHostToDevice);
        pixels.values = values;
        assert_same_text(search_device(finder, &pixels, NULL), expected);
        free(expected);
        picture_free(&p);
    }
    assert_true(cudaGetDevice(&device) == cudaSuccess && device == 0);
    assert_true(srcfind_device_is_usable(finder));
    srcfind_destroy(finder);
    cudaFree(values);
}

static int find_often(void *picture) {
    char *expected = find_on_host(picture, "cpu", none);
    for (int i = 0; i < 8; i++) {
        assert_same_text(find_on_host(picture, "0", none), expected);
        assert_same_text(find_on_device(picture, WIDTH + i, true, none), expected);
    }
    free(expected);
    return 0;
}

static void finders_in_threads(void **state) {
    struct random r = {5};
    struct picture p = picture_make(6, WIDTH, HEIGHT, &r);
    thrd_t threads[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(thrd_create(&threads[i], find_often, &p), thrd_success);
    for (int i = 0; i < 3; i++)
        thrd_join(threads[i], NULL);
    picture_free(&p);
}

enum { MANY = 12 };

struct share {
    struct srcfind *finder;
    const struct picture *picture;
    const char *expected;
    int on_gpu, wrong;
};

static int search_share(void *argument) {
    struct share *s = argument;
    const struct srcfind_pixels pixels = pixels_of(s->picture);
    for (int i = 0; i < 20; i++) {
        struct srcfind_catalogue *catalogue = NULL;
        char *text = NULL;
        if (srcfind_find_pixels(s->finder, &pixels, &catalogue) == SRCFIND_OK)
            text = text_of(s->finder, catalogue);
        s->wrong += !text || strcmp(text, s->expected) != 0;
        s->on_gpu += catalogue && strcmp(srcfind_catalogue_run(catalogue)->backend, "cuda") == 0;
        free(text);
        srcfind_catalogue_destroy(catalogue);
    }
    return 0;
}

/* Finders made together: more finders than contexts, on one device, on all devices, and with some
 * searches on the CPU. */
static void finders_made_together(void **state) {
    static const char *const devices[] = {"0", "all", "auto"};
    struct srcfind_options *options = options_with("threads", "12", NULL);
    struct random r = {6};
    struct picture p = picture_make(6, WIDTH, HEIGHT, &r);
    char *expected = find_on_host(&p, "cpu", none);
    (void)state;
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1); /* with test hooks */
    for (int i = 0; i < 3; i++) {
        struct srcfind *finders[MANY];
        struct share shares[MANY];
        thrd_t threads[MANY];
        int on_gpu = 0;
        srcfind_options_set(options, "device", devices[i]);
        assert_int_equal(srcfind_create_many(options, MANY, finders), SRCFIND_OK);
        assert_true(srcfind_device_is_usable(finders[MANY - 1]));
        for (int j = 0; j < MANY; j++) {
            shares[j] = (struct share){.finder = finders[j], .picture = &p, .expected = expected};
            assert_int_equal(thrd_create(&threads[j], search_share, &shares[j]), thrd_success);
        }
        for (int j = 0; j < MANY; j++) {
            thrd_join(threads[j], NULL);
            srcfind_destroy(finders[j]);
            assert_int_equal(shares[j].wrong, 0);
            on_gpu += shares[j].on_gpu;
        }
        if (strcmp(devices[i], "auto") != 0)
            assert_int_equal(on_gpu, 20 * MANY);
    }
    unsetenv("SRCFIND_PIXELS_BEFORE_GPU");
    srcfind_options_destroy(options);
    free(expected);
    picture_free(&p);
}

static void assert_refused(struct srcfind *finder, const float *values, int64_t row_stride,
                           enum srcfind_status status, const char *message) {
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = values, .width = 2, .height = 2, .row_stride = row_stride};
    struct srcfind_catalogue *catalogue;
    assert_int_equal(srcfind_find_device_pixels(finder, &pixels, NULL, &catalogue), status);
    assert_non_null(strstr(srcfind_message(finder), message));
    assert_null(catalogue);
}

static void wrong_pixels(void **state) {
    struct srcfind_options *options = options_with("device", "cpu", NULL);
    struct srcfind *finder;
    const float on_host[4] = {1, 2, 3, 4};
    (void)state;
    srcfind_create(NULL, &finder);
    assert_refused(finder, on_host, 2, SRCFIND_ERROR_OPTIONS, "memory of CUDA device");
    assert_refused(finder, on_host, 1, SRCFIND_ERROR_OPTIONS, "");
    assert_true(srcfind_device_is_usable(finder)); /* the device did not fail */
    srcfind_destroy(finder);
    srcfind_create(options, &finder);
    assert_refused(finder, on_host, 2, SRCFIND_ERROR_DEVICE, "");
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

static void missing_device(void **state) {
    struct srcfind_options *options = options_with("device", "1000", NULL);
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    const float value = 1;
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = &value, .width = 1, .height = 1};
    (void)state;
    assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_ERROR_DEVICE);
    assert_non_null(strstr(srcfind_message(finder), "no CUDA device 1000"));
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

/* With device=auto a search falls back to the CPU if the device has too little memory or is lost,
 * and the catalogue says why. */
static void falls_back(void **state) {
#ifdef TEST_HOOKS
    static const char *const memories[] = {"1", "100000"}; /* MiB */
    struct random r = {3};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    const struct srcfind_pixels pixels = pixels_of(&p);
    char *expected = find_on_host(&p, "cpu", none);
    (void)state;
    setenv("SRCFIND_PIXELS_BEFORE_GPU", "0", 1);
    for (int i = 0; i < 2; i++) {
        struct srcfind_options *options = options_with("device-memory", memories[i], NULL);
        struct srcfind *finder;
        struct srcfind_catalogue *catalogue;
        if (i == 1)
            setenv("SRCFIND_FAILING_CUDA_CALL", "7", 1);
        assert_int_equal(srcfind_create(options, &finder), SRCFIND_OK);
        assert_true(srcfind_device_is_usable(finder)); /* starts the device */
        for (int search = 0; search < 2; search++) {
            assert_int_equal(srcfind_find_pixels(finder, &pixels, &catalogue), SRCFIND_OK);
            assert_string_equal(srcfind_catalogue_run(catalogue)->backend, "cpu");
            assert_non_null(strstr(srcfind_catalogue_run(catalogue)->reason, "CUDA device 0"));
            assert_same_text(text_of(finder, catalogue), expected);
            srcfind_catalogue_destroy(catalogue);
        }
        srcfind_destroy(finder);
        srcfind_options_destroy(options);
        unsetenv("SRCFIND_FAILING_CUDA_CALL");
    }
    unsetenv("SRCFIND_PIXELS_BEFORE_GPU");
    free(expected);
    picture_free(&p);
#else
    (void)state;
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_pixels), cmocka_unit_test(narrow_device_pixels),
        cmocka_unit_test(same_address),  cmocka_unit_test(finders_in_threads),
        cmocka_unit_test(wrong_pixels),  cmocka_unit_test(missing_device),
        cmocka_unit_test(falls_back),    cmocka_unit_test(finders_made_together),
    };
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        printf("skipped: there is no CUDA device\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
