/* How a picture is drawn:
 *
 * 1. The means of square blocks of the image make it at most 1720 pixels a side, or fewer if the
 *    caller wants so (block_means.c). This is the one read of the image.
 * 2. Background and rms of the result give grey levels, by asinh (stretch.c). Map and bar are
 *    written to the pixels of the sheet directly, a small map enlarged by whole pixels.
 * 3. cairo draws on these pixels: an ellipse for each source (marks.c), the beam, the scale bar
 *    (angle_bar.c), numbers where there is room (numbers.c), ticks and their labels along two edges
 *    (ticks.c) and beside the bar of grey levels (bar_ticks.c), titles and legend.
 * 4. The sheet is compressed and written (png.c).
 *
 * The bytes do not depend on the number of threads. The sheet is at most 2000 x 2000 pixels of 4
 * bytes. */
#include "output/picture/picture.h"

#include <math.h>
#include <stdlib.h>
#include <threads.h>

#include "common/format_double.h"
#include "common/memory.h"
#include "common/path.h"
#include "common/utf8.h"
#include "measure/jacobian.h"
#include "output/picture/angle_bar.h"
#include "output/picture/bar_ticks.h"
#include "output/picture/block_means.h"
#include "output/picture/canvas.h"
#include "output/picture/legend.h"
#include "output/picture/marks.h"
#include "output/picture/numbers.h"
#include "output/picture/png.h"
#include "output/picture/stretch.h"
#include "output/picture/ticks.h"

/* The sheet, in its pixels: 2000 a side at most. The map is drawn between the margins, enlarged if
 * it has fewer pixels than LEAST_MAP, or half of those that are wanted. */
enum {
    LEFT = 125,
    RIGHT = 150,
    TOP = 74,
    BOTTOM = 56,
    LEAST_MAP = 600,
    LEAST_SHEET = 640,
    LEAST_BAR = 200,
    BAR_GAP = 20,
    BAR_WIDTH = 18,
    TICK = 6,
    GAP = 4,
    FONT = 13,
    LABEL_WIDTH = 100,
    LABEL_HEIGHT = 60,
};

struct sheet {
    const struct result *result;
    struct wcs *wcs; /* NULL if there is none */
    struct block_means means;
    struct stretch stretch;
    int zoom; /* picture pixels along a side of a block */
    int width, height;
    uint32_t *pixels;
    struct canvas canvas;
    unsigned kinds; /* of all marks on the map */
};

/* The libraries that draw texts for cairo need a few MiB, and end the process if these are missing.
 */
static const size_t DRAWING_MEMORY = 1 << 26;

bool picture_is_possible(struct error *error) {
    return cairo_load(error) != NULL;
}

static char version[32];
static once_flag version_once = ONCE_FLAG_INIT;

static void format_version(void) {
    struct error ignored;
    const struct cairo *cairo = cairo_load(&ignored);
    snprintf(version, sizeof version, "cairo %s",
             cairo ? cairo->cairo_version_string() : "(not found)");
}

const char *picture_library(void) {
    call_once(&version_once, format_version);
    return version;
}

/* --- layout --- */

static int larger(int a, int b) {
    return a > b ? a : b;
}

static void lay_out(struct sheet *s, int size) {
    const int longest = larger((int)s->means.width, (int)s->means.height);
    const int least = size / 2 < LEAST_MAP ? size / 2 : LEAST_MAP;
    s->zoom = (least + longest - 1) / longest;
    struct canvas *v = &s->canvas;
    v->left = LEFT;
    v->top = TOP;
    v->width = (double)s->means.width * s->zoom;
    v->height = (double)s->means.height * s->zoom;
    v->scale = (double)s->zoom / (double)s->means.block;
    s->width = larger(LEFT + (int)v->width + RIGHT, LEAST_SHEET);
    s->height = TOP + larger((int)v->height, LEAST_BAR) + BOTTOM;
}

static double bar_left(const struct canvas *v) {
    return v->left + v->width + BAR_GAP;
}

static double bar_height(const struct canvas *v) {
    return fmax(v->height, LEAST_BAR);
}

/* --- the map and the bar of its grey levels --- */

