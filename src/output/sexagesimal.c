#include "output/sexagesimal.h"

#include <math.h>

#include "common/format_double.h"

static struct sexagesimal split(int64_t value, int64_t parts) {
    const int64_t size = value < 0 ? -value : value;
    return (struct sexagesimal){value < 0, size / (3600 * parts), size / (60 * parts) % 60,
                                size / parts % 60, size % parts};
}

struct sexagesimal sexagesimal_hours(double degrees, int64_t parts) {
    const int64_t day = 24 * 3600 * parts;
    const int64_t value = llround(degrees * (3600.0 / 15) * (double)parts) % day;
    return split(value < 0 ? value + day : value, parts);
}

struct sexagesimal sexagesimal_degrees(double degrees, int64_t parts) {
    return split(llround(degrees * 3600 * (double)parts), parts);
}

/* Writes the digits of a number below 10 unit. */
static char *add_digits(char *to, int64_t number, int64_t unit) {
    for (; unit > 0; unit /= 10)
        *to++ = (char)('0' + number / unit % 10);
    return to;
}

char *sexagesimal_add(char *to, const struct sexagesimal *angle, const char *between,
                      int64_t parts) {
    to = format_add_text(add_digits(to, angle->whole, 10), between);
    to = format_add_text(add_digits(to, angle->minutes, 10), between);
    to = format_add_text(add_digits(to, angle->seconds, 10), ".");
    return add_digits(to, angle->part, parts / 10);
}
