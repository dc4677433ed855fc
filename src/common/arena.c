#include "common/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { CHUNK = 1 << 16 }; /* bytes of a chunk, unless an array needs more */

struct arena_chunk {
    struct arena_chunk *before;
    alignas(max_align_t) char memory[];
};

/* Adds a chunk of at least `size` bytes. */
static char *add_chunk(struct arena *a, size_t size) {
    const size_t room = size > CHUNK ? size : CHUNK;
    struct arena_chunk *chunk =
        size <= SIZE_MAX - sizeof *chunk - CHUNK ? malloc(sizeof *chunk + room) : NULL;
    if (!chunk)
        return NULL;
    chunk->before = a->chunks;
    a->chunks = chunk;
    a->next = chunk->memory;
    a->end = chunk->memory + room;
    return a->next;
}

void *arena_take(struct arena *a, size_t n, size_t size) {
    const size_t align = alignof(max_align_t);
    if (n > (SIZE_MAX - align) / size)
        return NULL;
    const size_t bytes = (n * size + align - 1) / align * align;
    if (bytes > (size_t)(a->end - a->next) || !a->next) {
        if (!add_chunk(a, bytes))
            return NULL;
    }
    void *array = a->next;
    a->next += bytes;
    return array;
}

void arena_clear(struct arena *a) {
    for (struct arena_chunk *before; a->chunks; a->chunks = before) {
        before = a->chunks->before;
        free(a->chunks);
    }
    *a = (struct arena){0};
}
