/* srcfind.h with a device: pixels in its memory give the catalogue that the same pixels in the
 * host's give; what cannot be is an error. Skipped (exit status 77) where there is no device. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

#include <cuda_runtime_api.h>

#include "srcfind.h"
#include "unit.h"

enum { WIDTH = 700, HEIGHT = 500 };

static char *text_of(struct srcfind *finder, const struct srcfind_catalogue *catalogue) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(srcfind_catalogue_write(finder, catalogue, SRCFIND_JSON, stream), SRCFIND_OK);
    fclose(stream);
    return text;
}

static char *find_on_host(const struct picture *p, int device) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    options.device = device;
    assert_int_equal(srcfind_create(&options, &finder), SRCFIND_OK);
    assert_int_equal(
        srcfind_find_pixels(finder, p->pixels, p->width, p->height, p->width, &catalogue),
        SRCFIND_OK);
    assert_string_equal(catalogue->backend, device == SRCFIND_DEVICE_CPU ? "cpu" : "cuda");
    assert_int_equal(*catalogue->device != '\0', device != SRCFIND_DEVICE_CPU);
    char *text = text_of(finder, catalogue);
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    return text;
}

/* Copies a picture to the device in a stream, with rows `stride` apart, and searches it in the
 * order of that stream: the copy is not waited for here. What is between the rows must not be
 * seen. */
static char *find_on_device(const struct picture *p, int64_t stride, bool with_stream) {
    const struct srcfind_options options = srcfind_default_options();
    const size_t pitch = (size_t)stride * sizeof(float), row = (size_t)p->width * sizeof(float);
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    cudaStream_t stream = NULL;
    float *pixels, *pinned;
    assert_int_equal(srcfind_create(&options, &finder), SRCFIND_OK);
    assert_int_equal(cudaMalloc((void **)&pixels, pitch * (size_t)p->height), cudaSuccess);
    assert_int_equal(cudaMallocHost((void **)&pinned, row * (size_t)p->height), cudaSuccess);
    if (with_stream)
        assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
    memcpy(pinned, p->pixels, row * (size_t)p->height);
    cudaMemsetAsync(pixels, 0x7f, pitch * (size_t)p->height, stream);
    for (int i = 0; i < 50; i++) /* to be late with the pixels */
        cudaMemsetAsync(pixels, 0x7f, pitch * (size_t)p->height, stream);
    cudaMemcpy2DAsync(pixels, pitch, pinned, row, row, (size_t)p->height, cudaMemcpyHostToDevice,
                      stream);
    assert_int_equal(
        srcfind_find_device_pixels(finder, pixels, p->width, p->height, stride, stream, &catalogue),
        SRCFIND_OK);
    char *text = text_of(finder, catalogue);
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    cudaFree(pixels);
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
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct picture p = picture_make(kinds[i], WIDTH, HEIGHT, &r);
        char *expected = find_on_host(&p, SRCFIND_DEVICE_CPU);
        assert_same_text(find_on_host(&p, 0), expected);
        assert_same_text(find_on_device(&p, WIDTH, false), expected);
        assert_same_text(find_on_device(&p, WIDTH, true), expected);
        assert_same_text(find_on_device(&p, WIDTH + 1, true), expected);
        assert_same_text(find_on_device(&p, WIDTH + 333, false), expected);
        assert_same_text(find_on_device(&p, 3 * WIDTH, true), expected);
        free(expected);
        picture_free(&p);
    }
}

static void narrow_device_pixels(void **state) {
    struct random r = {2};
    (void)state;
    for (int width = 1; width < 9; width++) {
        struct picture p = picture_make(5, width, 3000 / width, &r);
        char *expected = find_on_host(&p, SRCFIND_DEVICE_CPU);
        assert_same_text(find_on_device(&p, width, true), expected);
        assert_same_text(find_on_device(&p, width + 2, true), expected);
        free(expected);
        picture_free(&p);
    }
}

/* The same place with other pixels, again and again, by one finder: what it has recorded is of the
 * place, not of the pixels. And the caller's device stays its own. */
static void same_place(void **state) {
    const struct srcfind_options options = srcfind_default_options();
    const size_t size = WIDTH * HEIGHT * sizeof(float);
    struct random r = {4};
    struct srcfind *finder;
    float *pixels;
    int device = -1;
    (void)state;
    srcfind_create(&options, &finder);
    assert_int_equal(cudaMalloc((void **)&pixels, size), cudaSuccess);
    for (int i = 0; i < 6; i++) {
        struct picture p = picture_make(5 + i % 3, WIDTH, HEIGHT, &r);
        struct srcfind_catalogue *catalogue;
        char *expected = find_on_host(&p, SRCFIND_DEVICE_CPU);
        cudaMemcpy(pixels, p.pixels, size, cudaMemcpyHostToDevice);
        assert_int_equal(
            srcfind_find_device_pixels(finder, pixels, WIDTH, HEIGHT, WIDTH, NULL, &catalogue),
            SRCFIND_OK);
        assert_same_text(text_of(finder, catalogue), expected);
        srcfind_catalogue_destroy(catalogue);
        free(expected);
        picture_free(&p);
    }
    assert_true(cudaGetDevice(&device) == cudaSuccess && device == 0);
    assert_true(srcfind_device_is_usable(finder));
    srcfind_destroy(finder);
    cudaFree(pixels);
}