static void fill_map(struct sheet *s) {
    const int width = (int)s->canvas.width, height = (int)s->canvas.height;
    for (int y = 0; y < height; y++) {
        const float *means = s->means.means + (s->means.height - 1 - y / s->zoom) * s->means.width;
        uint32_t *row = s->pixels + (int64_t)(TOP + y) * s->width + LEFT;
        for (int x = 0; x < width; x++)
            row[x] = stretch_colour(&s->stretch, (double)means[x / s->zoom]);
    }
}

static void fill_bar(struct sheet *s) {
    const int height = (int)bar_height(&s->canvas), left = (int)bar_left(&s->canvas);
    for (int y = 0; y < height; y++) {
        const double value = stretch_value(&s->stretch, 1 - (y + 0.5) / height);
        for (int x = 0; x < BAR_WIDTH; x++)
            s->pixels[(int64_t)(TOP + y) * s->width + left + x] =
                stretch_colour(&s->stretch, value);
    }
}

/* Makes the sheet, with map and bar, before cairo draws on it. */
static bool fill_sheet(struct sheet *s) {
    const size_t n = (size_t)s->width * (size_t)s->height;
    s->pixels = malloc(n * sizeof *s->pixels);
    for (size_t i = 0; s->pixels && i < n; i++)
        s->pixels[i] = 0xffffff;
    if (s->pixels) {
        fill_map(s);
        fill_bar(s);
    }
    return s->pixels;
}

/* --- lines and texts --- */

/* The centre of a pixel: thin lines through centres are sharp. */
static double sharp(double at) {
    return floor(at) + 0.5;
}

static void draw_line(const struct canvas *v, double x0, double y0, double x1, double y1) {
    v->cairo->cairo_move_to(v->sheet, sharp(x0), sharp(y0));
    v->cairo->cairo_line_to(v->sheet, sharp(x1), sharp(y1));
    v->cairo->cairo_stroke(v->sheet);
}

static double text_width(const struct canvas *v, const char *text) {
    cairo_text_extents_t extents;
    v->cairo->cairo_text_extents(v->sheet, text, &extents);
    return extents.x_advance;
}

static void draw_text(const struct canvas *v, double x, double baseline, const char *text) {
    v->cairo->cairo_move_to(v->sheet, x, baseline);
    v->cairo->cairo_show_text(v->sheet, text);
}

static void set_black(const struct canvas *v) {
    v->cairo->cairo_set_source_rgb(v->sheet, 0, 0, 0);
}

/* --- coordinates --- */

/* Sets *is_lon: whether longitude changes more than latitude along the lower edge. */
static enum srcfind_status find_lower(const struct sheet *s, bool *is_lon, struct error *error) {
    const struct srcfind_image *image = &s->result->image;
    const double x = (double)(image->width - 1) / 2, y = (double)(image->height - 1) / 2;
    struct jacobian j = {.east_x = 1};
    enum srcfind_status status = SRCFIND_OK;
    if (s->wcs)
        status = jacobian_at(s->wcs, image, x, y, &j, error);
    *is_lon = !(fabs(j.north_x) > fabs(j.east_x));
    return status;
}

static void name_axis(const struct srcfind_image *image, const struct ticks *ticks,
                      const char *pixels, char *name, size_t size) {
    if (ticks->coordinate == COORDINATE_PIXEL)
        snprintf(name, size, "%s (pixels)", pixels);
    else
        snprintf(name, size, "%s (%s)",
                 ticks->coordinate == COORDINATE_LON ? image->lon_name : image->lat_name,
                 image->frame);
}

/* The part of an edge that the last label covers. */
struct taken {
    double from, to;
};

static const struct taken nothing_taken = {HUGE_VAL, -HUGE_VAL};

/* Takes the part of an edge around a point for a label. False if the last label covers some of it.
 */
static bool take(struct taken *taken, double at, double size) {
    const double from = at - size / 2, to = at + size / 2;
    if (from < taken->to && to > taken->from)
        return false;
    *taken = (struct taken){from, to};
    return true;
}

/* Ticks below the map. Labels do not reach the bar, where that is higher than the map, and the name
 * of the axis not the unit below the bar. */
