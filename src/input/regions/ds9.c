/* How regions of DS9 are read (https://ds9.si.edu/doc/ref/region.html):
 *
 * - A command is a frame, which holds for all shapes behind it, or a shape with its numbers, with
 *   or without parentheses. Commands are divided by ends of lines and semicolons. What follows a #
 *   is a comment, or a property that says nothing about pixels; so is a line with `global`.
 * - Numbers without a unit are degrees where the frame is on the sky, else pixels, from 1.
 * - Without any frame positions are physical, as for DS9.
 *
 * What has no area, and shapes of panels, are refused: what they mean for a search is not known. */
#include "input/regions/ds9.h"

#include <math.h>
#include <string.h>

#include "common/ascii.h"

/* The frame of the shapes that follow. */
struct system {
    enum region_system system;
    enum sky_frame frame;
};

static const struct {
    const char *name;
    struct system system;
} systems[] = {{"fk5", {REGION_SKY, SKY_FK5}},      {"j2000", {REGION_SKY, SKY_FK5}},
               {"fk4", {REGION_SKY, SKY_FK4}},      {"b1950", {REGION_SKY, SKY_FK4}},
               {"icrs", {REGION_SKY, SKY_ICRS}},    {"galactic", {REGION_SKY, SKY_GALACTIC}},
               {"image", {REGION_IMAGE, SKY_ICRS}}, {"physical", {REGION_PHYSICAL, SKY_ICRS}}};

static const struct {
    const char *name;
    enum region_shape shape;
    int least, most; /* words; most 0: any number */
} shapes[] = {{"circle", REGION_CIRCLE, 3, 3},
              {"ellipse", REGION_ELLIPSE, 4, 5},
              {"box", REGION_BOX, 4, 5},
              {"polygon", REGION_POLYGON, 6, 0},
              {"annulus", REGION_ANNULUS, 4, 0}};
enum { SYSTEMS = sizeof systems / sizeof *systems, SHAPES = sizeof shapes / sizeof *shapes };

static int find_shape(struct region_word name) {
    int i = 0;
    while (i < SHAPES && !region_word_is(name, shapes[i].name))
        i++;
    return i;
}

static const struct system *find_system(struct region_word name) {
    for (int i = 0; i < SYSTEMS; i++)
        if (region_word_is(name, systems[i].name))
            return &systems[i].system;
    return NULL;
}

static bool is_sign(char c) {
    return c == '-' || c == '+' || c == '!';
}

bool ds9_is_line(struct region_word line) {
    if (line.length > 0 && is_sign(*line.at))
        region_word_take_char(&line, *line.at);
    const struct region_word name = region_word_take(&line);
    return find_system(name) || find_shape(name) < SHAPES || region_word_is(name, "global");
}

/* --- numbers --- */

/* A shape that is read: the words that are left of it. */
struct reading {
    const struct region_text *text;
    struct system system;
    struct region_word all, left;
    int n; /* words that were read */
};

/* Takes the next word, up to a comma or a blank. */
static struct region_word next_word(struct reading *r) {
    size_t n = 0;
    while (n < r->left.length && !strchr(", \t", r->left.at[n]))
        n++;
    const struct region_word word = {r->left.at, n};
    r->left = region_word_trimmed((struct region_word){r->left.at + n, r->left.length - n});
    region_word_take_char(&r->left, ',');
    r->n++;
    return word;
}

/* Reads a coordinate in pixels. Those of images are from 1. */
static enum srcfind_status read_pixel(struct reading *r, double *value) {
    const struct region_word word = next_word(r);
    const char *own = r->system.system == REGION_IMAGE ? "i" : "p";
    struct region_word unit;
    const enum srcfind_status status = region_text_number(r->text, word, value, &unit);
    if (status == SRCFIND_OK && unit.length > 0 && !region_word_is(unit, own))
        return region_text_refuse(r->text, word, "is no pixel: name its frame before the shape");
    *value -= r->system.system == REGION_IMAGE ? 1 : 0;
    return status;
}

static enum srcfind_status read_point(struct reading *r, struct region_point *point) {
    if (r->system.system != REGION_SKY) {
        const enum srcfind_status status = read_pixel(r, &point->x);
        return status == SRCFIND_OK ? read_pixel(r, &point->y) : status;
    }
    const bool in_hours = r->system.frame != SKY_GALACTIC;
    const enum srcfind_status status =
        region_text_angle(r->text, next_word(r), false, in_hours, &point->x);
    return status == SRCFIND_OK ? region_text_angle(r->text, next_word(r), true, false, &point->y)
                                : status;
}

