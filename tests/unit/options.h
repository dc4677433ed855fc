/* Options for a test. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include <stdarg.h>
#include <string.h>

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

/* An option has a value: "" if it is not set. */
static inline void assert_option(const struct srcfind_options *options, const char *name,
                                 const char *expected) {
    char value[256];
    assert_int_equal(srcfind_options_get(options, name, value, sizeof value), strlen(expected));
    assert_string_equal(value, expected);
}

/* Pixels of a picture. */
static inline struct srcfind_pixels pixels_of(const struct picture *p) {
    return (struct srcfind_pixels){.size = sizeof(struct srcfind_pixels),
                                   .values = p->pixels,
                                   .width = p->width,
                                   .height = p->height};
}

#endif
