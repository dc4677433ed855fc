#include "api/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/hook.h"

/* 4096 x 4096 samples: those of scale 2 of a tile of 8192 x 8192 pixels, if the beam has 4.5
 * pixels or more. */
static int64_t most_held(void) {
    static const int64_t most = 64 << 20;
    const char *for_tests = hook("SRCFIND_SAMPLES_HELD");
    return for_tests ? strtoll(for_tests, NULL, 10) : most;
}

static const uint32_t *read_spool(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                  struct error *error) {
    const struct samples *s = state;
    const size_t size = sizeof *buffer;
    if (spool_read(&s->spool, buffer, (size_t)count * size, first * (int64_t)size))
        return buffer;
    error_set(error, SRCFIND_ERROR_INPUT, "reading the smoothed image from /tmp: %s",
              strerror(errno));
    return NULL;
}

enum srcfind_status samples_make(struct samples *s, int64_t width, int64_t height, int n_images,
                                 struct error *error) {
    *s = (struct samples){.width = width, .height = height, .spool = {.descriptor = -1}};
    const bool is_held = width * height * (int64_t)sizeof *s->pixels <= most_held() / n_images;
    s->memory = (struct memory){.width = width, .row_stride = width};
    s->source = memory_source(&s->memory, height, false);
    if (is_held) {
        s->memory.pixels = s->pixels = arrays_allocate(width * height, sizeof *s->pixels);
        return s->pixels ? SRCFIND_OK : error_memory(error, "smoothing the image");
    }
    s->source.state = s;
    s->source.read = read_spool;
    return spool_open(&s->spool, NULL)
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OUTPUT,
                           "making a temporary file in /tmp for the smoothed image: %s: "
                           "let srcfind write there",
                           strerror(errno));
}

enum srcfind_status samples_put(void *samples, int64_t y, int64_t n, const float *values,
                                struct error *error) {
    const struct samples *s = samples;
    const size_t size = (size_t)(n * s->width) * sizeof *values;
    if (s->pixels) {
        memcpy(s->pixels + y * s->width, values, size);
        return SRCFIND_OK;
    }
    return spool_write(&s->spool, values, size, y * s->width * (int64_t)sizeof *values)
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OUTPUT,
                           "writing the smoothed image to /tmp: %s: make room there",
                           strerror(errno));
}

enum srcfind_status samples_share_blanks(struct samples *a, struct samples *b,
                                         struct blanks **blanks, struct backend_calls *calls) {
    struct blanks *both = *blanks = blanks_create(a->width * a->height);
    if (!both)
        return error_memory(calls->error, "smoothing the image");
    enum srcfind_status status =
        blanks_read(both, &a->source, blanks_not_finite, calls->threads, calls->error);
    if (status == SRCFIND_OK)
        status = blanks_read(both, &b->source, blanks_not_finite, calls->threads, calls->error);
    both->is_complete = true;
    a->source = blanked_source(&a->blanked, &a->source, both);
    b->source = blanked_source(&b->blanked, &b->source, both);
    return status;
}

void samples_clear(struct samples *s) {
    free(s->pixels);
    s->pixels = NULL;
    spool_close(&s->spool);
}