/* Reads a size in degrees or pixels: all sizes of a shape are in the same. */
static enum srcfind_status read_size(struct reading *r, struct region *region, bool is_first,
                                     double *value) {
    const struct region_word word = next_word(r);
    struct region_word unit;
    enum srcfind_status status = region_text_number(r->text, word, value, &unit);
    if (status != SRCFIND_OK)
        return status;
    const bool in_pixels = region_word_is(unit, "i") || region_word_is(unit, "p");
    const bool on_sky = unit.length > 0 ? !in_pixels : r->system.system == REGION_SKY;
    if (on_sky)
        status = region_text_angle(r->text, word, false, false, value);
    if (!is_first && on_sky != region->size_on_sky)
        return region_text_refuse(r->text, word, "is not in the unit of the size before");
    region->size_on_sky = on_sky;
    return status;
}

/* Reads the sizes of a shape but a polygon: radius, half axes, width and height, or radii. */
static enum srcfind_status read_sizes(struct reading *r, struct region *region) {
    const bool is_ring = region->shape == REGION_ANNULUS;
    const int n = region->shape == REGION_CIRCLE ? 1 : 2;
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < n; i++)
        status = read_size(r, region, i == 0, &region->size[i]);
    while (status == SRCFIND_OK && is_ring && r->left.length > 0) { /* rings around it */
        const double before = region->size[1];
        status = read_size(r, region, false, &region->size[1]);
        if (status == SRCFIND_OK && region->size[1] <= before)
            status = region_text_refuse(r->text, r->all, "has radii that do not rise");
    }
    for (int i = 0; region->shape == REGION_BOX && i < 2; i++)
        region->size[i] /= 2;
    return status;
}

/* --- shapes --- */

static enum srcfind_status read_corners(struct reading *r, struct regions *regions,
                                        struct region *region) {
    enum srcfind_status status = SRCFIND_OK;
    region->first_point = regions->n_points;
    while (status == SRCFIND_OK && r->left.length > 0) {
        struct region_point point;
        status = read_point(r, &point);
        if (status == SRCFIND_OK && !regions_add_point(regions, point))
            status = error_memory(r->text->error, "reading regions");
        region->n_points++;
    }
    return status;
}

static enum srcfind_status read_shape(struct reading *r, struct regions *regions,
                                      struct region *region) {
    if (region->shape == REGION_POLYGON)
        return read_corners(r, regions, region);
    enum srcfind_status status = read_point(r, &region->centre);
    if (status == SRCFIND_OK)
        status = read_sizes(r, region);
    if (status == SRCFIND_OK && r->left.length > 0)
        status = region_text_angle(r->text, next_word(r), false, false, &region->angle);
    return status;
}

static int count_words(struct reading r) {
    while (r.left.length > 0)
        next_word(&r);
    return r.n;
}

/* Takes the parentheses from the words of a shape, and || behind them. */
static enum srcfind_status take_parentheses(struct reading *r) {
    if (!region_word_take_char(&r->left, '('))
        return SRCFIND_OK;
    const char *close = memchr(r->left.at, ')', r->left.length);
    if (!close)
        return region_text_refuse(r->text, r->all, "has no closing parenthesis");
    const size_t length = (size_t)(close - r->left.at);
    const struct region_word behind =
        region_word_trimmed((struct region_word){close + 1, r->left.length - length - 1});
    r->left = region_word_trimmed((struct region_word){r->left.at, length});
    if (behind.length > 0 && !region_word_is(behind, "||"))
        return region_text_refuse(r->text, behind, "stands behind a shape: write a # before it");
    return SRCFIND_OK;
}

