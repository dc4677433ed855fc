/* The examples of README.md, built against the installed library: an image in a file, if one is
 * named; else pixels in memory. */
#include <srcfind.h>

enum { WIDTH = 64, HEIGHT = 48 };

/* Noise of a kind, and one source. */
static void draw(float *pixels) {
    unsigned seed = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        seed = seed * 1664525 + 1013904223;
        pixels[i] = (float)(seed >> 16) / 65536 - 0.5f;
    }
    pixels[20 * WIDTH + 30] = 10;
}

int main(int argc, char **argv) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    static float pixels[WIDTH * HEIGHT];
    enum srcfind_status status = srcfind_create(&options, &finder);
    draw(pixels);
    if (status == SRCFIND_OK && argc == 2)
        status = srcfind_find_file(finder, argv[1], &catalogue);
    else if (status == SRCFIND_OK)
        status = srcfind_find_pixels(finder, pixels, WIDTH, HEIGHT, WIDTH, &catalogue);
    if (status == SRCFIND_OK)
        printf("%lld sources\n", (long long)catalogue->n_sources);
    else
        fprintf(stderr, "%s\n", srcfind_message(finder));
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    return status != SRCFIND_OK;
}
