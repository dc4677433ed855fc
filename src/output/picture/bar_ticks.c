#include "output/picture/bar_ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"
#include "input/units.h"

/* --- units --- */

struct prefix {
    const char *text;
    double factor;
};

/* Writes a power of ten as people do: 10⁻⁶. */
static void write_power(int exponent, char *text, size_t size) {
    static const char *const raised[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                         "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    char plain[16];
    int n = snprintf(text, size, "10%s", exponent < 0 ? "\u207b" : "");
    snprintf(plain, sizeof plain, "%d", exponent < 0 ? -exponent : exponent);
    for (const char *c = plain; *c; c++)
        n += snprintf(text + n, size - (size_t)n, "%s", raised[*c - '0']);
}

/* Chooses the power of ten of a unit that has no prefixes here. Returns values of the map in one of
 * the labels. */
static double choose_power(const char *unit, double typical, char *chosen) {
    static const double LEAST = 1e-3, MOST = 1e4;
    char power[64];
    snprintf(chosen, BAR_UNIT, "%s", unit);
    if (typical >= LEAST && typical < MOST)
        return 1;
    const int exponent = 3 * (int)floor(log10(typical) / 3);
    write_power(exponent, power, sizeof power);
    snprintf(chosen, BAR_UNIT, "%s%s%s", power, *unit ? " " : "", unit);
    return pow(10, exponent);
}

/* Chooses the unit of the labels for values like `typical`, above 0 in the unit of the map. Returns
 * what one of it is in the unit of the map. */
static double choose_unit(const char *unit, double typical, char *chosen) {
    static const char *const bases[] = {"Jy/beam", "Jy/pixel", "Jy/sr", "K", "Jy/beam.km/s"};
    static const struct prefix prefixes[] = {
        {"M", 1e6}, {"", 1}, {"m", 1e-3}, {"\u00b5", 1e-6}, {"n", 1e-9}};

    enum { BASES = sizeof bases / sizeof *bases, PREFIXES = sizeof prefixes / sizeof *prefixes };
    double factor;
    for (int i = 0; i < BASES; i++) {
        if (!*unit || !units_conform(unit, bases[i], &factor))
            continue;
        for (int k = strcmp(bases[i], "Jy/sr") != 0; k < PREFIXES; k++)
            if (typical * factor >= prefixes[k].factor || k == PREFIXES - 1) {
                snprintf(chosen, BAR_UNIT, "%s%s", prefixes[k].text, bases[i]);
                return prefixes[k].factor / factor;
            }
    }
    return choose_power(unit, typical, chosen);
}

/* --- round values --- */

static const double digits[] = {1, 2, 5};
enum { DIGITS = sizeof digits / sizeof *digits };

/* The value from low to high, both above 0, that is a multiple of the largest of 1, 2, 5 times a
 * power of ten. */
static double multiple_between(double low, double high) {
    enum { DECADES = 18 }; /* doubles have no more digits */
    const int first = (int)floor(log10(high));
    for (int decade = first; decade > first - DECADES; decade--)
        for (int i = DIGITS - 1; i >= 0; i--) {
            const double step = digits[i] * pow(10, decade), value = step * ceil(low / step);
            if (value <= high)
                return value;
        }
    return low;
}

/* The roundest value between two, the first of which is preferred: 0; else 1, 2 or 5 times a power
 * of ten; else a multiple of such a number. */
static double roundest(double first, double last) {
    const double sign = first < 0 ? -1 : 1;
    const double a = fabs(first), b = fabs(last), low = fmin(a, b), high = fmax(a, b);
    double found = NAN;
    if (first * sign <= 0 || last * sign <= 0)
        return 0;
    for (int decade = (int)floor(log10(low)); decade <= (int)floor(log10(high)); decade++)
        for (int i = 0; i < DIGITS; i++) {
            const double value = digits[i] * pow(10, decade);
            if (value >= low && value <= high && !(a < b && isfinite(found)))
                found = value;
        }
    return sign * (isfinite(found) ? found : multiple_between(low, high));
}

struct course {
    const struct stretch *stretch;
    double factor; /* from labels to the unit of the map */
};

static double value_at(const struct course *c, double level) {
    const struct stretch *s = c->stretch;
    return (s->zero + stretch_value(s, level) * s->unit) / c->factor;
}

static void add_tick(const struct course *c, double value, struct bar_ticks *ticks) {
    const struct stretch *s = c->stretch;
    struct bar_tick *tick = &ticks->ticks[ticks->n++];
    char text[BAR_LABEL];
    tick->level = stretch_level(s, (value * c->factor - s->zero) / s->unit);
    snprintf(text, sizeof text, "%.10g", fabs(value));
    format_point(text);
    snprintf(tick->label, sizeof tick->label, "%s%.20s", value < 0 ? "\u2212" : "", text);
}

/* Adds the ticks from the first one to one end of the bar. way: 1 up, -1 down. */
static void add_towards(const struct course *c, double gap, int way, struct bar_ticks *ticks) {
    double level = ticks->ticks[0].level;
    while (ticks->n < MOST_BAR_TICKS) {
        const double a = value_at(c, level + way * gap), b = value_at(c, level + 2.5 * way * gap);
        add_tick(c, roundest(a, b), ticks);
        const double last = level;
        level = ticks->ticks[ticks->n - 1].level;
        if (level < 0 || level > 1 || !(way * (level - last) > gap / 2)) {
            ticks->n--; /* beyond the bar, or where the digits of doubles end */
            return;
        }
    }
}

void bar_ticks_find(struct bar_ticks *ticks, const struct stretch *s, const char *unit,
                    double gap) {
    static const double AROUND = 1.5; /* rms from the background */
    ticks->n = 0;
    const double typical = s->unit * sqrt(stretch_value(s, 1)); /* between noise and brightest */
    const struct course c = {s, choose_unit(unit, typical, ticks->unit)};
    const double low = stretch_level(s, -AROUND), high = stretch_level(s, AROUND);
    add_tick(&c, roundest(value_at(&c, low), value_at(&c, high)), ticks);
    if (!(ticks->ticks[0].level >= low && ticks->ticks[0].level <= high)) {
        ticks->n = 0; /* doubles have too few digits for this background and noise */
        return;
    }
    add_towards(&c, gap, 1, ticks);
    add_towards(&c, gap, -1, ticks);
}
