#include "output/picture/legend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/format_double.h"

/* --- items --- */

static const struct {
    unsigned kind;
    const char *text;
} shapes[] = {
    {MARK_FWHM, "twice the FWHM of sources"},
    {MARK_MOMENTS, "twice the FWHM of sources by moments"},
    {MARK_BEAM, "twice the beam, for sources without a shape"},
    {MARK_PIXELS, "around the pixels of sources"},
};

static struct legend_item *add(struct legend *legend, const struct colour *colour,
                               const char *text) {
    struct legend_item *item = &legend->items[legend->n++];
    *item = (struct legend_item){.colour = colour};
    snprintf(item->text, sizeof item->text, "%s", text);
    return item;
}

/* Adds the scales that have one of the colours: two have the same where there are more than three.
 */
static void add_scales(struct legend *legend, const struct scales_option *scales) {
    for (int k = 0; k < MARK_SCALE_COLOURS && k < scales->n; k++) {
        struct legend_item *item = add(legend, &marks_of_scales[k], "scale ");
        for (int i = k; i < scales->n; i += MARK_SCALE_COLOURS) {
            char number[FORMAT_TEXT];
            const size_t length = strlen(item->text);
            format_double(scales->fwhm[i], number);
            snprintf(item->text + length, sizeof item->text - length, "%s%.12s",
                     i > k ? " or " : "", number);
        }
    }
}

void legend_make(struct legend *legend, unsigned kinds, const struct scales_option *scales) {
    *legend = (struct legend){0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (kinds & shapes[i].kind)
            add(legend, NULL, shapes[i].text);
    if (kinds & MARK_GAUSSIAN)
        add(legend, &marks_red, "Gaussians of a source, FWHM")->is_thin = true;
    if (kinds & MARK_NOT_FITTED)
        add(legend, &marks_red, "not fitted")->is_dashed = true;
    if (kinds & MARK_SCALE) {
        add(legend, &marks_red, "not smoothed");
        add_scales(legend, scales);
    }
    if (kinds & MARK_NEGATIVE)
        add(legend, &marks_blue, "negative");
    if (kinds & MARK_NUMBER)
        add(legend, NULL, "numbers: Source_id");
}

/* --- drawing --- */

static const char intro[] = "ellipses: ";

enum { SAMPLE = 16, SAMPLE_HEIGHT = 8, LEAST_FONT = 6 };

static double advance(const struct canvas *v, const char *text) {
    cairo_text_extents_t extents;
    v->cairo->cairo_text_extents(v->sheet, text, &extents);
    return extents.x_advance;
}

/* The room between two items. */
static double gap_of(const struct canvas *v) {
    return advance(v, "mi");
}

static double width_of(const struct legend_item *item, const struct canvas *v) {
    return (item->colour ? SAMPLE + 4 : 0) + advance(v, item->text);
}

/* Whether an item does not fit into its line, which has other items from `left` to x. */
static bool begins_line(const struct legend_item *item, const struct canvas *v, double left,
                        double x, double room) {
    return x > left && x + width_of(item, v) > left + room;
}

/* The number of lines in the font that is set. */
static int count_lines(const struct legend *legend, const struct canvas *v, double room) {
    double x = advance(v, intro);
    int lines = 1;
    for (int i = 0; i < legend->n; i++) {
        if (begins_line(&legend->items[i], v, 0, x, room)) {
            lines++;
            x = 0;
        }
        x += width_of(&legend->items[i], v) + gap_of(v);
    }
    return lines;
}

int legend_lines(const struct legend *legend, const struct canvas *v, double room, int font) {
    v->cairo->cairo_set_font_size(v->sheet, font);
    return count_lines(legend, v, room);
}

/* Draws a text, and returns where it ends. */
static double draw_text(const struct canvas *v, double x, double baseline, const char *text) {
    v->cairo->cairo_set_source_rgb(v->sheet, 0, 0, 0);
    v->cairo->cairo_move_to(v->sheet, x, baseline);
    v->cairo->cairo_show_text(v->sheet, text);
    return x + advance(v, text);
}

static void draw_sample(const struct canvas *v, const struct legend_item *item, double x,
                        double baseline) {
    static const double dashes[] = {4, 3};
    const struct cairo *c = v->cairo;
    c->cairo_save(v->sheet);
    c->cairo_translate(v->sheet, x + SAMPLE / 2.0, baseline - SAMPLE_HEIGHT / 2.0);
    c->cairo_scale(v->sheet, SAMPLE / 2.0, SAMPLE_HEIGHT / 2.0);
    c->cairo_move_to(v->sheet, 1, 0); /* else a line would lead here from the text */
    c->cairo_arc(v->sheet, 0, 0, 1, 0, 2 * M_PI);
    c->cairo_restore(v->sheet);
    c->cairo_set_line_width(v->sheet, item->is_thin ? 0.6 : 1.5);
    c->cairo_set_dash(v->sheet, dashes, item->is_dashed ? 2 : 0, 0);
    c->cairo_set_source_rgb(v->sheet, item->colour->red, item->colour->green, item->colour->blue);
    c->cairo_stroke(v->sheet);
    c->cairo_set_dash(v->sheet, dashes, 0, 0);
}

void legend_draw(const struct legend *legend, const struct canvas *v,
                 const struct legend_place *place) {
    if (legend->n == 0)
        return;
    int lines = legend_lines(legend, v, place->room, place->font);
    for (int size = place->font - 1; lines > place->lines && size >= LEAST_FONT; size--)
        lines = legend_lines(legend, v, place->room, size); /* widths do not scale with it */
    double baseline =
        place->baseline - (lines < place->lines ? lines - 1 : place->lines - 1) * place->leading;
    double x = draw_text(v, place->x, baseline, intro);
    for (int i = 0; i < legend->n; i++) {
        const struct legend_item *item = &legend->items[i];
        if (begins_line(item, v, place->x, x, place->room)) {
            x = place->x;
            baseline += place->leading;
        }
        if (item->colour)
            draw_sample(v, item, x, baseline);
        x = draw_text(v, x + (item->colour ? SAMPLE + 4 : 0), baseline, item->text) + gap_of(v);
    }
}
