/* How pixels get to know whether they are searched:
 *
 * 1. Each region is drawn in the pixels of the image (drawn.c).
 * 2. Threads take blocks of tiles of 64 x 64 pixels: bands of a row of tiles or, where regions are
 *    many, squares of 8 x 8 tiles. A block lists the regions that may have pixels in it. In each
 *    tile these add and take out pixels, in their order, as bits of 64 rows.
 * 3. Nine pixels of a tile tell how far it reaches on the sky. A circle that is far from it, or
 *    contains it, needs no more; else the positions of all of its pixels are found, once for all
 *    circles.
 *
 * Cost: a look at each region for each block and, where it may have pixels, for each tile of it; a
 * position for each pixel near the border of a circle, for all with a MOC. A position takes a third
 * of a microsecond. */
#include "input/regions/searched.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "input/regions/drawn.h"
#include "input/regions/healpix.h"
#include "input/regions/moc.h"
#include "input/regions/reach.h"

enum { TILE = DRAWN_TILE, PIXELS = TILE * TILE, PROBES = 9 };

static const char DRAWING[] = "drawing regions";

struct searching {
    const struct regions *regions;
    const struct image *image;
    int64_t width, height;
    int64_t block_width, block_height; /* in tiles */
    int64_t n_columns;                 /* blocks side by side */
    struct drawn *drawn;               /* the regions, in their order */
    bool has_circles;
    enum sky_frame frame;        /* of the image, if it is known */
    const struct blanks *before; /* see searched_pixels */
    struct blanks *unsearched;
};

/* A block of tiles, and the tile of it that is searched. */
struct tile {
    const struct searching *of;
    struct wcs *wcs; /* of this thread */
    int64_t n_near;
    int64_t *near;         /* the regions that may have pixels in the block */
    struct reach *reaches; /* of the tiles of the block, if there are circles */
    int64_t x, y;          /* the first pixel of the tile */
    const struct reach *reach;
    uint64_t rows[TILE];      /* a bit for each pixel that is searched */
    bool has_sky;             /* this is known: */
    struct direction *pixels; /* NaN outside of the projection */
    double *x_of, *y_of, *lon, *lat;
};

/* --- the sky of a tile --- */

static enum srcfind_status find_directions(struct tile *t, int n, struct error *error) {
    const enum srcfind_status status =
        wcs_positions(t->wcs, n, t->x_of, t->y_of, t->lon, t->lat, error);
    for (int i = 0; status == SRCFIND_OK && i < n; i++)
        t->pixels[i] = sky_direction(t->lon[i], t->lat[i]);
    return status;
}

/* Finds how far the tile at (x, y) reaches. */
static enum srcfind_status find_reach(struct tile *t, int64_t x, int64_t y, struct reach *reach,
                                      struct error *error) {
    const double half = (double)(TILE - 1) / 2;
    for (int i = 0; i < PROBES; i++) {
        const int row = i / 3;
        t->x_of[i] = (double)x + half * (i % 3);
        t->y_of[i] = (double)y + half * row;
    }
    const enum srcfind_status status = find_directions(t, PROBES, error);
    if (status == SRCFIND_OK)
        *reach = reach_of_directions(&t->pixels[PROBES / 2], t->pixels, PROBES);
    return status;
}

static enum srcfind_status find_sky(struct tile *t, struct error *error) {
    for (int i = 0; i < PIXELS; i++) {
        const int row = i / TILE;
        t->x_of[i] = (double)(t->x + i % TILE);
        t->y_of[i] = (double)(t->y + row);
    }
    t->has_sky = true;
    return find_directions(t, PIXELS, error);
}

/* --- a circle in a tile --- */

static void add_bits(struct tile *t, int row, uint64_t bits, bool excludes) {
    t->rows[row] = excludes ? t->rows[row] & ~bits : t->rows[row] | bits;
}

static void add_everywhere(struct tile *t, uint64_t bits, bool excludes) {
    for (int row = 0; row < TILE; row++)
        add_bits(t, row, bits, excludes);
}

static void add_distances(struct tile *t, const struct drawn *d) {
    for (int row = 0; row < TILE; row++) {
        uint64_t bits = 0;
        for (int i = 0; i < TILE; i++) {
            const double chord = sky_chord_squared(&t->pixels[row * TILE + i], &d->centre);
            const bool is_in = chord < d->outer.chord_squared && chord >= d->inner.chord_squared;
            bits |= (uint64_t)is_in << i;
        }
        add_bits(t, row, bits, d->excludes);
    }
}

