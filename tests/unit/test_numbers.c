/* The numbers beside the ellipses of a picture, and the line that says what these are. */
#include <math.h>
#include <string.h>

#include "output/picture/legend.h"
#include "output/picture/marks.h"
#include "output/picture/numbers.h"
#include "unit.h"

static const struct box map = {100, 50, 500, 350};
enum { WIDTH = 20, HEIGHT = 9, MANY = 400 };

static struct number number_of(int64_t outline) {
    return (struct number){.outline = outline, .width = WIDTH, .height = HEIGHT};
}

/* Where the number of the first of some ellipses is from its centre; "" if it has none. */
static const char *side(const struct outline *outlines, int n, struct box taken) {
    const struct obstacles obstacles = {map, {taken}, outlines, n};
    struct number number = number_of(0);
    numbers_place(&number, 1, &obstacles);
    const double x = (number.box.left + number.box.right) / 2 - outlines->x;
    const double y = (number.box.top + number.box.bottom) / 2 - outlines->y;
    static char text[16];
    snprintf(text, sizeof text, "%s%s",
             y < -5  ? "up"
             : y > 5 ? "down"
                     : "",
             x > 5    ? "right"
             : x < -5 ? "left"
                      : "");
    return number.is_placed ? text : "";
}

static void sides(void **state) {
    static const struct box nothing = {0, 0, 0, 0}, right = {310, 195, 320, 205};
    static const struct outline lone[] = {{300, 200, 8, 5, 0.3}};
    static const struct outline at_edges[][1] = {
        {{495, 200, 8, 5, 0.3}}, {{102, 200, 8, 5, 0.3}}, {{495, 52, 30, 5, 0}}};
    (void)state;
    assert_string_equal(side(lone, 1, nothing), "right");
    assert_string_equal(side(lone, 1, right), "left");
    assert_string_equal(side(at_edges[0], 1, nothing), "left");
    assert_string_equal(side(at_edges[1], 1, nothing), "right");
    assert_string_equal(side(at_edges[2], 1, nothing), "downleft");
    const struct outline between[] = {
        {300, 200, 8, 5, 0}, {320, 200, 6, 6, 0}, {280, 200, 6, 6, 0}};
    assert_string_equal(side(between, 3, nothing), "up");
    const struct outline enclosed[] = {{300, 200, 8, 5, 0}, {300, 200, 12, 12, 0}};
    assert_string_equal(side(enclosed, 2, nothing), "");
    const struct outline in_large[] = {{300, 200, 8, 5, 0}, {310, 210, 120, 90, 1}};
    assert_string_equal(side(in_large, 2, nothing), "right");
    /* not inside a large ellipse that another source has */
    const struct outline beside[] = {{300, 200, 8, 5, 0}, {361, 200, 60, 60, 0}};
    assert_string_equal(side(beside, 2, nothing), "left");
}

/* The number of a long and leaning ellipse is beside it, not at a corner of the box around it. */
static void beside_a_leaning_one(void **state) {
    static const double angles[] = {M_PI / 4, -M_PI / 4, 1.2, 2.6};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct outline outline = {300, 200, 120, 12, angles[i]};
        const struct outline wider = {300, 200, 140, 32, angles[i]};
        const struct obstacles obstacles = {map, {{0, 0, 0, 0}}, &outline, 1};
        struct number number = number_of(0);
        numbers_place(&number, 1, &obstacles);
        assert_true(number.is_placed);
        assert_false(outline_touches(&outline, &number.box));
        assert_true(outline_touches(&wider, &number.box) ||
                    outline_contains(&wider, number.box.left, number.box.top));
    }
}

/* The ellipse as a line of points. */
static bool line_enters(const struct outline *o, const struct box *box) {
    for (int i = 0; i < 720; i++) {
        const double t = i * M_PI / 360, right = o->major * cos(t), up = o->minor * sin(t);
        const double x = o->x + right * cos(o->angle) - up * sin(o->angle);
        const double y = o->y - right * sin(o->angle) - up * cos(o->angle);
        if (x > box->left && x < box->right && y > box->top && y < box->bottom)
            return true;
    }
    return false;
}

