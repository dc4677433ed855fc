#include "output/picture/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arrays.h"

/* --- boxes --- */

enum { GAP = 2 }; /* between an ellipse and its number */

/* Whether a number in a box would cover an ellipse, or lie inside the ellipse of another source. */
static bool is_in_the_way(const struct outline *outline, const struct outline *own,
                          const struct box *box) {
    return outline_touches(outline, box) || (outline_contains(outline, box->left, box->top) &&
                                             !outline_contains(outline, own->x, own->y));
}

static bool is_free(const struct box *box, const struct outline *own, const struct number *placed,
                    int64_t n, const struct obstacles *o) {
    if (box->left < o->map.left || box->right > o->map.right || box->top < o->map.top ||
        box->bottom > o->map.bottom || boxes_overlap(box, &o->taken[0]) ||
        boxes_overlap(box, &o->taken[1]))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (placed[i].is_placed && boxes_overlap(box, &placed[i].box))
            return false;
    for (int64_t i = 0; i < o->n_outlines; i++)
        if (is_in_the_way(&o->outlines[i], own, box))
            return false;
    return true;
}

/* The box of a number beside a point. right and down: -1, 0 or 1, the direction from the point. */
static struct box box_at(const struct number *number, double x, double y, int right, int down) {
    const double left = x + (right - 1) * number->width / 2;
    const double top = y + (down - 1) * number->height / 2;
    return (struct box){left, top, left + number->width, top + number->height};
}

/* The box of a number on one side of its ellipse: where a ray from the centre crosses the line of
 * the ellipse, or a little farther if the line would run through the number. */
static struct box box_beside(const struct number *number, const struct outline *outline, int right,
                             int down) {
    enum { STEPS = 16 };
    const struct box around = outline_box(outline);
    const double x = right * (around.right - outline->x), y = down * (around.bottom - outline->y);
    const double first = outline_crossing(outline, x, y), last = fmax(first, 1);
    struct box box;
    for (int i = 0; i <= STEPS; i++) {
        const double share = first + (last - first) * i / STEPS;
        box = box_at(number, outline->x + share * x + right * GAP,
                     outline->y + share * y + down * GAP, right, down);
        if (!outline_touches(outline, &box))
            break;
    }
    return box;
}

void numbers_place(struct number *numbers, int64_t n, const struct obstacles *obstacles) {
    static const struct {
        int right, down;
    } sides[] = {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {1, 1}, {-1, -1}, {-1, 1}};
    enum { SIDES = sizeof sides / sizeof *sides };
    for (int64_t i = 0; i < n; i++) {
        struct number *number = &numbers[i];
        const struct outline *outline = &obstacles->outlines[number->outline];
        number->is_placed = false;
        for (int k = 0; k < SIDES && !number->is_placed; k++) {
            number->box = box_beside(number, outline, sides[k].right, sides[k].down);
            number->is_placed = is_free(&number->box, outline, numbers, i, obstacles);
        }
    }
}

/* --- texts --- */

static const double FONT = 11;

static void format_number(const struct mark *mark, char text[32]) {
    snprintf(text, 32, "%" PRId64, mark->source->id);
}

/* A number, with the brightness by which numbers are placed. */
struct ranked {
    double snr;
    int64_t outline;
};

static int by_falling_snr(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    return x->snr != y->snr ? (x->snr < y->snr) - (x->snr > y->snr)
                            : (x->outline > y->outline) - (x->outline < y->outline);
}

/* Lists the sources of marks, the brightest first, and copies all outlines. Returns how many
 * of the sources may have a number. */
static int64_t rank(const struct marks *marks, struct ranked *ranked, struct outline *outlines) {
    int64_t n = 0;
    for (int64_t i = 0; i < marks->n; i++) {
        const struct mark *mark = &marks->marks[i];
        outlines[i] = mark->outline;
        if (!(mark->kinds & MARK_GAUSSIAN)) /* fmax gives 0 for NaN */
            ranked[n++] = (struct ranked){fmax(fabs(mark->source->snr), 0), i};
    }
    qsort(ranked, (size_t)n, sizeof *ranked, by_falling_snr);
    return n < MOST_NUMBERS ? n : MOST_NUMBERS;
}

static void measure(const struct marks *marks, const struct ranked *ranked, int64_t n,
                    const struct canvas *v, struct number *numbers) {
    char text[32];
    cairo_text_extents_t extents;
    for (int64_t i = 0; i < n; i++) {
        format_number(&marks->marks[ranked[i].outline], text);
        v->cairo->cairo_text_extents(v->sheet, text, &extents);
        numbers[i] = (struct number){
            ranked[i].outline, extents.x_advance + 1, 0.75 * FONT + 1, {0, 0, 0, 0}, false};
    }
}

/* Draws a number in black with a white line around it, seen on dark pixels, too. */
static void draw_number(const struct canvas *v, const struct number *number,
                        const struct mark *mark) {
    const struct cairo *c = v->cairo;
    char text[32];
    format_number(mark, text);
    c->cairo_move_to(v->sheet, number->box.left + 0.5, number->box.bottom - 0.5);
    c->cairo_text_path(v->sheet, text);
    c->cairo_set_line_width(v->sheet, 2.4);
    c->cairo_set_source_rgb(v->sheet, 1, 1, 1);
    c->cairo_stroke_preserve(v->sheet);
    c->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    c->cairo_fill(v->sheet);
}

enum srcfind_status numbers_draw(struct marks *marks, const struct box taken[2],
                                 const struct canvas *v, struct error *error) {
    struct ranked *ranked = arrays_allocate(marks->n, sizeof *ranked);
    struct outline *outlines = arrays_allocate(marks->n, sizeof *outlines);
    struct number *numbers = arrays_allocate(marks->n, sizeof *numbers);
    const bool has_memory = ranked && outlines && numbers;
    if (has_memory) {
        const int64_t n = rank(marks, ranked, outlines);
        const struct obstacles obstacles = {
            {v->left, v->top, v->left + v->width, v->top + v->height},
            {taken[0], taken[1]},
            outlines,
            marks->n};
        v->cairo->cairo_set_font_size(v->sheet, FONT);
        measure(marks, ranked, n, v, numbers);
        numbers_place(numbers, n, &obstacles);
        for (int64_t i = 0; i < n; i++) {
            struct mark *mark = &marks->marks[numbers[i].outline];
            if (!numbers[i].is_placed)
                continue;
            mark->kinds |= MARK_NUMBER;
            draw_number(v, &numbers[i], mark);
        }
    }
    free(ranked);
    free(outlines);
    free(numbers);
    return has_memory ? SRCFIND_OK : error_memory(error, "drawing a picture");
}
