/* How regions of CASA are read (CASA Docs, Region File Format):
 *
 * - A line is a shape with lists in brackets, and keywords behind it: `circle [[x, y], r],
 *   coord=J2000`. Keywords of a line with `global` hold for all lines below.
 * - Each number has a unit, or is an angle in sexagesimal notation: hours of RA, and degrees with
 *   points, as -45.10.20.5, of declination. Pixels are from 0.
 * - A line with + adds its pixels, also those that were taken out before; one with - takes them
 * out.
 * - Keywords other than coord say nothing about the pixels of a plane. Lines with `ann`, texts,
 *   symbols, lines and vectors are annotations, which have no pixels.
 *
 * A box by corners has its sides between the four corners. */
#include "input/regions/casa.h"

#include <string.h>

#include "common/ascii.h"

enum casa_shape {
    CASA_CIRCLE,
    CASA_ANNULUS,
    CASA_ELLIPSE,
    CASA_BOX,
    CASA_CENTERBOX,
    CASA_ROTBOX,
    CASA_POLY,
    CASA_SHAPES
};

static const struct {
    const char *name;
    enum region_shape shape;
} shapes[CASA_SHAPES] = {
    [CASA_CIRCLE] = {"circle", REGION_CIRCLE},    [CASA_ANNULUS] = {"annulus", REGION_ANNULUS},
    [CASA_ELLIPSE] = {"ellipse", REGION_ELLIPSE}, [CASA_BOX] = {"box", REGION_POLYGON},
    [CASA_CENTERBOX] = {"centerbox", REGION_BOX}, [CASA_ROTBOX] = {"rotbox", REGION_BOX},
    [CASA_POLY] = {"poly", REGION_POLYGON}};

static const struct {
    const char *name;
    enum sky_frame frame;
} systems[] = {
    {"J2000", SKY_FK5}, {"B1950", SKY_FK4}, {"ICRS", SKY_ICRS}, {"GALACTIC", SKY_GALACTIC}};
enum { SYSTEMS = sizeof systems / sizeof *systems };

/* A line that is read: what is left of it. */
struct reading {
    const struct region_text *text;
    struct region_word all, left;
    bool has_frame;
    enum sky_frame frame;
    int n_pixels, n_angles; /* coordinates in pixels, and on the sky */
};

static enum casa_shape find_shape(struct region_word name) {
    int i = 0;
    while (i < CASA_SHAPES && !region_word_is(name, shapes[i].name))
        i++;
    return (enum casa_shape)i;
}

/* Whether a line with this name has no pixels. */
static bool is_annotation(struct region_word name) {
    static const char *const names[] = {"ann", "line", "vector", "text", "symbol"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (region_word_is(name, names[i]))
            return true;
    return false;
}

bool casa_is_line(struct region_word line) {
    if (!region_word_take_char(&line, '-'))
        region_word_take_char(&line, '+');
    const struct region_word name = region_word_take(&line);
    return (find_shape(name) < CASA_SHAPES || is_annotation(name)) && line.length > 0 &&
           (*line.at == '[' || region_word_is(name, "ann"));
}

/* --- words --- */

static enum srcfind_status expect(struct reading *r, char c) {
    return region_word_take_char(&r->left, c)
               ? SRCFIND_OK
               : region_text_refuse(r->text, r->left.length > 0 ? r->left : r->all,
                                    "has no %c where one is needed", c);
}

static struct region_word next_word(struct reading *r) {
    size_t n = 0;
    while (n < r->left.length && !strchr("[], \t", r->left.at[n]))
        n++;
    const struct region_word word = {r->left.at, n};
    r->left = region_word_trimmed((struct region_word){r->left.at + n, r->left.length - n});
    return word;
}

/* Reads an angle whose parts are divided by points: -45.10.20.5. False if it is none. */
static bool read_points(struct region_word word, const struct region_text *text, double *degrees) {
    char copy[64];
    int n_points = 0;
    if (word.length >= sizeof copy)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        n_points += word.at[i] == '.';
        copy[i] = word.at[i] == '.' && n_points <= 2 ? ':' : word.at[i];
    }
    struct error ignored;
    struct region_text quiet = *text;
    quiet.error = &ignored;
    return n_points >= 2 && region_text_angle(&quiet, (struct region_word){copy, word.length}, true,
                                              false, degrees) == SRCFIND_OK;
}

static enum srcfind_status read_coordinate(struct reading *r, bool is_latitude, double *value) {
    const struct region_word word = next_word(r);
    struct region_word unit;
    struct error ignored;
    struct region_text quiet = *r->text;
    quiet.error = &ignored;
    const bool is_number = region_text_number(&quiet, word, value, &unit) == SRCFIND_OK;
    if (is_number && (region_word_is(unit, "pix") || region_word_is(unit, "pixel"))) {
        r->n_pixels++;
        return SRCFIND_OK;
    }
    r->n_angles++;
    if (is_latitude && read_points(word, r->text, value))
        return SRCFIND_OK;
    if (is_number && unit.length == 0)
        return region_text_refuse(r->text, word, "has no unit: deg, rad, arcmin, arcsec or pix");
    const bool in_hours = !(r->has_frame && r->frame == SKY_GALACTIC);
    return region_text_angle(r->text, word, is_latitude, in_hours, value);
}