static void crowd(void **state) {
    struct random r = {1};
    struct outline outlines[MANY];
    struct number numbers[MANY];
    int placed = 0;
    (void)state;
    for (int i = 0; i < MANY; i++) {
        const double major = 4 + 12 * pow(random_unit(&r), 4);
        outlines[i] = (struct outline){100 + 400 * random_unit(&r), 50 + 300 * random_unit(&r),
                                       major, 4, M_PI * random_unit(&r)};
        numbers[i] = number_of(i);
    }
    const struct obstacles obstacles = {
        map, {{470, 50, 500, 60}, {100, 320, 130, 350}}, outlines, MANY};
    numbers_place(numbers, MANY, &obstacles);
    for (int i = 0; i < MANY; i++) {
        const struct box *b = &numbers[i].box;
        if (!numbers[i].is_placed)
            continue;
        placed++;
        assert_true(b->left >= 100 && b->right <= 500 && b->top >= 50 && b->bottom <= 350);
        assert_true(fabs(b->right - b->left - WIDTH) < 1e-9 &&
                    fabs(b->bottom - b->top - HEIGHT) < 1e-9);
        assert_false(boxes_overlap(b, &obstacles.taken[0]));
        assert_false(boxes_overlap(b, &obstacles.taken[1]));
        for (int k = 0; k < MANY; k++) {
            assert_false(k < i && numbers[k].is_placed && boxes_overlap(b, &numbers[k].box));
            assert_false(outlines[k].x > b->left && outlines[k].x < b->right &&
                         outlines[k].y > b->top && outlines[k].y < b->bottom);
            assert_false(line_enters(&outlines[k], b));
        }
    }
    assert_in_range(placed, MANY / 8, MANY * 7 / 8);
}

/* The first of two that want the same place gets it. */
static void first_comes_first(void **state) {
    static const struct outline outlines[] = {{496, 54, 4, 4, 0}, {478, 54, 4, 4, 0}};
    const struct obstacles obstacles = {map, {{0, 0, 0, 0}}, outlines, 2};
    (void)state;
    for (int64_t first = 0; first < 2; first++) {
        struct number numbers[] = {number_of(first), number_of(1 - first)}, lone = number_of(first);
        numbers_place(numbers, 2, &obstacles);
        numbers_place(&lone, 1, &obstacles);
        assert_true(numbers[0].is_placed);
        ASSERT_SAME(numbers[0].box.left, lone.box.left);
        ASSERT_SAME(numbers[0].box.top, lone.box.top);
    }
}

static void boxes(void **state) {
    const struct outline turned = {10, 20, 5, 3, M_PI / 2}, tilted = {0, 0, 5, 1e-9, M_PI / 4};
    const struct box box = outline_box(&turned), thin = outline_box(&tilted);
    (void)state;
    assert_true(fabs(box.left - 7) < 1e-9 && fabs(box.right - 13) < 1e-9);
    assert_true(fabs(box.top - 15) < 1e-9 && fabs(box.bottom - 25) < 1e-9);
    assert_true(fabs(thin.right - 5 * M_SQRT1_2) < 1e-9 && fabs(thin.top + thin.right) < 1e-9);
    assert_true(outline_contains(&(struct outline){0, 0, 5, 1, M_PI / 4}, 3, -3)); /* upwards */
    assert_false(outline_contains(&(struct outline){0, 0, 5, 1, M_PI / 4}, 3, 3));
}

/* The texts of a legend, those behind an ellipse with its colour. */
static const char *legend_text(unsigned kinds, const struct scales_option *scales) {
    static char text[MOST_LEGEND * (LEGEND_TEXT + 8)];
    struct legend legend;
    legend_make(&legend, kinds, scales);
    text[0] = '\0';
    for (int i = 0; i < legend.n; i++) {
        const struct legend_item *item = &legend.items[i];
        const struct colour *of[] = {&marks_red, &marks_blue, &marks_of_scales[0],
                                     &marks_of_scales[1], &marks_of_scales[2]};
        static const char *const names[] = {"red", "blue", "orange", "green", "violet"};
        for (int k = 0; k < 5; k++)
            strcat(text, item->colour == of[k] ? names[k] : "");
        strcat(text, item->is_thin ? " thin" : item->is_dashed ? " dashed" : "");
        strcat(strcat(strcat(text, "["), item->text), "]");
    }
    return text;
}

static void legends(void **state) {
    static const struct scales_option none = {0}, usual = {3, {2, 4, 8}}, one = {1, {2.5}},
                                      many = {8, {1, 2, 3, 4, 5, 6, 7, 8}};
    (void)state;
    assert_string_equal(legend_text(0, &none), "");
    assert_string_equal(legend_text(MARK_FWHM, &none), "[twice the FWHM of sources]");
    assert_string_equal(legend_text(MARK_MOMENTS | MARK_NUMBER, &none),
                        "[twice the FWHM of sources by moments][numbers: Source_id]");
    assert_string_equal(legend_text(MARK_SCALE | MARK_NEGATIVE, &usual),
                        "red[not smoothed]orange[scale 2]green[scale 4]violet[scale 8]"
                        "blue[negative]");
    assert_string_equal(legend_text(MARK_SCALE, &one), "red[not smoothed]orange[scale 2.5]");
    assert_non_null(
        strstr(legend_text(~0u, &many), "green[scale 2 or 5 or 8]violet[scale 3 or 6]"));
    assert_non_null(strstr(legend_text(~0u, &many),
                           "red thin[Gaussians of a source, FWHM]red dashed[not fitted]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides), cmocka_unit_test(beside_a_leaning_one),
        cmocka_unit_test(crowd), cmocka_unit_test(first_comes_first),
        cmocka_unit_test(boxes), cmocka_unit_test(legends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
