/* Asks for memory in advance. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

/* Whether so many bytes could be allocated now. Some libraries end the process where memory runs
 * out: they are only called if there is much more than they need, so that other threads may
 * allocate at the same time. */
static inline bool memory_is_there(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED && munmap(memory, bytes) == 0;
}

#endif
