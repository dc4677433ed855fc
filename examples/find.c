/* Finds the sources of an image in a file or, without an argument, of pixels in memory.
 *
 *     cc find.c $(pkg-config --cflags --libs srcfind) -o find
 *     ./find image.fits
 */
#include <srcfind.h>

enum { WIDTH = 64, HEIGHT = 48 };

/* FITS cards of 80 characters each: the coordinate system, the unit and the beam. */
static const char header[] =
    "CTYPE1  = 'RA---SIN'                                                            "
    "CTYPE2  = 'DEC--SIN'                                                            "
    "CRPIX1  =                 32.0                                                  "
    "CRPIX2  =                 24.0                                                  "
    "CRVAL1  =                150.0                                                  "
    "CRVAL2  =                  2.0                                                  "
    "CDELT1  =              -0.0005                                                  "
    "CDELT2  =               0.0005                                                  "
    "BUNIT   = 'Jy/beam '                                                            "
    "BMAJ    =                0.002                                                  "
    "BMIN    =               0.0015                                                  "
    "BPA     =                 30.0                                                  ";

/* Fills the image with uniform noise and one source. */
static void draw(float *pixels) {
    unsigned seed = 1;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        seed = seed * 1664525 + 1013904223;
        pixels[i] = (float)(seed >> 16) / 65536 - 0.5f;
    }
    pixels[20 * WIDTH + 30] = 10;
}

static enum srcfind_status find(struct srcfind *finder, const char *path,
                                struct srcfind_catalogue **catalogue) {
    static float values[WIDTH * HEIGHT];
    const struct srcfind_pixels pixels = {.size = sizeof pixels,
                                          .values = values,
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .header = header};
    if (path)
        return srcfind_find_file(finder, path, catalogue);
    draw(values);
    return srcfind_find_pixels(finder, &pixels, catalogue);
}

int main(int argc, char **argv) {
    struct srcfind_options *options = srcfind_options_create();
    struct srcfind *finder = NULL;
    struct srcfind_catalogue *catalogue = NULL;
    enum srcfind_status status = srcfind_options_set(options, "threshold", "6");
    if (status != SRCFIND_OK)
        fprintf(stderr, "%s\n", srcfind_options_message(options));
    else if ((status = srcfind_create(options, &finder)) != SRCFIND_OK ||
             (status = find(finder, argc == 2 ? argv[1] : NULL, &catalogue)) != SRCFIND_OK)
        fprintf(stderr, "%s\n", srcfind_message(finder));
    else
        printf("%lld sources\n", (long long)srcfind_catalogue_size(catalogue));
    for (int64_t i = 0; catalogue && i < srcfind_catalogue_size(catalogue); i++) {
        const struct srcfind_source *source = srcfind_catalogue_source(catalogue, i);
        printf("%s %.6f %.6f %g\n", source->name, source->lon, source->lat, source->total_flux);
    }
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
    return status != SRCFIND_OK;
}
