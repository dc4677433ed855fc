/* Huge pages. */
#ifndef PAGES_H
#define PAGES_H

#include <stddef.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

/* Asks for a large array to be on huge pages, before it is written to: the first touch of each page
 * of 4 KiB takes longer than to fill it, and there are thousands for a large image. All pages of
 * the array are asked for, since those of a mapping that is to grow must be alike. A wish only,
 * which is refused where pages are larger than 4 KiB; array may be NULL. */
static inline void pages_ask_for_huge(void *array, size_t size) {
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

#endif
