/* Any bytes as a tile of any packing: pixels, or damaged; and never a byte beyond the unpacked that
 * the decoder was promised. The first bytes choose packing and shape. */
#include <stdlib.h>
#include <string.h>

#include "input/fits/tile_codec.h"
#include "target.h"

enum { SETTINGS = 6 };

static struct tile_codec codec_of(const uint8_t *settings) {
    static const int bitpix[] = {8, 16, 32, 64, -32, -64}, bytes[] = {1, 2, 4};
    static struct error error;
    struct tile_codec codec = {.packing = (enum tile_packing)(settings[0] % (TILE_PLIO + 1)),
                               .bitpix = bitpix[settings[1] % 6],
                               .rice_block = 1 + settings[2] % 64,
                               .rice_bytes = bytes[settings[3] % 3],
                               .smooth = settings[3] & 128};
    if (!tile_codec_takes_reals(&codec) && !(codec.cfitsio = cfitsio_load(&error)))
        abort();
    return codec;
}

/* Looks at all pixels, so that a sanitizer sees those that were not written. */
static void read_pixels(const struct tile_pixels *p, int64_t n) {
    static volatile int64_t sum;
    for (int64_t i = 0; i < n; i++) {
        if (p->integers)
            sum += p->integers[i] & 1;
        for (int byte = 0; !p->integers && byte < abs(p->bitpix) / 8; byte++)
            sum += p->stored[i * p->pixel_step + byte * p->byte_step];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < SETTINGS)
        return 0;
    const struct tile_codec codec = codec_of(data);
    const int64_t width = 1 + data[4] % 80, n_pixels = width * (1 + data[5] % 80);
    const int64_t count = (int64_t)size - SETTINGS;
    unsigned char *packed = malloc((size_t)(count + tile_codec_padding_bytes(&codec, n_pixels)));
    void *unpacked = malloc((size_t)tile_codec_unpacked_bytes(&codec, n_pixels));
    struct tile_pixels pixels;
    memcpy(packed, data + SETTINGS, (size_t)count);
    if (tile_codec_unpack(&codec, codec.bitpix < 0, packed, count, width, n_pixels, unpacked,
                          &pixels))
        read_pixels(&pixels, n_pixels);
    free(packed);
    free(unpacked);
    return 0;
}
