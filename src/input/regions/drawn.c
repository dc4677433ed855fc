/* How a region gets its shape in the pixels of an image:
 *
 * - Circles and annuli with a centre and radii on the sky stay there: pixels are in them by the
 *   angular distance of their centres, in any projection.
 * - Ellipses and boxes on the sky are drawn with the linear map between sky and pixels at their
 *   centre, as the Python package regions draws ellipses. It may stretch or shear them.
 * - Corners of polygons are converted, and its edges are straight lines between pixels. A corner
 *   that is not in the projection leaves no polygon.
 * - In a cylindrical projection a shape on the sky may go on beyond its end: it is drawn a turn of
 *   longitude to either side, too.
 *
 * A pixel on the border of a shape is not in it, as in the package. */
#include "input/regions/drawn.h"

#include <math.h>
#include <string.h>

static const double DEGREE = M_PI / 180;

/* --- points --- */

struct drawn_physical drawn_physical_of(const struct image *image) {
    const struct header *header = &image->hdu.header;
    struct drawn_physical p = {{1, 1}, {0, 0}};
    header_real(header, "LTM1_1", &p.scale[0]);
    header_real(header, "LTM2_2", &p.scale[1]);
    header_real(header, "LTV1", &p.offset[0]);
    header_real(header, "LTV2", &p.offset[1]);
    return p;
}

/* The pixel of a direction in a frame; NaN outside of the projection. */
static enum srcfind_status pixel_of(const struct drawing *d, const struct direction *at,
                                    enum sky_frame frame, double *x, double *y,
                                    struct error *error) {
    const struct direction own = d->has_frame ? sky_turn(at, frame, d->frame) : *at;
    double lon, lat;
    sky_position(&own, &lon, &lat);
    return wcs_pixels(d->image->wcs, 1, &lon, &lat, x, y, error);
}

/* The pixel of a point of a region. */
static enum srcfind_status draw_point(const struct drawing *d, const struct region *region,
                                      struct region_point point, double *x, double *y,
                                      struct error *error) {
    const struct drawn_physical *p = &d->physical;
    if (region->system == REGION_SKY) {
        const struct direction at = sky_direction(point.x, point.y);
        return pixel_of(d, &at, region->frame, x, y, error);
    }
    const bool is_physical = region->system == REGION_PHYSICAL;
    *x = is_physical ? p->scale[0] * point.x + p->offset[0] - 1 : point.x;
    *y = is_physical ? p->scale[1] * point.y + p->offset[1] - 1 : point.y;
    *x -= (double)d->metadata->first_x;
    *y -= (double)d->metadata->first_y;
    return SRCFIND_OK;
}

/* --- the linear map --- */

/* Pixels along x and y: of a radian to the east and to the north. */
struct linear {
    double east[2], north[2];
};

/* Half of the offset in pixels between two directions. */
static enum srcfind_status difference(const struct drawing *d, const struct direction *at,
                                      const struct direction *along, double step,
                                      enum sky_frame frame, double *offset, struct error *error) {
    double x[2], y[2];
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < 2; i++) {
        struct direction moved = *at;
        for (int k = 0; k < 3; k++)
            moved.at[k] += (i == 0 ? -step : step) * along->at[k];
        status = pixel_of(d, &moved, frame, &x[i], &y[i], error);
    }
    offset[0] = (x[1] - x[0]) / (2 * step);
    offset[1] = (y[1] - y[0]) / (2 * step);
    return status;
}

static enum srcfind_status linear_at(const struct drawing *d, const struct direction *at,
                                     enum sky_frame frame, struct linear *map,
                                     struct error *error) {
    static const double STEP = 0.01; /* pixels: far above rounding, and far below any curvature */
    const double pixel = sqrt(d->metadata->pixel_area) * DEGREE;
    struct direction east, north;
    sky_tangents(at, &east, &north);
    enum srcfind_status status = difference(d, at, &east, STEP * pixel, frame, map->east, error);
    if (status == SRCFIND_OK)
        status = difference(d, at, &north, STEP * pixel, frame, map->north, error);
    return status;
}

/* Pixels a radian: the square root of the determinant. */
static double scale_of(const struct linear *map) {
    return sqrt(fabs(map->east[0] * map->north[1] - map->east[1] * map->north[0]));
}

