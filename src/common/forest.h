/* Sets of numbers that were joined, as a forest: each set is a tree, and parent[i] is the parent of
 * number i, or i itself where i is a root. */
#ifndef FOREST_H
#define FOREST_H

#include <stdint.h>

/* The root of the set of i. Shortens the path to the root (path halving). */
static inline int64_t forest_root(int64_t *parent, int64_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* The same for a forest of smaller numbers. */
static inline int32_t forest_root_32(int32_t *parent, int32_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Joins the sets of a and b. The lower one of their roots becomes the root of both. */
static inline void forest_join(int64_t *parent, int64_t a, int64_t b) {
    const int64_t x = forest_root(parent, a), y = forest_root(parent, b);
    parent[x > y ? x : y] = x > y ? y : x;
}

static inline void forest_join_32(int32_t *parent, int32_t a, int32_t b) {
    const int32_t x = forest_root_32(parent, a), y = forest_root_32(parent, b);
    parent[x > y ? x : y] = x > y ? y : x;
}

#endif
