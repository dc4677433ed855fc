/* Arrays that grow. */
#ifndef GROW_H
#define GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

/* Room for at least n elements in array, whose room is kept in `room`; false where memory ran out,
 * and then array and room are as they were. */
#define GROW(array, room, n) ((n) <= (room) || grow_array(&(array), &(room), (n), sizeof *(array)))

/* array points to the pointer to the elements. */
static inline bool grow_array(void *array, int64_t *room, int64_t n, size_t size) {
    const int64_t half_more = *room + *room / 2;
    const int64_t wanted = n > half_more ? n : half_more;
    void *elements;
    memcpy(&elements, array, sizeof elements);
    if ((uint64_t)wanted > SIZE_MAX / size ||
        !(elements = realloc(elements, (size_t)wanted * size)))
        return false;
    pages_ask_for_huge(elements, (size_t)wanted * size);
    memcpy(array, &elements, sizeof elements);
    *room = wanted;
    return true;
}

#endif
