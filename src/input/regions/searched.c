/* How pixels get to know whether they are searched:
 *
 * 1. Each region is drawn in the pixels of the image (drawn.c).
 * 2. Threads take bands of 64 rows, and go along them in tiles of 64 x 64 pixels. In each tile the
 *    regions add and take out pixels, in their order, as bits of 64 rows.
 * 3. Nine pixels of a tile tell how far it reaches on the sky. A circle that is far from it, or
 *    contains it, needs no more; else the positions of all of its pixels are found, once for all
 *    circles.
 *
 * Cost: a position for each pixel near the border of a circle, for all with a MOC. A position takes
 * a third of a microsecond. */
#include "input/regions/searched.h"

#include <math.h>
#include <stdlib.h>

#include "common/arrays.h"
#include "input/regions/drawn.h"
#include "input/regions/healpix.h"
#include "input/regions/moc.h"

enum { TILE = DRAWN_TILE, PIXELS = TILE * TILE, PROBES = 9 };

static const char DRAWING[] = "drawing regions";

struct searching {
    const struct regions *regions;
    const struct image *image;
    int64_t width, height;
    struct drawn *drawn;         /* the regions, in their order */
    enum sky_frame frame;        /* of the image, if it is known */
    const struct blanks *before; /* see searched_pixels */
    struct blanks *unsearched;
};

/* A tile of a band, at pixel (x, y). */
struct tile {
    const struct searching *of;
    struct wcs *wcs; /* of this thread */
    int64_t x, y;
    uint64_t rows[TILE];      /* a bit for each pixel that is searched */
    bool has_reach, has_sky;  /* these are known: */
    struct direction centre;  /* of the tile */
    double reach;             /* no pixel is farther away from there; infinite if unknown */
    double cosine, sine;      /* of the reach */
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

/* Finds how far the tile reaches. A projection that is torn within it has probes far apart. */
static enum srcfind_status find_reach(struct tile *t, struct error *error) {
    static const double MARGIN = 1.5, LEAST = 1e-7; /* radians; above the rounding of a cosine */
    const double half = (double)(TILE - 1) / 2;
    for (int i = 0; i < PROBES; i++) {
        const int row = i / 3;
        t->x_of[i] = (double)t->x + half * (i % 3);
        t->y_of[i] = (double)t->y + half * row;
    }
    const enum srcfind_status status = find_directions(t, PROBES, error);
    double farthest = 0;
    if (status != SRCFIND_OK)
        return status;
    t->centre = t->pixels[PROBES / 2];
    for (int i = 0; i < PROBES; i++) {
        const double chord = sqrt(sky_chord_squared(&t->centre, &t->pixels[i]));
        farthest = isnan(chord) ? INFINITY : fmax(farthest, 2 * asin(fmin(chord / 2, 1)));
    }
    t->reach = MARGIN * farthest + LEAST;
    t->cosine = cos(t->reach);
    t->sine = sin(t->reach);
    t->has_reach = true;
    return SRCFIND_OK;
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

enum side { INSIDE, OUTSIDE, UNKNOWN };

/* On which side of a limit of distances from `centre` the whole tile is. */
static enum side side_of(const struct tile *t, const struct direction *centre,
                         const struct drawn_limit *limit) {
    if (limit->chord_squared < 0)
        return OUTSIDE;
    if (!(t->reach < M_PI / 2))
        return UNKNOWN;
    const double cosine = sky_dot(&t->centre, centre);
    const double c = limit->cosine * t->cosine, s = limit->sine * t->sine;
    if (limit->angle + t->reach < M_PI && cosine < c - s)
        return OUTSIDE;
    return limit->angle > t->reach && cosine > c + s ? INSIDE : UNKNOWN;
}

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

static enum srcfind_status add_circle(struct tile *t, const struct drawn *d, struct error *error) {
    enum srcfind_status status = t->has_reach ? SRCFIND_OK : find_reach(t, error);
    if (status != SRCFIND_OK)
        return status;
    const enum side outer = side_of(t, &d->centre, &d->outer);
    if (outer == OUTSIDE)
        return SRCFIND_OK;
    const enum side inner = side_of(t, &d->centre, &d->inner);
    if (inner == INSIDE)
        return SRCFIND_OK;
    if (outer == INSIDE && inner == OUTSIDE) {
        add_everywhere(t, UINT64_MAX, d->excludes);
        return SRCFIND_OK;
    }
    if (!t->has_sky)
        status = find_sky(t, error);
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
    t->has_reach = t->has_sky = false;
    for (int row = 0; row < TILE; row++)
        t->rows[row] = row_before(t, row, n);
    if (s->regions->is_moc)
        status = add_moc(t, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < s->regions->n; i++)
        status = add_region(t, &s->drawn[i], error);
    for (int row = 0; status == SRCFIND_OK && row < TILE && t->y + row < s->height; row++)
        blanks_add_bits(s->unsearched, (t->y + row) * s->width + t->x, n, ~t->rows[row]);
    return status;
}

static bool tile_make(struct tile *t, const struct searching *s) {
    *t = (struct tile){.of = s,
                       .wcs = s->image->wcs ? wcs_copy(s->image->wcs) : NULL,
                       .pixels = arrays_allocate(PIXELS, sizeof *t->pixels),
                       .x_of = arrays_allocate(4 * PIXELS, sizeof *t->x_of)};
    if (!t->x_of || !t->pixels || (s->image->wcs && !t->wcs))
        return false;
    t->y_of = t->x_of + PIXELS;
    t->lon = t->y_of + PIXELS;
    t->lat = t->lon + PIXELS;
    return true;
}

static enum srcfind_status search_band(void *context, int band, struct error *error) {
    const struct searching *s = context;
    struct tile t;
    enum srcfind_status status = tile_make(&t, s) ? SRCFIND_OK : error_memory(error, DRAWING);
    t.y = (int64_t)band * TILE;
    for (; status == SRCFIND_OK && t.x < s->width; t.x += TILE)
        status = search_tile(&t, error);
    wcs_close(t.wcs);
    free(t.pixels);
    free(t.x_of);
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
    const int64_t n_bands = (s.height + TILE - 1) / TILE;
    if (status == SRCFIND_OK)
        status = threads_try(threads, (int)n_bands, search_band, &s, error);
    free(s.drawn);
    free(drawing.points);
    return status;
}
