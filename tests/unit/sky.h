/* Headers and their sky coordinates, for a test. */
#ifndef TEST_SKY_H
#define TEST_SKY_H

#include <stdio.h>
#include <stdlib.h>

#include "input/image.h"
#include "unit.h"

/* A header of the cards that stand in the lines of a text; to be cleared. */
static inline struct header header_of(const char *lines) {
    enum { MOST = 64 };
    char text[MOST * CARD + 1] = "";
    struct header header;
    struct error error;
    for (char *to = text; *lines; to += CARD) {
        const int length = (int)strcspn(lines, "\n");
        assert_true(to < text + MOST * CARD && length <= CARD);
        snprintf(to, CARD + 1, "%-80.*s", length, lines);
        lines += length + (lines[length] == '\n');
    }
    assert_int_equal(header_from_text(&header, text, &error), SRCFIND_OK);
    return header;
}

/* The sky coordinates of these cards for an image of two axes; to be closed. NULL where they are
 * none. */
static inline struct wcs *wcs_of(const char *cards, struct srcfind_image *image) {
    struct header header = header_of(cards);
    struct wcs *wcs;
    struct error error;
    *image = image_empty_metadata();
    image->n_axes = 2;
    assert_int_equal(wcs_open(&header, image, &wcs, &error), SRCFIND_OK);
    header_clear(&header);
    return wcs;
}

static inline void assert_within(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g, within %g", value, expected, tolerance);
}

#endif
