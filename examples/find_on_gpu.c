/* Finds the sources of pixels in the memory of a GPU, as an imager may leave them, without copying
 * them to the host. The search waits for the stream that writes the pixels. The exit status is 77
 * if no device can be used.
 *
 *     cc find_on_gpu.c $(pkg-config --cflags --libs srcfind) -lcudart -o find_on_gpu
 */
#include <cuda_runtime_api.h>
#include <srcfind.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480, SOURCE = 200 * WIDTH + 300 };

/* An image of uniform noise and one source; NULL where memory ran out. */
static float *draw(void) {
    unsigned seed = 1;
    float *pixels = malloc(WIDTH * HEIGHT * sizeof *pixels);
    for (int i = 0; pixels && i < WIDTH * HEIGHT; i++) {
        seed = seed * 1664525 + 1013904223;
        pixels[i] = i == SOURCE ? 10 : (float)(seed >> 16) / 65536 - 0.5f;
    }
    return pixels;
}

int main(void) {
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    float *on_host = draw(), *on_device = NULL;
    cudaStream_t stream;
    if (!on_host || cudaStreamCreate(&stream) ||
        cudaMalloc((void **)&on_device, WIDTH * HEIGHT * sizeof *on_device)) {
        printf("a CUDA device cannot be used: %s\n", cudaGetErrorString(cudaGetLastError()));
        free(on_host);
        return 77;
    }
    cudaMemcpyAsync(on_device, on_host, WIDTH * HEIGHT * sizeof *on_device, cudaMemcpyHostToDevice,
                    stream);
    const struct srcfind_pixels pixels = {
        .size = sizeof pixels, .values = on_device, .width = WIDTH, .height = HEIGHT};
    enum srcfind_status status = srcfind_create(NULL, &finder); /* with the default options */
    if (status == SRCFIND_OK)
        status = srcfind_find_device_pixels(finder, &pixels, stream, &catalogue);
    if (status != SRCFIND_OK)
        fprintf(stderr, "%s\n", srcfind_message(finder));
    for (int64_t i = 0; catalogue && i < srcfind_catalogue_size(catalogue); i++)
        printf("a source at %g, %g\n", srcfind_catalogue_source(catalogue, i)->x,
               srcfind_catalogue_source(catalogue, i)->y);
    const bool right = catalogue && srcfind_catalogue_size(catalogue) == 1;
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    cudaFree(on_device);
    cudaStreamDestroy(stream);
    free(on_host);
    return !right;
}
