/* The background where Gaussians of scales are: which pixels have it, and which Gaussian's counts.
 */
#include "output/wide_background.h"

#include <math.h>
#include <string.h>

#include "unit.h"

enum { SIDE = 60, FIRST_X = 1000, FIRST_Y = 37 };

static struct srcfind_source row_of(double scale, double x, double y, double major, double minor,
                                    double angle) {
    return (struct srcfind_source){.scale = scale,
                                   .x = x,
                                   .y = y,
                                   .pixel_major = major,
                                   .pixel_minor = minor,
                                   .pixel_angle = angle,
                                   .n_gaussians = 1,
                                   .scale_background = scale};
}

/* The backgrounds of all pixels below these rows; -1 elsewhere. */
static void backgrounds_of(struct srcfind_source *rows, int n, double found[SIDE][SIDE]) {
    const struct sources sources = {.rows = rows, .n = n};
    struct wide_background wide;
    const struct srcfind_image image = {
        .width = SIDE, .height = SIDE, .first_x = FIRST_X, .first_y = FIRST_Y};
    rows_move(rows, n, FIRST_X, FIRST_Y); /* as in the whole image */
    assert_true(wide_background_make(&wide, &sources, &image));
    rows_move(rows, n, -FIRST_X, -FIRST_Y);
    for (int y = 0; y < SIDE; y++) {
        struct noise_at noise[SIDE];
        for (int x = 0; x < SIDE; x++)
            noise[x] = (struct noise_at){-1, 1};
        wide_background_put(&wide, 0, y, 7, noise); /* in two parts */
        wide_background_put(&wide, 7, y, SIDE - 7, noise + 7);
        for (int x = 0; x < SIDE; x++)
            found[y][x] = noise[x].background;
    }
    wide_background_clear(&wide);
}

/* Whether a pixel is within one FWHM of the centre; the angle is from y to -x. */
static bool is_within(const struct srcfind_source *row, int x, int y) {
    const double angle = row->pixel_angle * M_PI / 180, dx = x - row->x, dy = y - row->y;
    const double along = -dx * sin(angle) + dy * cos(angle),
                 across = dx * cos(angle) + dy * sin(angle);
    return hypot(along / row->pixel_major, across / row->pixel_minor) <= 1;
}

/* Ellipses, also at edges and beyond; where they overlap, the widest scale counts. */
static void ellipses(void **state) {
    struct srcfind_source rows[] = {
        row_of(0, 40, 40, 9, 9, 0),     row_of(4, 22.3, 31.2, 12.5, 6.2, 30),
        row_of(8, 30.1, 28.4, 9, 8, 0), row_of(2, 26, 30, 8, 3, 160),
        row_of(2, 1.2, 57.5, 7, 5, 80), row_of(2, -20, 30, 8, 3, 0)};
    double found[SIDE][SIDE];
    const int n = sizeof rows / sizeof *rows;
    int n_inside = 0;
    (void)state;
    backgrounds_of(rows, n, found);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double expected = -1;
            for (int i = 0; i < n; i++)
                if (rows[i].scale > 0 && is_within(&rows[i], x, y))
                    expected = fmax(expected, rows[i].scale);
            assert_true(found[y][x] == expected);
            n_inside += expected > 0;
        }
    assert_in_range(n_inside, 300, 700);
}

/* Rows without a fit, without a size or far outside change nothing. */
static void nothing(void **state) {
    struct srcfind_source rows[] = {row_of(2, 30, 30, 9, 9, 0), row_of(2, 30, 30, NAN, NAN, NAN),
                                    row_of(2, 30, 30, 9, 0, 0), row_of(2, 1e15, 30, 9, 9, 0),
                                    row_of(2, 30, -1e300, 9, 9, 0)};
    double found[SIDE][SIDE];
    (void)state;
    rows[0].flags = SRCFIND_FLAG_NOT_FITTED;
    backgrounds_of(rows, sizeof rows / sizeof *rows, found);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            assert_true(found[y][x] == -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ellipses), cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
