/* The ticks beside the bar of grey levels, and their unit. */
#include <math.h>
#include <string.h>

#include "output/picture/bar_ticks.h"
#include "stretch.h"
#include "unit.h"

/* The labels, from the lowest on. */
static const char *labels_of(const struct bar_ticks *ticks) {
    static char text[MOST_BAR_TICKS * BAR_LABEL];
    double last = -INFINITY;
    text[0] = '\0';
    for (int k = 0; k < ticks->n; k++) {
        const struct bar_tick *next = NULL;
        for (int i = 0; i < ticks->n; i++)
            if (ticks->ticks[i].level > last && (!next || ticks->ticks[i].level < next->level))
                next = &ticks->ticks[i];
        assert_non_null(next);
        last = next->level;
        strcat(strcat(text, next->label), " ");
    }
    return text;
}

/* Background, noise and brightest value (rms) of maps in some units. */
static const struct {
    const char *unit;
    double zero, rms, highest;
    const char *labels, *shown_unit;
} known[] = {
    {"JY/BEAM", 1e-6, 2e-4, 250, "\u22120.5 0 0.5 1 2 5 10 20 50 ", "mJy/beam"},
    {"Jy/beam", 0, 1e-5, 100, "\u221220 0 20 50 100 200 500 1000 ", "\u00b5Jy/beam"},
    {"mJy/beam", 0, 500, 40, "\u22121 0 1 2 5 10 20 ", "Jy/beam"},
    {"MJy/sr", 0, 2, 30, "\u22125 0 5 10 20 40 60 ", "MJy/sr"},
    {"K", 20, 10, 170, "5 20 50 100 200 500 1000 ", "K"},
    {"counts", 1000, 1, 30, "998 1000 1002 1005 1010 1020 ", "counts"},
    {"counts", 0, 1e-8, 30, "\u221220 0 20 50 100 200 ", "10\u207b\u2079 counts"},
    {"", 0, 3e6, 30, "\u22125 0 5 10 20 40 60 ", "10\u2076"},
    {"\xff", 0, 1, 0, "\u22122 \u22121 0 1 2 4 6 10 ", "\xff"},
};

static void round_values(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct stretch s = stretch_with(known[i].zero, known[i].rms, known[i].highest);
        struct bar_ticks ticks;
        bar_ticks_find(&ticks, &s, known[i].unit, 0.085);
        assert_string_equal(labels_of(&ticks), known[i].labels);
        assert_string_equal(ticks.unit, known[i].shown_unit);
    }
}

/* Ticks keep their distance and stay beside the bar, whatever the map has. */
static void apart(void **state) {
    static const double zeros[] = {0, 1, -1e10, 1e-30, 1e30, 0.3},
                        units[] = {1, 1e-5, 1e4, 1e-38, 1e30}, highest[] = {0, 25, 1e3, 1e9, 3e38};
    (void)state;
    for (int i = 0; i < 6 * 5 * 5; i++) {
        const struct stretch s = stretch_with(zeros[i % 6], units[i / 6 % 5], highest[i / 30]);
        struct bar_ticks ticks;
        bar_ticks_find(&ticks, &s, "Jy/beam", 0.1);
        assert_in_range(ticks.n, fabs(zeros[i % 6]) < 1e12 * units[i / 6 % 5], 11);
        for (int a = 0; a < ticks.n; a++) {
            assert_true(ticks.ticks[a].level >= 0 && ticks.ticks[a].level <= 1);
            assert_true(strlen(ticks.ticks[a].label) <= 20);
            for (int b = 0; b < a; b++)
                assert_true(fabs(ticks.ticks[a].level - ticks.ticks[b].level) > 0.049);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_values), cmocka_unit_test(apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
