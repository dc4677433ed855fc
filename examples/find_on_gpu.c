/* Pixels that are on a GPU already, as those of an imager: searched where they are, when the work
 * of a stream that makes them is done. Exit status 77 where no device can be used. Linked with
 * libsrcfind and libcudart. */
#include <cuda_runtime_api.h>
#include <srcfind.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480, SOURCE = 200 * WIDTH + 300 };

/* Noise of a kind, and one source. */
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
    struct srcfind_options options = srcfind_default_options();
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
    enum srcfind_status status = srcfind_create(&options, &finder);
    if (status == SRCFIND_OK)
        status =
            srcfind_find_device_pixels(finder, on_device, WIDTH, HEIGHT, WIDTH, stream, &catalogue);
    if (status != SRCFIND_OK)
        fprintf(stderr, "%s\n", srcfind_message(finder));
    for (int64_t i = 0; catalogue && i < catalogue->n_sources; i++)
        printf("a source at %g, %g\n", catalogue->sources[i].x, catalogue->sources[i].y);
    const bool right = catalogue && catalogue->n_sources == 1;
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    cudaFree(on_device);
    cudaStreamDestroy(stream);
    free(on_host);
    return !right;
}
