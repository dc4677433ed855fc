/* Memory for many small arrays that are freed together: without a lock and a call for each of them,
 * which many threads at a time wait for. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

struct arena_chunk;

/* An arena without memory is zeroed. One thread at a time may use it. */
struct arena {
    struct arena_chunk *chunks;
    char *next, *end; /* what is left of the newest chunk */
};

/* Returns an array of n elements, aligned for any type, that is not initialised; NULL where memory
 * ran out. It is valid until the arena is cleared. */
void *arena_take(struct arena *arena, size_t n, size_t size);

/* Frees all arrays. */
void arena_clear(struct arena *arena);

#endif