static int find_often(void *picture) {
    char *expected = find_on_host(picture, SRCFIND_DEVICE_CPU);
    for (int i = 0; i < 8; i++) {
        assert_same_text(find_on_host(picture, 0), expected);
        assert_same_text(find_on_device(picture, WIDTH + i, true), expected);
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
    for (int i = 0; i < 20; i++) {
        struct srcfind_catalogue *catalogue = NULL;
        char *text = NULL;
        if (srcfind_find_pixels(s->finder, s->picture->pixels, WIDTH, HEIGHT, WIDTH, &catalogue) ==
            SRCFIND_OK)
            text = text_of(s->finder, catalogue);
        s->wrong += !text || strcmp(text, s->expected) != 0;
        s->on_gpu += catalogue && strcmp(catalogue->backend, "cuda") == 0;
        free(text);
        srcfind_catalogue_destroy(catalogue);
    }
    return 0;
}

/* Finders that were made together: more of them than contexts, on one device, on all of them, and
 * with the CPU's help. */
static void finders_made_together(void **state) {
    static const int devices[] = {0, SRCFIND_DEVICE_ALL, SRCFIND_DEVICE_AUTO};
    struct srcfind_options options = srcfind_default_options();
    struct random r = {6};
    struct picture p = picture_make(6, WIDTH, HEIGHT, &r);
    char *expected = find_on_host(&p, SRCFIND_DEVICE_CPU);
    (void)state;
    options.threads = MANY;
    for (int i = 0; i < 3; i++) {
        struct srcfind *finders[MANY];
        struct share shares[MANY];
        thrd_t threads[MANY];
        int on_gpu = 0;
        options.device = devices[i];
        assert_int_equal(srcfind_create_many(&options, MANY, finders), SRCFIND_OK);
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
        assert_true(options.device == SRCFIND_DEVICE_AUTO ? on_gpu > 0 : on_gpu == 20 * MANY);
    }
    free(expected);
    picture_free(&p);
}

static void wrong_pixels(void **state) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    float on_host[4] = {1, 2, 3, 4};
    (void)state;
    srcfind_create(&options, &finder);
    assert_int_equal(srcfind_find_device_pixels(finder, on_host, 2, 2, 2, NULL, &catalogue),
                     SRCFIND_ERROR_OPTIONS);
    assert_non_null(strstr(srcfind_message(finder), "memory of CUDA device"));
    assert_int_equal(srcfind_find_device_pixels(finder, on_host, 2, 2, 1, NULL, &catalogue),
                     SRCFIND_ERROR_OPTIONS);
    assert_true(srcfind_device_is_usable(finder)); /* it was not the device's fault */
    srcfind_destroy(finder);
    options.device = SRCFIND_DEVICE_CPU;
    srcfind_create(&options, &finder);
    assert_int_equal(srcfind_find_device_pixels(finder, on_host, 2, 2, 2, NULL, &catalogue),
                     SRCFIND_ERROR_DEVICE);
    assert_null(catalogue);
    srcfind_destroy(finder);
}

static void missing_device(void **state) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue;
    const float pixel = 1;
    (void)state;
    options.device = 1000;
    assert_int_equal(srcfind_create(&options, &finder), SRCFIND_OK);
    assert_int_equal(srcfind_find_pixels(finder, &pixel, 1, 1, 1, &catalogue),
                     SRCFIND_ERROR_DEVICE);
    assert_non_null(strstr(srcfind_message(finder), "no CUDA device 1000"));
    srcfind_destroy(finder);
}

/* Where the user leaves the choice, a device without enough memory, or one that is lost, leads to
 * the CPU, and the catalogue says why. */
static void falls_back(void **state) {
    struct srcfind_options options = srcfind_default_options();
    struct random r = {3};
    struct picture p = picture_make(5, WIDTH, HEIGHT, &r);
    char *expected = find_on_host(&p, SRCFIND_DEVICE_CPU);
    (void)state;
    options.threads = 1; /* so few that the GPU would be sooner */
    for (int i = 0; i < 2; i++) {
        struct srcfind *finder;
        struct srcfind_catalogue *catalogue;
        options.device_memory = i == 0 ? 1 << 20 : 0;
        if (i == 1)
            setenv("SRCFIND_FAILING_CUDA_CALL", "7", 1);
        assert_int_equal(srcfind_create(&options, &finder), SRCFIND_OK);
        assert_true(srcfind_device_is_usable(finder)); /* and so started */
        for (int search = 0; search < 2; search++) {
            assert_int_equal(
                srcfind_find_pixels(finder, p.pixels, WIDTH, HEIGHT, WIDTH, &catalogue),
                SRCFIND_OK);
            assert_string_equal(catalogue->backend, "cpu");
            assert_non_null(strstr(catalogue->reason, "CUDA device 0"));
            assert_same_text(text_of(finder, catalogue), expected);
            srcfind_catalogue_destroy(catalogue);
        }
        srcfind_destroy(finder);
        unsetenv("SRCFIND_FAILING_CUDA_CALL");
    }
    free(expected);
    picture_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_pixels), cmocka_unit_test(narrow_device_pixels),
        cmocka_unit_test(same_place),    cmocka_unit_test(finders_in_threads),
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
