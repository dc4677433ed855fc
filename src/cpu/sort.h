/* Sorting. */
#ifndef SORT_H
#define SORT_H

#include <stdint.h>

/* Sorts n keys; room is for as many. */
void sort_keys(uint32_t *keys, int64_t n, uint32_t *room);

#endif