/* The linear map of a shape whose sizes are in radians, if they are on the sky, or in pixels. */
static enum srcfind_status map_of(const struct drawing *d, const struct region *region, double x,
                                  double y, struct linear *map, struct error *error) {
    const bool is_physical = region->system == REGION_PHYSICAL;
    const double scale_x = is_physical ? d->physical.scale[0] : 1;
    const double scale_y = is_physical ? d->physical.scale[1] : 1;
    *map = (struct linear){{-scale_x, 0}, {0, scale_y}};
    if (region->system != REGION_SKY && !region->size_on_sky)
        return SRCFIND_OK;
    struct direction at = sky_direction(region->centre.x, region->centre.y);
    struct linear sky;
    double lon, lat;
    enum srcfind_status status = SRCFIND_OK;
    if (region->system != REGION_SKY) {
        status = wcs_positions(d->image->wcs, 1, &x, &y, &lon, &lat, error);
        at = sky_direction(lon, lat);
    }
    if (status == SRCFIND_OK)
        status =
            linear_at(d, &at, region->system == REGION_SKY ? region->frame : d->frame, &sky, error);
    const double scale = status == SRCFIND_OK ? scale_of(&sky) : 1;
    if (region->system == REGION_SKY)
        *map = sky;
    const double factor = region->system != REGION_SKY ? scale
                          : region->size_on_sky        ? 1
                                                       : 1 / scale;
    for (int i = 0; i < 2; i++) {
        map->east[i] *= factor;
        map->north[i] *= factor;
    }
    return status;
}

/* --- shapes --- */

static struct drawn_limit limit_of(double degrees) {
    const double angle = fmin(degrees, 180) * DEGREE, half = 2 * sin(angle / 2);
    return (struct drawn_limit){
        .chord_squared = half * half, .cosine = cos(angle), .sine = sin(angle), .angle = angle};
}

/* A circle by angular distances. */
static enum srcfind_status draw_circle(const struct drawing *d, const struct region *region,
                                       struct drawn *drawn, struct error *error) {
    double x, y, lon, lat;
    enum srcfind_status status = SRCFIND_OK;
    const bool has_inner = region->shape == REGION_ANNULUS && region->size[0] > 0;
    drawn->kind = DRAWN_CIRCLE;
    drawn->inner = has_inner ? limit_of(region->size[0]) : (struct drawn_limit){-1, 0, 0, 0};
    drawn->outer = limit_of(region->size[region->shape == REGION_ANNULUS]);
    if (region->system == REGION_SKY) {
        const struct direction at = sky_direction(region->centre.x, region->centre.y);
        drawn->centre = sky_turn(&at, region->frame, d->frame);
        return SRCFIND_OK;
    }
    status = draw_point(d, region, region->centre, &x, &y, error);
    if (status == SRCFIND_OK)
        status = wcs_positions(d->image->wcs, 1, &x, &y, &lon, &lat, error);
    if (status != SRCFIND_OK)
        return status;
    if (isnan(lon))
        drawn->kind = DRAWN_NOTHING;
    drawn->centre = sky_direction(lon, lat);
    return SRCFIND_OK;
}

/* Widens the box around an ellipse or a box to its half axes (columns of m). */
static void set_bounds(struct drawn *drawn, double m[2][2]) {
    const double x = fabs(m[0][0]) + fabs(m[0][1]), y = fabs(m[1][0]) + fabs(m[1][1]);
    drawn->x_min = drawn->x - x;
    drawn->x_max = drawn->x + x;
    drawn->y_min = drawn->y - y;
    drawn->y_max = drawn->y + y;
}

/* An ellipse, a box, or a circle in pixels. */
static enum srcfind_status draw_ellipse(const struct drawing *d, const struct region *region,
                                        struct drawn *drawn, struct error *error) {
    const bool is_ring = region->shape == REGION_ANNULUS, is_box = region->shape == REGION_BOX;
    const double unit = region->size_on_sky ? DEGREE : 1;
    const double first = region->size[is_ring] * unit;
    const double second =
        region->shape == REGION_ELLIPSE || is_box ? region->size[1] * unit : first;
    const double c = cos(region->angle * DEGREE), s = sin(region->angle * DEGREE);
    struct linear map;
    double m[2][2];
    enum srcfind_status status = draw_point(d, region, region->centre, &drawn->x, &drawn->y, error);
    if (status == SRCFIND_OK)
        status = map_of(d, region, drawn->x, drawn->y, &map, error);
    if (status != SRCFIND_OK)
        return status;
    for (int i = 0; i < 2; i++) {
        m[i][0] = (-map.east[i] * c + map.north[i] * s) * first;
        m[i][1] = (map.east[i] * s + map.north[i] * c) * second;
    }
    const double determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    drawn->kind = is_box ? DRAWN_BOX : DRAWN_ELLIPSE;
    if (!isfinite(1 / determinant) || isnan(drawn->x))
        drawn->kind = DRAWN_NOTHING;
    drawn->inverse[0][0] = m[1][1] / determinant;
    drawn->inverse[0][1] = -m[0][1] / determinant;
    drawn->inverse[1][0] = -m[1][0] / determinant;
    drawn->inverse[1][1] = m[0][0] / determinant;
    const double inner = is_ring ? region->size[0] / region->size[1] : 0;
    drawn->inner_squared = inner * inner;
    set_bounds(drawn, m);
    return SRCFIND_OK;
}

