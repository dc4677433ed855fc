#include "common/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

enum {
    CHUNK = 1 << 16, /* bytes of a chunk, unless an array needs more */
    CHUNKS_A_SLAB = 64
};

struct arena_chunk {
    struct arena_chunk *before;
    size_t room; /* bytes */
    alignas(max_align_t) char memory[];
};

static void free_chunks(struct arena_chunk *chunk) {
    for (struct arena_chunk *before; chunk; chunk = before) {
        before = chunk->before;
        free(chunk);
    }
}

bool arena_pool_make(struct arena_pool *pool) {
    *pool = (struct arena_pool){0};
    return mtx_init(&pool->lock, mtx_plain) == thrd_success;
}

void arena_pool_clear(struct arena_pool *pool) {
    free_chunks(pool->slabs);
    mtx_destroy(&pool->lock);
}

/* Cuts a chunk from the newest slab; NULL where memory ran out. */
static struct arena_chunk *cut_chunk(struct arena_pool *pool) {
    const size_t size = sizeof(struct arena_chunk) + CHUNK;
    if ((size_t)(pool->end - pool->next) < size) {
        struct arena_chunk *slab = arrays_allocate(1, sizeof *slab + CHUNKS_A_SLAB * size);
        if (!slab)
            return NULL;
        slab->before = pool->slabs;
        pool->slabs = slab;
        pool->next = slab->memory;
        pool->end = slab->memory + CHUNKS_A_SLAB * size;
    }
    char *chunk = pool->next;
    pool->next += size;
    return (struct arena_chunk *)(void *)chunk;
}

/* Takes a chunk of the usual size; NULL where memory ran out. */
static struct arena_chunk *take_chunk(struct arena_pool *pool) {
    mtx_lock(&pool->lock);
    struct arena_chunk *chunk = pool->chunks;
    if (chunk)
        pool->chunks = chunk->before;
    else
        chunk = cut_chunk(pool);
    mtx_unlock(&pool->lock);
    return chunk;
}

/* Gives the pool the chunks of the usual size; frees the others. */
static void give_chunks(struct arena_pool *pool, struct arena_chunk *chunk) {
    mtx_lock(&pool->lock);
    for (struct arena_chunk *before; chunk; chunk = before) {
        before = chunk->before;
        chunk->before = pool->chunks;
        if (chunk->room == CHUNK)
            pool->chunks = chunk;
        else
            free(chunk);
    }
    mtx_unlock(&pool->lock);
}

/* Adds a chunk of at least `size` bytes. */
static char *add_chunk(struct arena *a, size_t size) {
    const size_t room = size > CHUNK ? size : CHUNK;
    struct arena_chunk *chunk = NULL;
    if (a->pool && room == CHUNK)
        chunk = take_chunk(a->pool);
    else if (size <= SIZE_MAX - sizeof *chunk - CHUNK)
        chunk = malloc(sizeof *chunk + room);
    if (!chunk)
        return NULL;
    chunk->before = a->chunks;
    chunk->room = room;
    a->chunks = chunk;
    a->next = chunk->memory;
    a->end = chunk->memory + room;
    return a->next;
}

/* The bytes of an array, rounded up so that the next one is aligned; 0: they are too many. */
static size_t bytes_of(size_t n, size_t size) {
    const size_t align = alignof(max_align_t);
    return n > (SIZE_MAX - align) / size ? 0 : (n * size + align - 1) / align * align;
}

void *arena_take(struct arena *a, size_t n, size_t size) {
    const size_t bytes = bytes_of(n, size);
    if (n > 0 && bytes == 0)
        return NULL;
    if (bytes > (size_t)(a->end - a->next) || !a->next) {
        if (!add_chunk(a, bytes))
            return NULL;
    }
    void *array = a->next;
    a->next += bytes;
    return array;
}

void *arena_extend(struct arena *a, void *array, size_t n, size_t n_new, size_t size) {
    const size_t bytes = bytes_of(n, size), bytes_new = bytes_of(n_new, size);
    const bool is_newest = array && (char *)array + bytes == a->next;
    const bool is_possible = n_new == 0 || bytes_new > 0;
    if (is_newest && is_possible &&
        (bytes_new <= bytes || bytes_new - bytes <= (size_t)(a->end - a->next))) {
        a->next = (char *)array + bytes_new;
        return array;
    }
    void *copy = arena_take(a, n_new, size);
    if (copy && array)
        memcpy(copy, array, (n < n_new ? n : n_new) * size);
    return copy;
}

void arena_clear(struct arena *a) {
    if (a->pool)
        give_chunks(a->pool, a->chunks);
    else
        free_chunks(a->chunks);
    *a = (struct arena){.pool = a->pool};
}
