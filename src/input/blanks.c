#include "input/blanks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/chunks.h"

struct blanks *blanks_create(int64_t n_pixels) {
    struct blanks *b = calloc(1, sizeof *b);
    if (b && !(b->bits = calloc((size_t)(n_pixels / 64 + 1), sizeof *b->bits))) {
        free(b);
        return NULL;
    }
    return b;
}

void blanks_destroy(struct blanks *b) {
    if (b)
        free(b->bits);
    free(b);
}

/* Adds bits to a word. Other threads may read the pixels of the same word. */
static void add_bits(struct blanks *b, int64_t word, uint64_t bits) {
    if (bits == 0)
        return;
    const uint64_t before = atomic_fetch_or_explicit(&b->bits[word], bits, memory_order_relaxed);
    const int n = __builtin_popcountll(bits & ~before);
    if (n > 0)
        atomic_fetch_add_explicit(&b->n_added, n, memory_order_relaxed);
}

void blanks_add(struct blanks *b, int64_t first, int64_t n) {
    for (int64_t i = first, end = first + n; i < end;) {
        const int64_t bit = i % 64, count = 64 - bit < end - i ? 64 - bit : end - i;
        add_bits(b, i / 64, (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << bit);
        i += count;
    }
}

void blanks_add_bits(struct blanks *b, int64_t first, int64_t n, uint64_t bits) {
    const int64_t bit = first % 64;
    const uint64_t given = n < 64 ? bits & ((UINT64_C(1) << n) - 1) : bits;
    add_bits(b, first / 64, given << bit);
    if (bit > 0 && bit + n > 64)
        add_bits(b, first / 64 + 1, given >> (64 - bit));
}

uint64_t blanks_bits(const struct blanks *b, int64_t first, int64_t n) {
    const int64_t word = first / 64, bit = first % 64;
    uint64_t bits = atomic_load_explicit(&b->bits[word], memory_order_relaxed) >> bit;
    if (bit + n > 64)
        bits |= atomic_load_explicit(&b->bits[word + 1], memory_order_relaxed) << (64 - bit);
    return n < 64 ? bits & ((UINT64_C(1) << n) - 1) : bits;
}

bool blanks_has_any(const struct blanks *b, int64_t first, int64_t n) {
    uint64_t any = 0;
    for (int64_t i = first, end = first + n; i < end && !any;) {
        const int64_t bit = i % 64, count = 64 - bit < end - i ? 64 - bit : end - i;
        const uint64_t bits = atomic_load_explicit(&b->bits[i / 64], memory_order_relaxed) >> bit;
        any = count == 64 ? bits : bits & ((UINT64_C(1) << count) - 1);
        i += count;
    }
    return any != 0;
}

/* --- other images --- */

bool blanks_not_finite(float value) {
    return !isfinite(value);
}

/* A source that is read for its blank pixels. */
struct blank_test {
    struct blanks *blanks;
    bool (*is_blank)(float value);
    bool swapped;
};

static enum srcfind_status read_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    const struct blank_test *test = context;
    (void)worker;
    (void)error;
    for (int64_t i = 0; i < chunk->count;) {
        const int64_t first = (chunk->first + i) % 64;
        uint64_t bits = 0;
        for (int64_t k = first; k < 64 && i < chunk->count; k++, i++)
            bits |= (uint64_t)test->is_blank(pixel_value(chunk->pixels, i, test->swapped)) << k;
        add_bits(test->blanks, (chunk->first + i - 1) / 64, bits);
    }
    return SRCFIND_OK;
}

enum srcfind_status blanks_read(struct blanks *blanks, const struct pixel_source *source,
                                bool (*is_blank)(float value), struct threads *threads,
                                struct error *error) {
    struct blank_test test = {blanks, is_blank, source->swapped};
    const struct chunk_work work = {.work = read_chunk, .context = &test};
    return chunks_run(source, threads, threads_count(threads), &work, error);
}

/* --- an image with blanks --- */

/* Adds those of n pixels that are not finite: all bits of their exponent are set. All of these
 * pixels are in one word of the bits. */
static void add_own(struct blanks *b, int64_t first, int64_t n, const uint32_t *pixels,
                    uint32_t exponent) {
    uint64_t bits = 0;
    for (int64_t i = 0; i < n; i++)
        bits |= (uint64_t)((pixels[i] & exponent) == exponent) << (first % 64 + i);
    add_bits(b, first / 64, bits);
}

static const uint32_t *read_blanked(void *state, int64_t first, int64_t count, uint32_t *buffer,
                                    struct error *error) {
    const struct blanked *s = state;
    const struct pixel_source *stored = &s->stored;
    const uint32_t blank = pixel_bits(NAN, stored->swapped);
    const uint32_t exponent = pixel_bits(INFINITY, stored->swapped);
    const uint32_t *pixels = stored->read(stored->state, first, count, buffer, error);
    if (!pixels)
        return NULL;
    if (pixels != buffer)
        memcpy(buffer, pixels, (size_t)count * sizeof *buffer);
    for (int64_t i = 0, n; i < count; i += n) {
        const int64_t word = (first + i) / 64, bit = (first + i) % 64;
        n = 64 - bit < count - i ? 64 - bit : count - i;
        if (!s->blanks->is_complete)
            add_own(s->blanks, first + i, n, buffer + i, exponent);
        const uint64_t bits =
            atomic_load_explicit(&s->blanks->bits[word], memory_order_relaxed) >> bit;
        for (int64_t k = 0; bits != 0 && k < n; k++)
            buffer[i + k] = bits >> k & 1 ? blank : buffer[i + k];
    }
    return buffer;
}

struct pixel_source blanked_source(struct blanked *blanked, const struct pixel_source *stored,
                                   struct blanks *blanks) {
    *blanked = (struct blanked){*stored, blanks};
    struct pixel_source made = *stored;
    made.state = blanked;
    made.read = read_blanked;
    return made;
}