/* Adds a shape, whose words follow. */
static enum srcfind_status add_shape(struct reading *r, int i, bool excludes,
                                     struct regions *regions) {
    struct region region = {.shape = shapes[i].shape,
                            .excludes = excludes,
                            .system = r->system.system,
                            .frame = r->system.frame};
    enum srcfind_status status = take_parentheses(r);
    const int n = count_words(*r);
    const bool is_odd = shapes[i].shape == REGION_POLYGON && n % 2 != 0;
    if (status == SRCFIND_OK &&
        (n < shapes[i].least || (shapes[i].most > 0 && n > shapes[i].most) || is_odd))
        status = region_text_refuse(
            r->text, r->all, "has %d numbers, and needs %s%d%s", n,
            shapes[i].most == shapes[i].least ? "" : "at least ", shapes[i].least,
            is_odd ? ", in pairs"
            : n > shapes[i].most && n > shapes[i].least && shapes[i].most > shapes[i].least
                ? ", at most 5"
                : "");
    if (status == SRCFIND_OK)
        status = read_shape(r, regions, &region);
    if (status == SRCFIND_OK)
        status = region_text_check(r->text, r->all, &region);
    return status != SRCFIND_OK || regions_add(regions, &region)
               ? status
               : error_memory(r->text->error, "reading regions");
}

/* --- commands --- */

/* The length of the text of a property at the front of a line: {...}, "..." or '...'; else 0. */
static size_t text_length(struct region_word line) {
    const bool has_text = line.length > 0 && strchr("{\"'", *line.at) && *line.at;
    if (!has_text)
        return 0;
    const char *close = memchr(line.at + 1, *line.at == '{' ? '}' : *line.at, line.length - 1);
    return close ? (size_t)(close - line.at) + 1 : line.length;
}

/* Whether a shape is taken out by its properties, as include=0 or, if they do not say, by its sign.
 */
static bool is_taken_out(struct region_word properties, bool by_sign) {
    bool is_out = by_sign;
    while ((properties = region_word_trimmed(properties)).length > 0) {
        const struct region_word name = region_word_take(&properties);
        const bool has_value = region_word_take_char(&properties, '=');
        const size_t n = has_value ? text_length(properties) : name.length == 0;
        properties.at += n;
        properties.length -= n;
        if (has_value && region_word_is(name, "include")) {
            const struct region_word value = region_word_take(&properties);
            is_out = region_word_is(value, "0") || region_word_is(value, "no");
        }
    }
    return is_out;
}

/* What is read of a text: the shapes, or their centres. */
struct reader {
    const struct region_text *text;
    struct system system;    /* of the shapes that follow */
    struct regions *regions; /* NULL: the centres */
    ds9_take *take;
    void *context;
};

/* The value of the property `text`. */
static struct region_word label_of(struct region_word properties) {
    struct region_word label = {properties.at, 0};
    while ((properties = region_word_trimmed(properties)).length > 0) {
        const struct region_word name = region_word_take(&properties);
        const bool has_value = region_word_take_char(&properties, '=');
        const size_t n = has_value ? text_length(properties) : name.length == 0;
        if (n > 1 && region_word_is(name, "text"))
            label = (struct region_word){properties.at + 1, n - 2};
        properties.at += n;
        properties.length -= n;
        if (has_value && n == 0)
            region_word_take(&properties);
    }
    return label;
}