static bool circle_may_reach(const struct drawn *d, const struct reach *reach) {
    return reach_side(reach, &d->centre, &d->outer) != REACH_OUTSIDE &&
           reach_side(reach, &d->centre, &d->inner) != REACH_INSIDE;
}

static enum srcfind_status add_circle(struct tile *t, const struct drawn *d, struct error *error) {
    if (!circle_may_reach(d, t->reach))
        return SRCFIND_OK;
    if (reach_side(t->reach, &d->centre, &d->outer) == REACH_INSIDE &&
        reach_side(t->reach, &d->centre, &d->inner) == REACH_OUTSIDE) {
        add_everywhere(t, UINT64_MAX, d->excludes);
        return SRCFIND_OK;
    }
    const enum srcfind_status status = t->has_sky ? SRCFIND_OK : find_sky(t, error);
    if (status == SRCFIND_OK)
        add_distances(t, d);
    return status;
}

/* --- a MOC in a tile --- */

static enum srcfind_status add_moc(struct tile *t, struct error *error) {
    const enum srcfind_status status = t->has_sky ? SRCFIND_OK : find_sky(t, error);
    for (int i = 0; status == SRCFIND_OK && i < PIXELS; i++) {
        const struct direction d = sky_turn(&t->pixels[i], t->of->frame, SKY_ICRS);
        const bool is_in = !isnan(d.at[2]) && moc_has(t->of->regions, healpix_cell(&d));
        t->rows[i / TILE] |= (uint64_t)is_in << i % TILE;
    }
    return status;
}

/* --- tiles --- */

static enum srcfind_status add_region(struct tile *t, const struct drawn *d, struct error *error) {
    if (d->kind == DRAWN_CIRCLE)
        return add_circle(t, d, error);
    uint64_t rows[TILE];
    if (drawn_tile(d, t->x, t->y, rows))
        for (int row = 0; row < TILE; row++)
            add_bits(t, row, rows[row], d->excludes);
    return SRCFIND_OK;
}

/* The pixels of a row of the tile before the first region. */
static uint64_t row_before(const struct tile *t, int row, int64_t n) {
    const struct searching *s = t->of;
    if (!s->before)
        return s->regions->begins_full ? UINT64_MAX : 0;
    return t->y + row < s->height ? blanks_bits(s->before, (t->y + row) * s->width + t->x, n) : 0;
}

static enum srcfind_status search_tile(struct tile *t, struct error *error) {
    const struct searching *s = t->of;
    enum srcfind_status status = SRCFIND_OK;
    const int64_t n = s->width - t->x < TILE ? s->width - t->x : TILE;
    t->has_sky = false;
    for (int row = 0; row < TILE; row++)
        t->rows[row] = row_before(t, row, n);
    if (s->regions->is_moc)
        status = add_moc(t, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < t->n_near; i++)
        status = add_region(t, &s->drawn[t->near[i]], error);
    for (int row = 0; status == SRCFIND_OK && row < TILE && t->y + row < s->height; row++)
        blanks_add_bits(s->unsearched, (t->y + row) * s->width + t->x, n, ~t->rows[row]);
    return status;
}

/* --- blocks --- */

static bool tile_make(struct tile *t, const struct searching *s) {
    *t = (struct tile){.of = s,
                       .wcs = s->image->wcs ? wcs_copy(s->image->wcs) : NULL,
                       .near = arrays_allocate(s->regions->n, sizeof *t->near),
                       .reaches =
                           arrays_allocate(s->block_width * s->block_height, sizeof *t->reaches),
                       .pixels = arrays_allocate(PIXELS, sizeof *t->pixels),
                       .x_of = arrays_allocate(4 * PIXELS, sizeof *t->x_of)};
    if (!t->near || !t->reaches || !t->x_of || !t->pixels || (s->image->wcs && !t->wcs))
        return false;
    t->y_of = t->x_of + PIXELS;
    t->lon = t->y_of + PIXELS;
    t->lat = t->lon + PIXELS;
    return true;
}

static void tile_clear(struct tile *t) {
    wcs_close(t->wcs);
    free(t->near);
    free(t->reaches);
    free(t->pixels);
    free(t->x_of);
}

