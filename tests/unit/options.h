/* Options for a test. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include <stdarg.h>

#include "srcfind.h"
#include "unit.h"

/* options_with("device", "cpu", "threads", "2", NULL); to be destroyed. */
static inline struct srcfind_options *options_with(const char *name, ...) {
    struct srcfind_options *options = srcfind_options_create();
    va_list args;
    va_start(args, name);
    for (; name; name = va_arg(args, const char *))
        assert_int_equal(srcfind_options_set(options, name, va_arg(args, const char *)),
                         SRCFIND_OK);
    va_end(args);
    return options;
}

/* Pixels of a picture. */
static inline struct srcfind_pixels pixels_of(const struct picture *p) {
    return (struct srcfind_pixels){.size = sizeof(struct srcfind_pixels),
                                   .values = p->pixels,
                                   .width = p->width,
                                   .height = p->height};
}

#endif