static enum srcfind_status read_point(struct reading *r, struct region_point *point) {
    enum srcfind_status status = expect(r, '[');
    if (status == SRCFIND_OK)
        status = read_coordinate(r, false, &point->x);
    if (status == SRCFIND_OK)
        status = expect(r, ',');
    if (status == SRCFIND_OK)
        status = read_coordinate(r, true, &point->y);
    return status == SRCFIND_OK ? expect(r, ']') : status;
}

static enum srcfind_status read_size(struct reading *r, struct region *region, bool is_first,
                                     double *value) {
    const struct region_word word = next_word(r);
    struct region_word unit;
    enum srcfind_status status = region_text_number(r->text, word, value, &unit);
    const bool on_sky = !(region_word_is(unit, "pix") || region_word_is(unit, "pixel"));
    if (status == SRCFIND_OK && unit.length == 0)
        status = region_text_refuse(r->text, word, "has no unit: deg, arcmin, arcsec, rad or pix");
    if (status == SRCFIND_OK && on_sky)
        status = region_text_angle(r->text, word, false, false, value);
    if (status == SRCFIND_OK && !is_first && on_sky != region->size_on_sky)
        status = region_text_refuse(r->text, word, "is not in the unit of the size before");
    region->size_on_sky = on_sky;
    return status;
}

static enum srcfind_status read_sizes(struct reading *r, struct region *region) {
    enum srcfind_status status = expect(r, '[');
    if (status == SRCFIND_OK)
        status = read_size(r, region, true, &region->size[0]);
    if (status == SRCFIND_OK)
        status = expect(r, ',');
    if (status == SRCFIND_OK)
        status = read_size(r, region, false, &region->size[1]);
    return status == SRCFIND_OK ? expect(r, ']') : status;
}

/* --- shapes --- */

static enum srcfind_status add_corner(struct reading *r, struct regions *regions,
                                      struct region *region, struct region_point point) {
    region->n_points++;
    return regions_add_point(regions, point) ? SRCFIND_OK
                                             : error_memory(r->text->error, "reading regions");
}

static enum srcfind_status read_polygon(struct reading *r, struct regions *regions,
                                        struct region *region) {
    enum srcfind_status status = SRCFIND_OK;
    do {
        struct region_point point;
        status = read_point(r, &point);
        if (status == SRCFIND_OK)
            status = add_corner(r, regions, region, point);
    } while (status == SRCFIND_OK && region_word_take_char(&r->left, ','));
    return status;
}

static enum srcfind_status read_box(struct reading *r, struct regions *regions,
                                    struct region *region) {
    struct region_point a = {0}, b = {0};
    enum srcfind_status status = read_point(r, &a);
    if (status == SRCFIND_OK)
        status = expect(r, ',');
    if (status == SRCFIND_OK)
        status = read_point(r, &b);
    const struct region_point corners[] = {a, {b.x, a.y}, b, {a.x, b.y}};
    for (int i = 0; status == SRCFIND_OK && i < 4; i++)
        status = add_corner(r, regions, region, corners[i]);
    return status;
}

/* Reads what stands behind the centre: a radius, or two sizes, and an angle. */
static enum srcfind_status read_rest(struct reading *r, enum casa_shape shape,
                                     struct region *region) {
    const bool has_angle = shape == CASA_ELLIPSE || shape == CASA_ROTBOX;
    enum srcfind_status status = expect(r, ',');
    if (status == SRCFIND_OK)
        status = shape == CASA_CIRCLE ? read_size(r, region, true, &region->size[0])
                                      : read_sizes(r, region);
    if (status == SRCFIND_OK && has_angle)
        status = expect(r, ',');
    if (status == SRCFIND_OK && has_angle)
        status = region_text_angle(r->text, next_word(r), false, false, &region->angle);
    if (shape == CASA_ELLIPSE)
        region->angle += 90; /* the position angle of the first axis, from north */
    for (int i = 0; region->shape == REGION_BOX && i < 2; i++)
        region->size[i] /= 2;
    return status;
}

static enum srcfind_status read_shape(struct reading *r, enum casa_shape shape,
                                      struct regions *regions, struct region *region) {
    enum srcfind_status status = expect(r, '[');
    region->first_point = regions->n_points;
    if (status == SRCFIND_OK && shape == CASA_POLY) {
        status = read_polygon(r, regions, region);
    } else if (status == SRCFIND_OK && shape == CASA_BOX) {
        status = read_box(r, regions, region);
    } else {
        if (status == SRCFIND_OK)
            status = read_point(r, &region->centre);
        if (status == SRCFIND_OK)
            status = read_rest(r, shape, region);
    }
    return status == SRCFIND_OK ? expect(r, ']') : status;
}

/* --- keywords --- */

