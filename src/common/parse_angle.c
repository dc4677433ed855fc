#include "common/parse_angle.h"

#include <stdint.h>

#include "common/parse_number.h"

struct part {
    double value;
    bool is_whole;
    char end; /* the letter or colon behind it; ' ' for blanks, '\0' at the end of the text */
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Reads a number without a sign, and what stands behind it. */
static bool read_part(const char **at, const char *end, struct part *part) {
    const char *begin = *at;
    while (*at < end && ((**at >= '0' && **at <= '9') || **at == '.'))
        ++*at;
    const struct number number = parse_number(begin, (size_t)(*at - begin));
    if (number.kind == NUMBER_NONE)
        return false;
    part->value = number.real;
    part->is_whole = number.kind == NUMBER_INTEGER;
    const bool has_blanks = *at < end && is_blank(**at);
    while (*at < end && is_blank(**at))
        ++*at;
    part->end = *at == end ? '\0' : has_blanks ? ' ' : **at;
    if (part->end && part->end != ' ')
        ++*at;
    while (*at < end && is_blank(**at))
        ++*at;
    return true;
}

/* Whether what stands behind part i fits: one separator throughout, or the letters of the unit. */
static bool ends_well(const struct part *parts, int i, bool is_last) {
    static const char letters[3][4] = {"hd", "m'", "s\""};
    const char end = parts[i].end;
    for (const char *c = letters[i]; end && *c; c++)
        if (end == *c)
            return i == 0 || parts[0].end == 'h' || parts[0].end == 'd';
    if (is_last)
        return !end;
    return (end == ':' || end == ' ') && (i == 0 || parts[0].end == end);
}

bool parse_angle(const char *text, size_t length, bool in_hours, double *degrees) {
    enum { MOST = 3 };
    const char *at = text, *end = text + length;
    struct part parts[MOST] = {{0}};
    int n = 0;
    while (at < end && is_blank(*at))
        at++;
    const bool is_negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    while (at < end && n < MOST && read_part(&at, end, &parts[n]))
        n++;
    if (at < end || n < 2)
        return false;
    for (int i = 0; i < n; i++)
        if (!ends_well(parts, i, i == n - 1) || (i < n - 1 && !parts[i].is_whole) ||
            (i > 0 && parts[i].value >= 60))
            return false;
    const bool are_hours = parts[0].end == 'h' || (in_hours && parts[0].end != 'd');
    const double seconds = (parts[0].value * 60 + parts[1].value) * 60 + parts[2].value;
    *degrees = (is_negative ? -seconds : seconds) / (are_hours ? 240 : 3600);
    return true;
}