/* Lists the regions that may have pixels in a block of width x height tiles. */
static enum srcfind_status list_near(struct tile *t, int64_t x, int64_t y, int64_t width,
                                     int64_t height, struct error *error) {
    const struct searching *s = t->of;
    const int64_t n_tiles = s->has_circles ? width * height : 0;
    enum srcfind_status status = SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < n_tiles; i++)
        status = find_reach(t, x + i % width * TILE, y + i / width * TILE, &t->reaches[i], error);
    if (status != SRCFIND_OK)
        return status;
    const struct reach reach =
        n_tiles > 0 ? reach_of_parts(t->reaches, n_tiles) : (struct reach){0};
    for (int64_t i = 0; i < s->regions->n; i++) {
        const struct drawn *d = &s->drawn[i];
        if (d->kind == DRAWN_CIRCLE ? circle_may_reach(d, &reach)
                                    : drawn_may_reach(d, x, y, width * TILE, height * TILE))
            t->near[t->n_near++] = i;
    }
    return SRCFIND_OK;
}

static int64_t tiles_of(int64_t pixels) {
    return (pixels + TILE - 1) / TILE;
}

static enum srcfind_status search_block(void *context, int block, struct error *error) {
    const struct searching *s = context;
    struct tile t;
    const int64_t column = block % s->n_columns * s->block_width;
    const int64_t row = block / s->n_columns * s->block_height;
    const int64_t columns_left = tiles_of(s->width) - column, rows_left = tiles_of(s->height) - row;
    const int64_t width = columns_left < s->block_width ? columns_left : s->block_width;
    const int64_t height = rows_left < s->block_height ? rows_left : s->block_height;
    enum srcfind_status status = tile_make(&t, s) ? SRCFIND_OK : error_memory(error, DRAWING);
    if (status == SRCFIND_OK)
        status = list_near(&t, column * TILE, row * TILE, width, height, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < width * height; i++) {
        t.reach = &t.reaches[i];
        t.x = (column + i % width) * TILE;
        t.y = (row + i / width) * TILE;
        status = search_tile(&t, error);
    }
    tile_clear(&t);
    return status;
}

/* --- all of it --- */

static enum srcfind_status draw_all(const struct searching *s, const struct drawing *drawing,
                                    struct error *error) {
    enum srcfind_status status =
        s->regions->is_moc ? drawn_check_sky(drawing, REGION_SKY, error) : SRCFIND_OK;
    for (int64_t i = 0; status == SRCFIND_OK && i < s->regions->n; i++)
        status = drawn_make(drawing, s->regions, i, &s->drawn[i], error);
    return status;
}

/* Divides the image into blocks. Returns their number. */
static int64_t set_blocks(struct searching *s) {
    enum { MANY = 100, SIDE = 8 };
    const bool are_many = s->regions->n > MANY;
    s->block_width = are_many ? SIDE : tiles_of(s->width);
    s->block_height = are_many ? SIDE : 1;
    s->n_columns = (tiles_of(s->width) + s->block_width - 1) / s->block_width;
    return s->n_columns * ((tiles_of(s->height) + s->block_height - 1) / s->block_height);
}

enum srcfind_status searched_pixels(const struct regions *regions, const char *path,
                                    const struct image *image, const struct srcfind_image *metadata,
                                    const struct blanks *before, struct threads *threads,
                                    struct blanks *unsearched, struct error *error) {
    struct searching s = {.regions = regions,
                          .image = image,
                          .width = metadata->width,
                          .height = metadata->height,
                          .drawn = arrays_allocate(regions->n, sizeof *s.drawn),
                          .before = before,
                          .unsearched = unsearched};
    struct drawing drawing = {.path = path,
                              .image = image,
                              .metadata = metadata,
                              .physical = drawn_physical_of(image),
                              .points = arrays_allocate(regions->n_points, sizeof *drawing.points)};
    drawing.has_frame = sky_frame_of_image(metadata->frame, metadata->equinox, &drawing.frame);
    s.frame = drawing.frame;
    enum srcfind_status status =
        s.drawn && drawing.points ? draw_all(&s, &drawing, error) : error_memory(error, DRAWING);
    const int64_t n_blocks = set_blocks(&s);
    for (int64_t i = 0; status == SRCFIND_OK && i < regions->n; i++)
        s.has_circles |= s.drawn[i].kind == DRAWN_CIRCLE;
    if (status == SRCFIND_OK)
        status = threads_try(threads, (int)n_blocks, search_block, &s, error);
    free(s.drawn);
    free(drawing.points);
    return status;
}