/* Takes the value of a keyword: a list in brackets, a text in quotes, or a word. */
static struct region_word take_value(struct reading *r) {
    const char *open = r->left.length > 0 ? strchr("['\"", *r->left.at) : NULL;
    const char end = open && *open == '[' ? ']' : open ? *open : ',';
    size_t n = open != NULL;
    while (n < r->left.length && r->left.at[n] != end)
        n++;
    n += open && n < r->left.length;
    const struct region_word value = region_word_trimmed((struct region_word){r->left.at, n});
    r->left = region_word_trimmed((struct region_word){r->left.at + n, r->left.length - n});
    return value;
}

static enum srcfind_status set_frame(struct reading *r, struct region_word value) {
    int i = 0;
    while (i < SYSTEMS && !region_word_is(value, systems[i].name))
        i++;
    if (i == SYSTEMS)
        return region_text_refuse(r->text, value,
                                  "is no frame that srcfind reads: J2000, B1950, ICRS, GALACTIC");
    r->has_frame = true;
    r->frame = systems[i].frame;
    return SRCFIND_OK;
}

/* Reads keywords up to the end of the line. */
static enum srcfind_status read_keywords(struct reading *r) {
    enum srcfind_status status = SRCFIND_OK;
    while (status == SRCFIND_OK && r->left.length > 0) {
        const struct region_word begin = r->left, name = region_word_take(&r->left);
        if (name.length == 0 || !region_word_take_char(&r->left, '='))
            return region_text_refuse(r->text, begin, "is no keyword: as in coord=J2000");
        const struct region_word value = take_value(r);
        if (region_word_is(name, "coord"))
            status = set_frame(r, value);
        if (status == SRCFIND_OK && r->left.length > 0)
            status = expect(r, ',');
    }
    return status;
}

/* Reads the keywords before the shape is read, since hours are of some frames only. r->left is that
 * of the shape. */
static enum srcfind_status read_own_keywords(struct reading *r) {
    struct reading behind = *r;
    size_t n = 0;
    int depth = 0;
    while (n < r->left.length && (n == 0 || depth > 0)) {
        depth += (r->left.at[n] == '[') - (r->left.at[n] == ']');
        n++;
    }
    behind.left = region_word_trimmed((struct region_word){r->left.at + n, r->left.length - n});
    if (depth > 0)
        return region_text_refuse(r->text, r->all, "has no closing bracket");
    if (behind.left.length > 0) {
        const enum srcfind_status status = expect(&behind, ',');
        if (status != SRCFIND_OK)
            return status;
    }
    const enum srcfind_status status = read_keywords(&behind);
    r->has_frame = behind.has_frame;
    r->frame = behind.frame;
    r->left.length = n;
    return status;
}

/* --- lines --- */

/* Whether positions are on the sky, in a frame that is known, or in pixels. */
static enum srcfind_status set_system(const struct reading *r, struct region *region) {
    if (r->n_pixels > 0 && r->n_angles > 0)
        return region_text_refuse(r->text, r->all, "has pixels and angles in one position");
    region->system = r->n_pixels > 0 ? REGION_IMAGE : REGION_SKY;
    region->frame = r->frame;
    return region->system == REGION_IMAGE || r->has_frame
               ? SRCFIND_OK
               : region_text_refuse(r->text, r->all, "names no frame: add coord=J2000");
}

static enum srcfind_status add_shape(struct reading *r, enum casa_shape shape, bool excludes,
                                     struct regions *regions) {
    struct region region = {.shape = shapes[shape].shape, .excludes = excludes};
    enum srcfind_status status = read_own_keywords(r);
    if (status == SRCFIND_OK)
        status = read_shape(r, shape, regions, &region);
    if (status == SRCFIND_OK)
        status = set_system(r, &region);
    if (status == SRCFIND_OK)
        status = region_text_check(r->text, r->all, &region);
    return status != SRCFIND_OK || regions_add(regions, &region)
               ? status
               : error_memory(r->text->error, "reading regions");
}

static enum srcfind_status read_line(struct reading *global, struct region_word line,
                                     struct regions *regions) {
    struct reading r = *global;
    r.all = r.left = line;
    const bool excludes = region_word_take_char(&r.left, '-');
    if (!excludes)
        region_word_take_char(&r.left, '+');
    const struct region_word name = region_word_take(&r.left);
    const enum casa_shape shape = find_shape(name);
    if (region_word_is(name, "global")) {
        const enum srcfind_status status = read_keywords(&r);
        global->has_frame = r.has_frame;
        global->frame = r.frame;
        return status;
    }
    if (is_annotation(name))
        return SRCFIND_OK;
    if (shape == CASA_SHAPES)
        return region_text_refuse(r.text, name.length > 0 ? name : line,
                                  "is no shape of CASA that srcfind reads: circle, annulus, "
                                  "ellipse, box, centerbox, rotbox, poly");
    return add_shape(&r, shape, excludes, regions);
}

enum srcfind_status casa_read(struct region_text *text, struct regions *regions) {
    struct reading global = {.text = text};
    struct region_word line;
    enum srcfind_status status = SRCFIND_OK;
    while (status == SRCFIND_OK && region_text_line(text, &line))
        if (line.length > 0 && *line.at != '#')
            status = read_line(&global, line, regions);
    return status;
}