static void draw_lower(const struct sheet *s, const struct ticks *ticks) {
    const struct canvas *v = &s->canvas;
    const double bottom = v->top + v->height, beside_bar = bar_left(v) - GAP;
    const double most = bar_height(v) > v->height ? beside_bar : s->width;
    struct taken taken = nothing_taken;
    char name[2 * SRCFIND_TEXT];
    for (int i = 0; i < ticks->n; i++) {
        const char *label = ticks->ticks[i].label;
        const double x = canvas_x(v, ticks->ticks[i].at), width = text_width(v, label);
        draw_line(v, x, bottom, x, bottom + TICK);
        if (x + width / 2 <= most && take(&taken, x, width + FONT))
            draw_text(v, x - width / 2, bottom + TICK + GAP + FONT, label);
    }
    name_axis(&s->result->image, ticks, "X", name, sizeof name);
    const double width = text_width(v, name);
    draw_text(v, fmin(v->left + (v->width - width) / 2, beside_bar - width), bottom + BOTTOM - GAP,
              name);
}

/* Sets the largest font in which all labels fit between the name of the left axis and the map. */
static void fit_left_labels(const struct canvas *v, const struct ticks *ticks) {
    enum { LEAST_FONT = 6, ROOM = LEFT - TICK - 3 * GAP - FONT };
    for (int size = FONT; size >= LEAST_FONT; size--) {
        double widest = 0;
        v->cairo->cairo_set_font_size(v->sheet, size);
        for (int i = 0; i < ticks->n; i++)
            widest = fmax(widest, text_width(v, ticks->ticks[i].label));
        if (widest <= ROOM)
            return;
    }
}

/* Ticks at the left of the map. */
static void draw_left(const struct sheet *s, const struct ticks *ticks) {
    const struct canvas *v = &s->canvas;
    struct taken taken = nothing_taken;
    char name[2 * SRCFIND_TEXT];
    fit_left_labels(v, ticks);
    for (int i = 0; i < ticks->n; i++) {
        const char *label = ticks->ticks[i].label;
        const double y = canvas_y(v, ticks->ticks[i].at);
        draw_line(v, v->left - 1, y, v->left - 1 - TICK, y);
        if (take(&taken, y, FONT))
            draw_text(v, v->left - TICK - GAP - text_width(v, label), y + FONT / 3.0, label);
    }
    v->cairo->cairo_set_font_size(v->sheet, FONT);
    name_axis(&s->result->image, ticks, "Y", name, sizeof name);
    v->cairo->cairo_save(v->sheet);
    v->cairo->cairo_translate(v->sheet, FONT + GAP, v->top + (v->height + text_width(v, name)) / 2);
    v->cairo->cairo_rotate(v->sheet, -M_PI / 2);
    draw_text(v, 0, 0, name);
    v->cairo->cairo_restore(v->sheet);
}

static enum srcfind_status draw_coordinates(const struct sheet *s, struct error *error) {
    const struct srcfind_image *image = &s->result->image;
    const struct edge lower = {false, image->width}, left = {true, image->height};
    struct ticks ticks;
    bool is_lon = true;
    enum srcfind_status status = find_lower(s, &is_lon, error);
    if (status == SRCFIND_OK)
        status = ticks_find(s->wcs, image, &lower, is_lon ? COORDINATE_LON : COORDINATE_LAT,
                            larger((int)s->canvas.width / LABEL_WIDTH, 2), &ticks, error);
    if (status != SRCFIND_OK)
        return status;
    draw_lower(s, &ticks);
    status = ticks_find(s->wcs, image, &left, is_lon ? COORDINATE_LAT : COORDINATE_LON,
                        larger((int)s->canvas.height / LABEL_HEIGHT, 2), &ticks, error);
    if (status == SRCFIND_OK)
        draw_left(s, &ticks);
    return status;
}

/* --- around the map --- */

static void draw_frame(const struct canvas *v) {
    v->cairo->cairo_rectangle(v->sheet, v->left - 0.5, v->top - 0.5, v->width + 1, v->height + 1);
    v->cairo->cairo_stroke(v->sheet);
}

