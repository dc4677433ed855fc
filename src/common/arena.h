/* Memory for many small arrays that are freed together: without a lock and a call for each of them,
 * which many threads at a time wait for. */
#ifndef ARENA_H
#define ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <threads.h>

struct arena_chunk;

/* Memory for arenas of several threads, which get it back when they are cleared. It is in large
 * pieces of its own, so that all of it goes back to the system in the end. */
struct arena_pool {
    mtx_t lock;
    struct arena_chunk *chunks; /* that no arena has */
    struct arena_chunk *slabs;  /* of which chunks are cut */
    char *next, *end;           /* what is left of the newest slab */
};

/* An arena without memory is zeroed, but for its pool. One thread at a time may use it. */
struct arena {
    struct arena_chunk *chunks;
    char *next, *end;        /* what is left of the newest chunk */
    struct arena_pool *pool; /* where memory comes from and goes to; NULL: malloc and free */
};

/* False where there is no lock. */
bool arena_pool_make(struct arena_pool *pool);

/* Frees the memory; its arenas must be clear. */
void arena_pool_clear(struct arena_pool *pool);

/* Returns an array of n elements, aligned for any type, that is not initialised; NULL where memory
 * ran out. It is valid until the arena is cleared. */
void *arena_take(struct arena *arena, size_t n, size_t size);

/* Makes an array longer or shorter, from n to n_new elements: in place if it is the newest one,
 * else a copy. array: NULL for n = 0. NULL where memory ran out. */
void *arena_extend(struct arena *arena, void *array, size_t n, size_t n_new, size_t size);

/* Frees all arrays. */
void arena_clear(struct arena *arena);

#endif