static bool is_drawing(struct region_word name) {
    static const char *const names[] = {"text",  "line",    "vector",    "segment",
                                        "ruler", "compass", "projection"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (region_word_is(name, names[i]))
            return true;
    return false;
}

/* Takes the centre of a shape, whose words follow its name. */
static enum srcfind_status take_centre(const struct reader *reader, struct region_word name,
                                       struct region_word command, struct region_word rest,
                                       struct region_word properties) {
    const int i = find_shape(name);
    const bool has_centre =
        region_word_is(name, "point") || (i < SHAPES && shapes[i].shape != REGION_POLYGON);
    struct reading r = {
        .text = reader->text, .system = reader->system, .all = command, .left = rest};
    struct ds9_centre centre = {.system = reader->system.system,
                                .frame = reader->system.frame,
                                .label = label_of(properties)};
    if (is_drawing(name))
        return SRCFIND_OK;
    if (!has_centre)
        return region_text_refuse(reader->text, name.length > 0 ? name : command,
                                  "is no shape with a centre, or frame, that srcfind reads: point, "
                                  "circle, ellipse, box, annulus; fk4, fk5, icrs, galactic, image");
    enum srcfind_status status = take_parentheses(&r);
    if (status == SRCFIND_OK && count_words(r) < 2)
        return region_text_refuse(reader->text, command, "has no two coordinates");
    if (status == SRCFIND_OK)
        status = read_point(&r, &centre.at);
    return status == SRCFIND_OK ? reader->take(reader->context, reader->text, command, &centre)
                                : status;
}

static enum srcfind_status read_command(struct reader *reader, struct region_word command,
                                        struct region_word properties) {
    const struct region_text *text = reader->text;
    struct region_word rest = command;
    const bool by_sign = rest.length > 0 && (*rest.at == '-' || *rest.at == '!');
    if (rest.length > 0 && is_sign(*rest.at))
        region_word_take_char(&rest, *rest.at);
    const struct region_word name = region_word_take(&rest);
    const struct system *given = find_system(name);
    const int i = find_shape(name);
    if (region_word_is(name, "global"))
        return SRCFIND_OK;
    if (given && rest.length > 0)
        return region_text_refuse(text, rest, "stands behind a frame: write a ; before it");
    if (given) {
        reader->system = *given;
        return SRCFIND_OK;
    }
    if (!reader->regions)
        return take_centre(reader, name, command, rest, properties);
    if (i == SHAPES)
        return region_text_refuse(
            text, name.length > 0 ? name : command,
            "is no shape or frame that srcfind reads: circle, ellipse, box, polygon, annulus; fk4, "
            "fk5, icrs, galactic, image, physical");
    struct reading r = {.text = text, .system = reader->system, .all = command, .left = rest};
    return add_shape(&r, i, is_taken_out(properties, by_sign), reader->regions);
}

/* Divides a command into what is before a # and what is behind it. */
static struct region_word split_comment(struct region_word *command) {
    const char *end = command->at + command->length;
    const char *at = command->length > 0 ? memchr(command->at, '#', command->length) : NULL;
    struct region_word comment = {end, 0};
    if (at) {
        comment = (struct region_word){at + 1, (size_t)(end - at - 1)};
        command->length = (size_t)(at - command->at);
    }
    *command = region_word_trimmed(*command);
    return comment;
}

/* Whether a command, and no more of a comment, stands behind a semicolon in a comment. */
static bool begins_command(struct region_word rest) {
    rest = region_word_trimmed(rest);
    if (ds9_is_line(rest))
        return true;
    const struct region_word name = region_word_take(&rest);
    return name.length > 0 && name.at + name.length == rest.at && rest.length > 0 &&
           *rest.at == '(';
}

/* The length of the command at the front of a line: up to a semicolon that is not in the text of a
 * property, as text={a;b}. */
static size_t command_length(struct region_word line) {
    bool in_comment = false, is_value = false;
    size_t n = 0;
    while (n < line.length) {
        const char c = line.at[n];
        const struct region_word here = {line.at + n, line.length - n};
        const size_t length = is_value ? text_length(here) : 0;
        is_value = c == '=' || (is_value && c == ' ');
        in_comment |= c == '#' && length == 0;
        if (c == ';' &&
            (!in_comment || begins_command((struct region_word){here.at + 1, here.length - 1})))
            break;
        n += length > 0 ? length : 1;
    }
    return n;
}

static enum srcfind_status read_line(struct reader *reader, struct region_word line) {
    enum srcfind_status status = SRCFIND_OK;
    if (line.length > 0 && *line.at == '#')
        return SRCFIND_OK;
    while (status == SRCFIND_OK && line.length > 0) {
        const size_t length = command_length(line), taken = length + (length < line.length);
        struct region_word command = {line.at, length};
        const struct region_word properties = split_comment(&command);
        if (command.length > 0)
            status = read_command(reader, command, properties);
        line.at += taken;
        line.length -= taken;
    }
    return status;
}

static enum srcfind_status read_lines(struct region_text *text, struct reader *reader) {
    struct region_word line;
    enum srcfind_status status = SRCFIND_OK;
    reader->text = text;
    reader->system = (struct system){REGION_PHYSICAL, SKY_ICRS};
    while (status == SRCFIND_OK && region_text_line(text, &line))
        status = read_line(reader, line);
    return status;
}

enum srcfind_status ds9_read(struct region_text *text, struct regions *regions) {
    struct reader reader = {.regions = regions};
    const enum srcfind_status status = read_lines(text, &reader);
    regions_exclude_last(regions);
    return status;
}

enum srcfind_status ds9_read_centres(struct region_text *text, ds9_take *take, void *context) {
    struct reader reader = {.take = take, .context = context};
    return read_lines(text, &reader);
}
