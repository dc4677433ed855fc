#include "input/memory_source.h"

#include <string.h>

static const uint32_t *read_memory(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                   struct error *error) {
    const struct memory *m = state;
    (void)error;
    if (m->row_stride == m->width)
        return m->pixels + first;
    for (int64_t i = 0; i < count;) {
        const int64_t y = (first + i) / m->width, x = (first + i) % m->width;
        const int64_t n = m->width - x < count - i ? m->width - x : count - i;
        memcpy(buffer + i, m->pixels + y * m->row_stride + x, (size_t)n * sizeof *buffer);
        i += n;
    }
    return buffer;
}

struct pixel_source memory_source(struct memory *memory, int64_t height, bool swapped) {
    return (struct pixel_source){.width = memory->width,
                                 .height = height,
                                 .chunk_pixels = 1 << 16,
                                 .sample_rows = 256,
                                 .swapped = swapped,
                                 .parallel = true,
                                 .state = memory,
                                 .read = read_memory};
}