/* Copies a text, with ? for bytes that are not UTF-8: cairo would stop drawing at them. */
static void copy_utf8(const char *text, char *copy, size_t size) {
    size_t n = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at && n + 4 < size;) {
        const int length = *at < ' ' ? 0 : utf8_length(at);
        if (length == 0)
            copy[n++] = '?';
        for (int i = 0; i < length; i++)
            copy[n++] = (char)at[i];
        at += length > 0 ? length : 1;
    }
    copy[n] = '\0';
}

/* Draws the frame of the bar, round values beside it, and their unit below. */
static void draw_bar(const struct sheet *s) {
    const struct canvas *v = &s->canvas;
    const double left = bar_left(v), height = bar_height(v);
    const double gap = fmax(height / 12, 3 * FONT) / height;
    struct bar_ticks ticks;
    char unit[BAR_UNIT];
    bar_ticks_find(&ticks, &s->stretch, s->result->image.unit, gap);
    v->cairo->cairo_rectangle(v->sheet, left - 0.5, v->top - 0.5, BAR_WIDTH + 1, height + 1);
    v->cairo->cairo_stroke(v->sheet);
    for (int i = 0; i < ticks.n; i++) {
        const double y = v->top + height * (1 - ticks.ticks[i].level);
        draw_line(v, left + BAR_WIDTH, y, left + BAR_WIDTH + TICK, y);
        draw_text(v, left + BAR_WIDTH + TICK + GAP, y + FONT / 3.0, ticks.ticks[i].label);
    }
    copy_utf8(ticks.unit, unit, sizeof unit);
    draw_text(v, fmin(left, s->width - GAP - text_width(v, unit)),
              v->top + height + TICK + 2 * (GAP + FONT), unit);
}

/* The baseline of a line of text above the map; 0 is the lowest one. */
static double title_baseline(const struct canvas *v, int line) {
    return v->top - GAP - FONT / 2.0 - line * 1.5 * FONT;
}

/* Writes how many sources there are. */
static void write_count(const struct result *r, char *text, size_t size) {
    char threshold[FORMAT_TEXT];
    format_double(r->options.threshold, threshold);
    int n = snprintf(text, size, "%lld source%s above %s rms", (long long)r->sources.n,
                     r->sources.n == 1 ? "" : "s", threshold);
    if (*r->options.at)
        n = snprintf(text, size, "%lld position%s of a catalogue", (long long)r->sources.n,
                     r->sources.n == 1 ? "" : "s");
    else if (r->background.empty)
        n = snprintf(text, size, "no source: there is no noise to measure");
    if (r->sources.n_negative > 0)
        n += snprintf(text + n, size - (size_t)n, ", %lld of them negative",
                      (long long)r->sources.n_negative);
    if (r->sources.n > MOST_MARKS)
        snprintf(text + n, size - (size_t)n, "; the %d of highest SNR are marked", MOST_MARKS);
}

/* Writes the lines above the map: name, number of sources, and what the ellipses show. If that
 * needs two lines, name and number share one where it has room for both; else its font is smaller.
 */
static void draw_titles(const struct sheet *s) {
    const struct canvas *v = &s->canvas;
    const double room = s->width - v->left - GAP, gap = 2 * FONT;
    char name[512], count[512];
    struct legend legend;
    const char *path = s->result->image.path;
    copy_utf8(path + path_directory(path), name, sizeof name);
    write_count(s->result, count, sizeof count);
    legend_make(&legend, s->kinds, &s->result->options.scales);
    const double width = text_width(v, name) + gap;
    const bool is_shared =
        width + text_width(v, count) <= room && legend_lines(&legend, v, room, FONT) > 1;
    const struct legend_place place = {v->left, title_baseline(v, 0), 1.5 * FONT,
                                       room,    is_shared ? 2 : 1,    FONT};
    legend_draw(&legend, v, &place);
    v->cairo->cairo_set_font_size(v->sheet, FONT);
    draw_text(v, v->left, title_baseline(v, 2), name);
    draw_text(v, is_shared ? v->left + width : v->left, title_baseline(v, is_shared ? 2 : 1),
              count);
}

/* --- the whole --- */

