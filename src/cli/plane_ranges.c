#include "cli/plane_ranges.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "input/image.h"

/* --- the option --- */

/* Reads a number from 1 on, of digits alone, and moves behind it. */
static bool read_index(const char **text, int64_t *index) {
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *index = strtoll(*text, &end, 10);
    *text = end;
    return !errno && *index >= 1 && *index < INT64_MAX;
}

/* Reads A, A-B or `all`, and moves behind it. */
static bool read_range(const char **text, struct plane_range *range) {
    if (ascii_same_start(*text, "all", 3)) {
        *range = (struct plane_range){1, INT64_MAX};
        *text += 3;
        return true;
    }
    if (!read_index(text, &range->first))
        return false;
    range->last = range->first;
    if (**text != '-')
        return true;
    ++*text;
    return read_index(text, &range->last) && range->first <= range->last;
}

bool plane_ranges_parse(const char *text, struct plane_ranges *ranges) {
    *ranges = (struct plane_ranges){.is_all = ascii_same(text, "all")};
    for (;; text++) {
        if (ranges->n == SRCFIND_MAX_AXES || !read_range(&text, &ranges->axis[ranges->n++]))
            return false;
        if (*text != ',')
            return !*text;
    }
}

/* --- an image --- */

/* The range of an axis, from 0, of so many planes. One that is not given is 1. */
static struct plane_range range_of(const struct plane_ranges *ranges, int axis, int64_t length) {
    struct plane_range range = {1, 1};
    if (ranges->is_all)
        range.last = INT64_MAX;
    else if (axis < ranges->n)
        range = ranges->axis[axis];
    if (range.last == INT64_MAX)
        range.last = length > 1 ? length : 1;
    return range;
}

/* Checks that the image has the last plane of each range. */
static enum srcfind_status check_last(const struct plane_ranges *ranges, const struct image *image,
                                      struct srcfind_image *metadata, struct error *error) {
    const int n_axes = metadata->n_axes - 2;
    struct plane_option last = {.n = ranges->n > n_axes ? ranges->n : n_axes};
    for (int i = 0; i < last.n; i++)
        last.index[i] = range_of(ranges, i, i < n_axes ? metadata->axes[i + 2] : 1).last;
    return image_check_plane(image, &last, metadata, error);
}

static int count_digits(int64_t number) {
    int n = 1;
    for (; number >= 10; number /= 10)
        n++;
    return n;
}

static enum srcfind_status count_planes(const struct plane_ranges *ranges,
                                        const struct srcfind_image *metadata,
                                        struct image_planes *planes, struct error *error) {
    *planes = (struct image_planes){.n = 1, .n_in_file = 1};
    for (int i = 0; i < metadata->n_axes - 2; i++) {
        const int64_t length = metadata->axes[i + 2];
        const struct plane_range range = planes->axis[i] = range_of(ranges, i, length);
        const int64_t n = range.last - range.first + 1;
        if (n > MOST_PLANES / planes->n)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: more than %d planes are to be searched: give ranges with "
                             "--plane, as in --plane 1-%d",
                             metadata->path, MOST_PLANES, MOST_PLANES);
        planes->n *= n;
        planes->digits[i] = count_digits(length);
        planes->n_in_file *= length;
        planes->n_axes = length > 1 ? i + 1 : planes->n_axes;
    }
    return SRCFIND_OK;
}

enum srcfind_status plane_ranges_find(const struct plane_ranges *ranges, const char *path,
                                      const char *hdu, struct image_planes *planes,
                                      struct error *error) {
    struct image image;
    struct srcfind_image metadata;
    enum srcfind_status status = image_open_file(&image, path, hdu, &metadata, error);
    if (status == SRCFIND_OK)
        status = check_last(ranges, &image, &metadata, error);
    if (status == SRCFIND_OK)
        status = count_planes(ranges, &metadata, planes, error);
    image_close(&image);
    image_clear_metadata(&metadata);
    return status;
}

struct plane_option image_planes_get(const struct image_planes *planes, int64_t i) {
    struct plane_option plane = {.n = planes->n_axes};
    for (int axis = 0; axis < planes->n_axes; axis++) {
        const struct plane_range *range = &planes->axis[axis];
        const int64_t n = range->last - range->first + 1;
        plane.index[axis] = range->first + i % n;
        i /= n;
    }
    return plane;
}
