/* What the unit tests share: cmocka, and pixels in memory as a backend sees them. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/threads.h"
#include "pictures.h"

/* Of the random cases that take longest, a build with a sanitizer runs only one in so many: what it
 * looks for shows in a few. Threads, which ThreadSanitizer makes far slower, do the same in each.
 */
#if !defined __has_feature
#define __has_feature(name) 0
#endif
#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
enum { UNIT_FEWER = 40 };
#elif defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { UNIT_FEWER = 8 };
#else
enum { UNIT_FEWER = 1 };
#endif

#define ASSERT_SAME(a, b) assert_memory_equal(&(a), &(b), sizeof(a))

/* A source over a picture: in chunks of any size, in either byte order, for one thread or many. */
struct memory_source {
    struct pixel_source source;
    uint32_t *pixels;
};

struct memory_source *memory_source_make(const struct picture *picture, int64_t chunk, bool swapped,
                                         bool parallel);
void memory_source_free(struct memory_source *memory);

/* A team of n threads, up to 16, which lasts as long as the test. */
struct threads *unit_threads(int n);

#endif