/* Moves a corner by a turn, if it is then nearer to the one before it. */
static void unwind(const struct drawn *drawn, struct region_point before,
                   struct region_point *corner) {
    const double square = drawn->turn_x * drawn->turn_x + drawn->turn_y * drawn->turn_y;
    if (!(square > 0))
        return;
    const double turns = rint(
        ((before.x - corner->x) * drawn->turn_x + (before.y - corner->y) * drawn->turn_y) / square);
    corner->x += turns * drawn->turn_x;
    corner->y += turns * drawn->turn_y;
}

static enum srcfind_status draw_polygon(const struct drawing *d, const struct regions *regions,
                                        const struct region *region, struct drawn *drawn,
                                        struct error *error) {
    struct region_point *points = d->points + region->first_point;
    const struct region_point *given = regions->points + region->first_point;
    enum srcfind_status status = SRCFIND_OK;
    drawn->kind = DRAWN_POLYGON;
    drawn->points = points;
    drawn->n_points = region->n_points;
    drawn->x_min = drawn->y_min = INFINITY;
    drawn->x_max = drawn->y_max = -INFINITY;
    for (int64_t i = 0; status == SRCFIND_OK && i < region->n_points; i++) {
        status = draw_point(d, region, given[i], &points[i].x, &points[i].y, error);
        if (status == SRCFIND_OK && !(isfinite(points[i].x) && isfinite(points[i].y)))
            drawn->kind = DRAWN_NOTHING;
        if (i > 0)
            unwind(drawn, points[i - 1], &points[i]);
        drawn->x_min = fmin(drawn->x_min, points[i].x);
        drawn->x_max = fmax(drawn->x_max, points[i].x);
        drawn->y_min = fmin(drawn->y_min, points[i].y);
        drawn->y_max = fmax(drawn->y_max, points[i].y);
    }
    return status;
}

enum srcfind_status drawn_check_sky(const struct drawing *d, enum region_system system,
                                    struct error *error) {
    if (!d->image->wcs)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: its regions are on the sky, and the image has no sky coordinates: "
                         "write them in pixels, or add the coordinates to the header",
                         d->path);
    if (system == REGION_SKY && !d->has_frame)
        return error_set(
            error, SRCFIND_ERROR_INPUT,
            "%s: its regions cannot be converted to the coordinates of the image "
            "(%s, equinox %g): write them in pixels, or as a mask of the image's shape",
            d->path, d->metadata->frame, d->metadata->equinox);
    return SRCFIND_OK;
}

enum srcfind_status drawn_make(const struct drawing *d, const struct regions *regions, int64_t i,
                               struct drawn *drawn, struct error *error) {
    const struct region *region = &regions->all[i];
    const bool needs_sky = region->system == REGION_SKY || region->size_on_sky;
    *drawn = (struct drawn){.excludes = region->excludes};
    if (needs_sky) {
        const enum srcfind_status status = drawn_check_sky(d, region->system, error);
        if (status != SRCFIND_OK)
            return status;
    }
    if (region->system == REGION_SKY) /* pixels are where they are said to be */
        wcs_turn(d->image->wcs, &drawn->turn_x, &drawn->turn_y);
    if (region->shape == REGION_POLYGON)
        return draw_polygon(d, regions, region, drawn, error);
    const bool is_round = region->shape == REGION_CIRCLE || region->shape == REGION_ANNULUS;
    return is_round && region->size_on_sky ? draw_circle(d, region, drawn, error)
                                           : draw_ellipse(d, region, drawn, error);
}

/* --- pixels --- */

/* The bits of the pixels from x0 on that are below x. */
static uint64_t below(double x, int64_t x0) {
    const double n = ceil(x - (double)x0);
    return n >= DRAWN_TILE ? UINT64_MAX : n > 0 ? (UINT64_C(1) << (int)n) - 1 : 0;
}

/* The bits from a to b, both included. */
static uint64_t between(double a, double b, int64_t x0) {
    return below(nextafter(fmax(a, b), INFINITY), x0) & ~below(fmin(a, b), x0);
}

/* The rows of a polygon in a tile. */
struct crossed {
    uint64_t inside[DRAWN_TILE], border[DRAWN_TILE];
};

