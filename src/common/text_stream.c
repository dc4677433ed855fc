#define _GNU_SOURCE /* fopencookie */
#include "common/text_stream.h"

#include <string.h>

#include "common/arrays.h"

static ssize_t add_to_text(void *cookie, const char *bytes, size_t n) {
    struct text *text = cookie;
    if (!GROW(text->at, text->capacity, text->size + (int64_t)n + 1))
        return 0;
    memcpy(text->at + text->size, bytes, n);
    text->size += (int64_t)n;
    text->at[text->size] = '\0';
    return (ssize_t)n;
}

FILE *text_stream_open(struct text *text) {
    return fopencookie(text, "w", (cookie_io_functions_t){.write = add_to_text});
}
