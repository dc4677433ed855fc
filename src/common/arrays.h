/* Growing arrays, and huge pages for large ones. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Asks the system to use huge pages for a large array; call this before the array is written.
 * Without huge pages, the page fault at the first write to a page of 4 KiB takes longer than to
 * fill the page. The advice covers all pages of the array, since realloc can extend a mapping in
 * place only if all its pages have the same advice. The system may refuse, as it does if its pages
 * are larger than 4 KiB. array may be NULL. */
static inline void arrays_use_huge_pages(void *array, size_t size) {
#if defined __linux__ && defined MADV_HUGEPAGE
    enum { PAGE = 4 << 10, HUGE_PAGE = 2 << 20 };
    const size_t before = (uintptr_t)array % PAGE;
    if (array && size >= HUGE_PAGE)
        madvise((char *)array - before, (before + size + PAGE - 1) / PAGE * PAGE, MADV_HUGEPAGE);
#else
    (void)array;
    (void)size;
#endif
}

/* malloc for n elements of a size, also for none, with huge pages if they are many: for arrays that
 * are soon written. */
static inline void *arrays_allocate(int64_t n, size_t size) {
    void *array = (uint64_t)n < SIZE_MAX / size ? malloc((size_t)n * size + 1) : NULL;
    arrays_use_huge_pages(array, (size_t)n * size);
    return array;
}

/* Grows `array` to a capacity of at least n elements, and updates the variable `capacity`. False
 * where memory ran out; array and capacity are then unchanged. */
#define GROW(array, capacity, n)                                                                   \
    ((n) <= (capacity) || arrays_grow(&(array), &(capacity), (n), sizeof *(array)))

/* The function of GROW. array points to the pointer to the elements; size is that of an element. */
static inline bool arrays_grow(void *array, int64_t *capacity, int64_t n, size_t size) {
    const int64_t half_more = *capacity + *capacity / 2;
    const int64_t new_capacity = n > half_more ? n : half_more;
    void *elements;
    memcpy(&elements, array, sizeof elements);
    if (new_capacity < 1 || (uint64_t)new_capacity > SIZE_MAX / size ||
        !(elements = realloc(elements, (size_t)new_capacity * size)))
        return false;
    arrays_use_huge_pages(elements, (size_t)new_capacity * size);
    memcpy(array, &elements, sizeof elements);
    *capacity = new_capacity;
    return true;
}

/* Gives `array` room for n elements, whose values are then undefined, and updates the variable
 * `capacity`. False where memory ran out; the array is then NULL. */
#define RESERVE(array, capacity, n)                                                                \
    ((n) <= (capacity) || arrays_reserve(&(array), &(capacity), (n), sizeof *(array)))

/* The function of RESERVE. array points to the pointer to the elements; size is that of an element.
 */
static inline bool arrays_reserve(void *array, int64_t *capacity, int64_t n, size_t size) {
    const int64_t more = *capacity > 0 ? n + n / 8 : n; /* the next array may be larger, too */
    void *elements;
    memcpy(&elements, array, sizeof elements);
    free(elements);
    elements = arrays_allocate(more, size);
    memcpy(array, &elements, sizeof elements);
    *capacity = elements ? more : 0;
    return elements;
}

#endif