/* An edge is crossed between its pixels: bits to the left of it change. Pixels on it do not count.
 */
static void cross_edge(const struct region_point *a, const struct region_point *b, int64_t x0,
                       int64_t y0, struct crossed *c) {
    const double low = fmin(a->y, b->y) - (double)y0, high = fmax(a->y, b->y) - (double)y0;
    if (!(high >= 0 && low < DRAWN_TILE))
        return;
    const int first = low > 0 ? (int)ceil(low) : 0;
    const int last = high < DRAWN_TILE - 1 ? (int)floor(high) : DRAWN_TILE - 1;
    for (int row = first; row <= last; row++) {
        const double y = (double)(y0 + row);
        const double x = (b->x - a->x) * (y - a->y) / (b->y - a->y) + a->x;
        c->border[row] |= a->y == b->y ? between(a->x, b->x, x0) : between(x, x, x0);
        if ((a->y > y) != (b->y > y))
            c->inside[row] ^= below(x, x0);
    }
}

/* dx, dy: the shape is moved so far. */
static void add_polygon(const struct drawn *d, double dx, double dy, int64_t x0, int64_t y0,
                        uint64_t *rows) {
    struct crossed c = {{0}, {0}};
    struct region_point a = d->points[d->n_points - 1];
    a = (struct region_point){a.x + dx, a.y + dy};
    for (int64_t i = 0; i < d->n_points; i++) {
        const struct region_point b = {d->points[i].x + dx, d->points[i].y + dy};
        cross_edge(&a, &b, x0, y0, &c);
        a = b;
    }
    for (int row = 0; row < DRAWN_TILE; row++)
        rows[row] |= c.inside[row] & ~c.border[row];
}

static uint64_t ellipse_row(const struct drawn *d, double dx, double dy, int64_t x0, int64_t y) {
    uint64_t bits = 0;
    for (int i = 0; i < DRAWN_TILE; i++) {
        const double x = (double)(x0 + i) - (d->x + dx), from_y = (double)y - (d->y + dy);
        const double u = d->inverse[0][0] * x + d->inverse[0][1] * from_y;
        const double v = d->inverse[1][0] * x + d->inverse[1][1] * from_y;
        const double square = u * u + v * v;
        const bool is_in = d->kind == DRAWN_BOX ? fabs(u) < 1 && fabs(v) < 1
                                                : square < 1 && square >= d->inner_squared;
        bits |= (uint64_t)is_in << i;
    }
    return bits;
}

/* Whether a shape that is moved by a number of turns may have pixels in a part of an image. */
static bool may_reach(const struct drawn *d, int turns, int64_t x0, int64_t y0, int64_t width,
                      int64_t height) {
    const double x = (double)x0 - turns * d->turn_x, y = (double)y0 - turns * d->turn_y;
    return x <= d->x_max && x + (double)width > d->x_min && y <= d->y_max &&
           y + (double)height > d->y_min;
}

/* The turns to either side that a shape is drawn at. */
static int most_turns(const struct drawn *d) {
    return d->turn_x != 0 || d->turn_y != 0;
}

bool drawn_may_reach(const struct drawn *d, int64_t x0, int64_t y0, int64_t width, int64_t height) {
    bool may = false;
    for (int turns = -most_turns(d); d->kind != DRAWN_NOTHING && turns <= most_turns(d); turns++)
        may |= may_reach(d, turns, x0, y0, width, height);
    return may;
}

static void add_moved(const struct drawn *d, int turns, int64_t x0, int64_t y0, uint64_t *rows) {
    const double dx = turns * d->turn_x, dy = turns * d->turn_y, y = (double)y0 - dy;
    if (d->kind == DRAWN_POLYGON) {
        add_polygon(d, dx, dy, x0, y0, rows);
        return;
    }
    for (int row = 0; row < DRAWN_TILE; row++)
        if (y + row >= d->y_min && y + row <= d->y_max)
            rows[row] |= ellipse_row(d, dx, dy, x0, y0 + row);
}

bool drawn_tile(const struct drawn *d, int64_t x0, int64_t y0, uint64_t rows[DRAWN_TILE]) {
    bool has_pixels = false;
    for (int turns = -most_turns(d); d->kind != DRAWN_NOTHING && turns <= most_turns(d); turns++) {
        if (!may_reach(d, turns, x0, y0, DRAWN_TILE, DRAWN_TILE))
            continue;
        if (!has_pixels)
            memset(rows, 0, DRAWN_TILE * sizeof *rows);
        has_pixels = true;
        add_moved(d, turns, x0, y0, rows);
    }
    return has_pixels;
}