static enum srcfind_status draw_made_marks(struct sheet *s, struct marks *marks,
                                           struct error *error) {
    const struct canvas *v = &s->canvas;
    struct beam_mark beam;
    struct angle_bar bar;
    enum srcfind_status status = marks_make_beam(&beam, marks, v, s->wcs, &s->result->image, error);
    if (status == SRCFIND_OK)
        status = angle_bar_make(&bar, marks, &beam, v, s->wcs, error);
    if (status != SRCFIND_OK)
        return status;
    marks_draw(marks, v);
    marks_draw_beam(&beam, v);
    angle_bar_draw(&bar, v);
    const struct box taken[] = {beam.box, bar.box};
    status = numbers_draw(marks, taken, v, error);
    for (int64_t i = 0; i < marks->n; i++)
        s->kinds |= marks->marks[i].kinds;
    return status;
}

static enum srcfind_status draw_marks(struct sheet *s, struct error *error) {
    const struct canvas *v = &s->canvas;
    struct marks marks;
    v->cairo->cairo_save(v->sheet);
    v->cairo->cairo_rectangle(v->sheet, v->left, v->top, v->width, v->height);
    v->cairo->cairo_clip(v->sheet);
    enum srcfind_status status = marks_make(&marks, v, s->wcs, s->result, error);
    if (status == SRCFIND_OK)
        status = draw_made_marks(s, &marks, error);
    marks_clear(&marks);
    v->cairo->cairo_restore(v->sheet);
    return status;
}

static enum srcfind_status draw(struct sheet *s, struct error *error) {
    const struct canvas *v = &s->canvas;
    const struct cairo *c = v->cairo;
    c->cairo_select_font_face(v->sheet, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                              CAIRO_FONT_WEIGHT_NORMAL);
    enum srcfind_status status = draw_marks(s, error);
    c->cairo_set_line_width(v->sheet, 1);
    c->cairo_set_font_size(v->sheet, FONT);
    set_black(v);
    if (status == SRCFIND_OK)
        status = draw_coordinates(s, error);
    draw_frame(v);
    draw_bar(s);
    draw_titles(s);
    if (status == SRCFIND_OK && c->cairo_status(v->sheet) != CAIRO_STATUS_SUCCESS)
        status = error_set(error, SRCFIND_ERROR_OUTPUT, "the picture cannot be drawn: %s",
                           c->cairo_status_to_string(c->cairo_status(v->sheet)));
    return status;
}

/* Draws with cairo: marks on the map, and all around it. */
static enum srcfind_status draw_on_sheet(struct sheet *s, struct error *error) {
    const struct cairo *c = s->canvas.cairo;
    if (!memory_is_there(DRAWING_MEMORY))
        return error_memory(error, "drawing a picture");
    const int stride = s->width * (int)sizeof *s->pixels;
    cairo_surface_t *surface = c->cairo_image_surface_create_for_data(
        (unsigned char *)s->pixels, CAIRO_FORMAT_RGB24, s->width, s->height, stride);
    s->canvas.sheet = c->cairo_create(surface);
    const enum srcfind_status status = draw(s, error);
    c->cairo_surface_flush(surface);
    c->cairo_destroy(s->canvas.sheet);
    c->cairo_surface_destroy(surface);
    return status;
}

enum srcfind_status picture_write(const struct image *image, const struct result *result, int size,
                                  struct threads *threads, FILE *file, const char *name,
                                  struct error *error) {
    struct sheet s = {.result = result, .wcs = image->wcs};
    s.canvas.cairo = cairo_load(error);
    if (!s.canvas.cairo)
        return SRCFIND_ERROR_OUTPUT;
    s.stretch = stretch_of_noise(result);
    enum srcfind_status status = block_means_make(&s.means, &image->source, size, s.stretch.zero,
                                                  s.stretch.unit, threads, error);
    if (status == SRCFIND_OK) {
        stretch_to(&s.stretch, &s.means);
        lay_out(&s, size);
        status =
            fill_sheet(&s) ? draw_on_sheet(&s, error) : error_memory(error, "drawing a picture");
    }
    if (status == SRCFIND_OK)
        status = png_write(s.pixels, s.width, s.height, file, name, error);
    free(s.pixels);
    block_means_clear(&s.means);
    return status;
}
