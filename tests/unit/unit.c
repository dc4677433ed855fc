#include <stdlib.h>

#include "unit.h"

static const uint32_t *read_pixels(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct memory_source *m = state;
    (void)error;
    memcpy(buffer, m->pixels + first, (size_t)count * sizeof *buffer);
    return buffer;
}

struct memory_source *memory_source_make(const struct picture *picture, int64_t chunk, bool swapped,
                                         bool parallel) {
    const size_t n = (size_t)picture->width * (size_t)picture->height;
    struct memory_source *m = calloc(1, sizeof *m);
    m->pixels = malloc(n * sizeof *m->pixels);
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = exact_bits(picture->pixels[i]);
        m->pixels[i] = swapped ? __builtin_bswap32(bits) : bits;
    }
    m->source = (struct pixel_source){.width = picture->width,
                                      .height = picture->height,
                                      .chunk_pixels = chunk,
                                      .sample_rows = 32,
                                      .swapped = swapped,
                                      .parallel = parallel,
                                      .packed = !parallel,
                                      .state = m,
                                      .read = read_pixels};
    return m;
}

void memory_source_free(struct memory_source *memory) {
    free(memory->pixels);
    free(memory);
}

struct threads *unit_threads(int n) {
    static struct threads *teams[17];
    if (!teams[n])
        teams[n] = threads_create(n);
    return teams[n];
}
