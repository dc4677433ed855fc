/* How rows of cut islands are found:
 *
 * In: the rows of all images, in the spool, with flag 1 if an edge or blank pixels cut their
 * island, and the duplicates by distance. Out: more bits of duplicates.
 * 1. A pass over all rows lists the cut rows that are no duplicates yet, and fits to the rows of
 *    each image where its pixels lie on the sky (pixel_frame.h): catalogues need no coordinates of
 *    the image. If rows are few or on a line, the errors of a row tell the size of a pixel.
 * 2. The list is sorted by the third coordinate of the centres of the boxes of the islands.
 * 3. A second pass takes each island that is not cut. A cut row of another image and of the same
 *    sign is a duplicate if the box of its island lies in the box of the whole island, and the
 *    centre of its box in an ellipse of a row of the whole island, up to a margin.
 *
 * The rows of an island are always consecutive. Islands without a box or a position are left out.
 * The margin is bounded by the box, since a catalogue may have any beam. */
#include "merge/cut_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "merge/pixel_frame.h"

enum { MOST_SIDES = 8 }; /* the widest reach of an island, in sides of its box */

/* A box of pixels; both ends are in it. */
struct pixel_box {
    int64_t x_min, x_max, y_min, y_max;
};

/* An island: consecutive rows with one number, scale and sign. */
struct merged_island {
    int64_t id;
    double scale;
    bool is_negative, is_cut;
    bool has_box, has_place, has_guess;
    struct pixel_box box;     /* of all its rows */
    double x, y, position[3]; /* of one of its rows, in pixels and on the sky */
    struct pixel_frame guess; /* if the rows of its image do not tell the frame */
};

/* A row of an island that touches the edge or a blank pixel. */
struct cut_row {
    uint32_t row;
    int32_t image;
    double scale;
    bool is_negative;
    bool has_frame;
    struct pixel_frame frame;
    /* The box of its island: the centre on the sky, and half of the sides in pixels. Until the
     * frame of the image is known, `centre` is the position of the island, and the offset leads
     * from there to the centre of the box. */
    double centre[3], offset_x, offset_y, half_x, half_y;
};

struct image_frame {
    bool is_known;
    struct pixel_frame frame;
};

/* The rows of n images that are cut and no duplicates yet. */
struct cut_rows {
    struct cut_row *rows;
    int64_t n, capacity;
    struct image_frame *frames; /* of each image, in their order */
    /* Of the image and of the island that are being read. */
    struct pixel_sums sums;
    struct merged_island island;
    bool is_open;
    int64_t first_of_island, first_of_image;
};

/* The search in n images, `order` of `images`, of which image i is being read. */
struct finding {
    const struct spool *spool;
    const struct merged_image *images;
    const int32_t *order;
    int64_t n, i;
    const struct reach *reach;
    uint64_t *duplicates;
    struct cut_rows cuts; /* sorted by the third coordinate of their centres, once all are listed */
    double most;          /* the largest reach of a cut row */
    /* The island that is being read, and its rows that have a box. */
    struct merged_island island;
    bool is_open;
    struct part *parts;
    int64_t n_parts, parts_capacity;
};

static int32_t image_of(const struct finding *f) {
    return f->order[f->i];
}

/* --- rows of images --- */

typedef bool take_function(struct finding *f, int64_t row, const struct srcfind_source *source);

/* Reads the rows of the image, with their numbers among all rows. */
static bool read_rows(struct finding *f, struct srcfind_source *block, take_function *take) {
    const struct merged_image *image = &f->images[image_of(f)];
    for (int64_t first = 0, n; first < image->n; first += n) {
        n = image->n - first < MERGED_ROWS_AT_ONCE ? image->n - first : MERGED_ROWS_AT_ONCE;
        if (!spool_read(f->spool, block, (size_t)n * sizeof *block,
                        image->at + first * (int64_t)sizeof *block))
            return false;
        errno = ENOMEM;
        for (int64_t k = 0; k < n; k++)
            if (!take(f, image->first + first + k, &block[k]))
                return false;
    }
    return true;
}

/* --- islands --- */

static bool is_negative(const struct srcfind_source *row) {
    return row->flags & SRCFIND_FLAG_NEGATIVE;
}

static bool is_of_island(const struct merged_island *island, const struct srcfind_source *row) {
    return island->id == row->island_id && island->scale == row->scale &&
           island->is_negative == is_negative(row);
}

static int64_t lower(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t higher(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A source of --fit that is highest nowhere in its island has no box. */
static bool has_box(const struct srcfind_source *row) {
    return row->x_min != SRCFIND_EMPTY;
}

static struct merged_island begin_island(const struct srcfind_source *row) {
    return (struct merged_island){.id = row->island_id,
                                  .scale = row->scale,
                                  .is_negative = is_negative(row),
                                  .box = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}};
}

static void add_to_island(struct merged_island *island, const struct srcfind_source *row) {
    island->is_cut = island->is_cut || row->flags & SRCFIND_FLAG_EDGE;
    if (has_box(row)) {
        island->has_box = true;
        island->box.x_min = lower(island->box.x_min, row->x_min);
        island->box.x_max = higher(island->box.x_max, row->x_max);
        island->box.y_min = lower(island->box.y_min, row->y_min);
        island->box.y_max = higher(island->box.y_max, row->y_max);
    }
    if (island->has_place || !isfinite(row->x) || !isfinite(row->y))
        return;
    island->has_place = pixel_frame_position(row, island->position);
    island->x = row->x;
    island->y = row->y;
    island->has_guess = pixel_frame_guess(row, &island->guess);
}

/* The frame of an image or, if its rows do not tell it, the guess of an island; NULL: not known. */
static const struct pixel_frame *frame_of(const struct image_frame *image,
                                          const struct merged_island *island) {
    return image->is_known ? &image->frame : island->has_guess ? &island->guess : NULL;
}

/* --- rows that are cut --- */

/* Gives a cut row the box and the position of its island, all rows of which were read. */
static void describe_island(struct cut_row *cut, const struct merged_island *island) {
    const struct pixel_box *box = &island->box;
    cut->scale = island->scale;
    cut->is_negative = island->is_negative;
    cut->has_frame = island->has_guess;
    cut->frame = island->guess;
    memcpy(cut->centre, island->position, sizeof cut->centre);
    cut->offset_x = ((double)box->x_min + (double)box->x_max) / 2 - island->x;
    cut->offset_y = ((double)box->y_min + (double)box->y_max) / 2 - island->y;
    cut->half_x = ((double)box->x_max - (double)box->x_min) / 2;
    cut->half_y = ((double)box->y_max - (double)box->y_min) / 2;
}

/* Ends an island. Its cut rows are dropped if it has no box or no position. */
static void end_island(struct cut_rows *c) {
    if (!(c->is_open && c->island.has_box && c->island.has_place))
        c->n = c->first_of_island;
    for (int64_t k = c->first_of_island; k < c->n; k++)
        describe_island(&c->rows[k], &c->island);
    c->first_of_island = c->n;
    c->is_open = false;
}

static bool take_cut_row(struct finding *f, int64_t row, const struct srcfind_source *source) {
    struct cut_rows *c = &f->cuts;
    pixel_sums_add(&c->sums, source);
    if (c->is_open && !is_of_island(&c->island, source))
        end_island(c);
    if (!c->is_open)
        c->island = begin_island(source);
    c->is_open = true;
    add_to_island(&c->island, source);
    if (!(source->flags & SRCFIND_FLAG_EDGE) || row_bit_is_set(f->duplicates, row))
        return true;
    if (!GROW(c->rows, c->capacity, c->n + 1))
        return false;
    c->rows[c->n++] = (struct cut_row){.row = (uint32_t)row, .image = image_of(f)};
    return true;
}

/* Finds the frame of the image, whose rows were read, and the centres of the boxes of its cut rows.
 */
static void end_image(struct cut_rows *c, struct image_frame *image) {
    end_island(c);
    image->is_known = pixel_frame_fit(&c->sums, &image->frame);
    int64_t n = c->first_of_image;
    for (int64_t k = c->first_of_image; k < c->n; k++) {
        struct cut_row *cut = &c->rows[n];
        *cut = c->rows[k];
        if (image->is_known)
            cut->frame = image->frame;
        else if (!cut->has_frame)
            continue;
        pixel_frame_move(&cut->frame, cut->offset_x, cut->offset_y, cut->centre);
        n++;
    }
    c->n = c->first_of_island = c->first_of_image = n;
    c->sums = (struct pixel_sums){0};
}

static int by_centre(const void *a, const void *b) {
    const struct cut_row *x = a, *y = b;
    return (x->centre[2] > y->centre[2]) - (x->centre[2] < y->centre[2]);
}

/* Lists the rows of all images that are cut. */
static bool list_cut_rows(struct finding *f, struct srcfind_source *block) {
    struct cut_rows *c = &f->cuts;
    for (f->i = 0; f->i < f->n; f->i++) {
        if (!read_rows(f, block, take_cut_row))
            return false;
        end_image(c, &c->frames[f->i]);
    }
    if (c->n > 0)
        qsort(c->rows, (size_t)c->n, sizeof *c->rows, by_centre);
    for (int64_t k = 0; k < c->n; k++)
        f->most = fmax(f->most, reach_of_scale(&f->reach[c->rows[k].image], c->rows[k].scale));
    return true;
}

/* --- islands that are whole --- */

/* A row of an island, in pixels. */
struct part {
    double x, y, half_x, half_y; /* its box */
    /* The half axes of an ellipse in the box; 0: the row has no shape. */
    double major_x, major_y, minor_x, minor_y;
};

/* A step on the sky from a row, in a direction from north through east, as long as an angle. */
static void direction(const struct srcfind_source *row, double turned, double angle, double to[3]) {
    const double degree = M_PI / 180;
    double north[3], east[3];
    pixel_frame_directions(row->lon, row->lat, north, east);
    for (int k = 0; k < 3; k++)
        to[k] = angle * degree * (cos(turned * degree) * north[k] + sin(turned * degree) * east[k]);
}

/* Gives a part the ellipse of its row, as large as the box of the row: an island is wider than the
 * FWHM. */
static void set_ellipse(struct part *part, const struct srcfind_source *row,
                        const struct pixel_frame *frame) {
    double major[3], minor[3];
    if (!(row->major > 0) || !(row->minor > 0) || !isfinite(row->angle))
        return;
    direction(row, row->angle, row->major, major);
    direction(row, row->angle + 90, row->minor, minor);
    pixel_frame_pixels(frame, major, &part->major_x, &part->major_y);
    pixel_frame_pixels(frame, minor, &part->minor_x, &part->minor_y);
    const double growth = fmax(part->half_x / hypot(part->major_x, part->minor_x),
                               part->half_y / hypot(part->major_y, part->minor_y));
    part->major_x *= growth;
    part->major_y *= growth;
    part->minor_x *= growth;
    part->minor_y *= growth;
}

/* Adds the part of a row. */
static bool add_part(struct finding *f, const struct srcfind_source *row) {
    const struct pixel_frame *frame = frame_of(&f->cuts.frames[f->i], &f->island);
    if (!has_box(row) || !frame)
        return true;
    if (!GROW(f->parts, f->parts_capacity, f->n_parts + 1))
        return false;
    struct part *part = &f->parts[f->n_parts++];
    *part = (struct part){.x = ((double)row->x_min + (double)row->x_max) / 2,
                          .y = ((double)row->y_min + (double)row->y_max) / 2,
                          .half_x = ((double)row->x_max - (double)row->x_min + 1) / 2,
                          .half_y = ((double)row->y_max - (double)row->y_min + 1) / 2};
    set_ellipse(part, row, frame);
    return true;
}

/* Whether a pixel is in the ellipse of a part, or at most `margin` pixels beside it. */
static bool is_in_part(const struct part *p, double x, double y, double margin) {
    const double major = hypot(p->major_x, p->major_y), minor = hypot(p->minor_x, p->minor_y);
    const double determinant = p->major_x * p->minor_y - p->major_y * p->minor_x;
    const double dx = x - p->x, dy = y - p->y;
    if (!(fabs(determinant) > 0))
        return fabs(dx) <= p->half_x + margin && fabs(dy) <= p->half_y + margin;
    const double along = (dx * p->minor_y - dy * p->minor_x) / determinant * major;
    const double across = (dy * p->major_x - dx * p->major_y) / determinant * minor;
    return hypot(along / (major + margin), across / (minor + margin)) <= 1;
}

/* The pixel of a position, in the image of the whole island. */
static void find_pixel(const struct finding *f, const struct pixel_frame *frame,
                       const double position[3], double *x, double *y) {
    double step[3];
    for (int k = 0; k < 3; k++)
        step[k] = position[k] - f->island.position[k];
    pixel_frame_pixels(frame, step, x, y);
    *x += f->island.x;
    *y += f->island.y;
}

/* Whether a cut island is in the box of the whole island, or at most `margin` pixels beside it. The
 * middles of the four sides of its box are tested: in images that are turned, corners lie outside
 * of the island. */
static bool is_in_box(const struct finding *f, const struct pixel_frame *frame,
                      const struct cut_row *cut, double margin) {
    const struct merged_island *whole = &f->island;
    for (int side = 0; side < 4; side++) {
        const double half = side & 1 ? 1 : -1;
        double at[3], x, y;
        memcpy(at, cut->centre, sizeof at);
        pixel_frame_move(&cut->frame, side & 2 ? half * cut->half_x : 0,
                         side & 2 ? 0 : half * cut->half_y, at);
        find_pixel(f, frame, at, &x, &y);
        if (!(x >= (double)whole->box.x_min - margin && x <= (double)whole->box.x_max + margin &&
              y >= (double)whole->box.y_min - margin && y <= (double)whole->box.y_max + margin))
            return false;
    }
    return true;
}

/* The longer side of a box, in pixels. */
static double longer_side(const struct pixel_box *box) {
    return (double)higher(box->x_max - box->x_min, box->y_max - box->y_min) + 1;
}

/* A reach in pixels, at most MOST_SIDES times the box of the island: a header may have an absurd
 * beam. */
static double bound_reach(const struct merged_island *island, const struct pixel_frame *frame,
                          double reach) {
    return fmin(reach / pixel_frame_size(frame), MOST_SIDES * longer_side(&island->box));
}

/* How far beside the whole island a cut island may be, in pixels: the larger of the reach of the
 * images and a sixth of the shorter side of the box. The edge of a wide source differs by so much
 * between images of different noise. */
static double margin_of(const struct finding *f, const struct pixel_frame *frame,
                        const struct cut_row *cut) {
    const struct merged_island *island = &f->island;
    const struct pixel_box *box = &island->box;
    const double reach = fmax(reach_of_scale(&f->reach[cut->image], cut->scale),
                              reach_of_scale(&f->reach[image_of(f)], island->scale));
    const double x = (double)box->x_max - (double)box->x_min + 1;
    const double y = (double)box->y_max - (double)box->y_min + 1;
    return reach > 0 ? fmax(bound_reach(island, frame, reach), fmin(x, y) / 6) : (double)NAN;
}

/* Whether the whole island contains a cut one, of another image and of the same sign. Its scale
 * must not be narrower: a wider scale has the rest of a source, a narrower one another source on
 * wide emission. */
static bool contains(const struct finding *f, const struct pixel_frame *frame,
                     const struct cut_row *cut) {
    const struct merged_island *island = &f->island;
    if (cut->image == image_of(f) || cut->is_negative != island->is_negative ||
        cut->scale < island->scale)
        return false;
    const double margin = margin_of(f, frame, cut);
    if (!(margin > 0) || !is_in_box(f, frame, cut, margin)) /* the margin may be NaN */
        return false;
    double x, y;
    find_pixel(f, frame, cut->centre, &x, &y);
    for (int64_t i = 0; i < f->n_parts; i++)
        if (is_in_part(&f->parts[i], x, y, margin))
            return true;
    return false;
}

/* The largest distance of a corner of the box from the position of the island. */
static double extent_of(const struct merged_island *island, const struct pixel_frame *frame) {
    const struct pixel_box *box = &island->box;
    double most = 0;
    for (int corner = 0; corner < 4; corner++) {
        double step[3] = {0, 0, 0};
        pixel_frame_move(frame, (double)(corner & 1 ? box->x_max : box->x_min) - island->x,
                         (double)(corner & 2 ? box->y_max : box->y_min) - island->y, step);
        most = fmax(most, sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]));
    }
    return most;
}

/* The first cut row whose centre is not below z. */
static int64_t first_above(const struct cut_rows *c, double z) {
    int64_t low = 0, high = c->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (c->rows[middle].centre[2] < z)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Looks for cut rows in the island, if it is whole. */
static void search_island(struct finding *f) {
    const struct merged_island *island = &f->island;
    const struct cut_rows *c = &f->cuts;
    const struct pixel_frame *frame = frame_of(&c->frames[f->i], island);
    const bool is_usable = f->is_open && island->has_box && island->has_place && frame;
    f->is_open = false;
    if (!is_usable || island->is_cut)
        return;
    const double own = reach_of_scale(&f->reach[image_of(f)], island->scale);
    const double reach = bound_reach(island, frame, fmax(own, f->most)) * pixel_frame_size(frame);
    const double radius = 2 * (extent_of(island, frame) + reach); /* with the margin */
    const double *at = island->position;
    for (int64_t k = first_above(c, at[2] - radius); k < c->n; k++) {
        const struct cut_row *cut = &c->rows[k];
        if (cut->centre[2] > at[2] + radius)
            break;
        if (fabs(cut->centre[0] - at[0]) <= radius && fabs(cut->centre[1] - at[1]) <= radius &&
            contains(f, frame, cut))
            row_bit_set(f->duplicates, cut->row);
    }
}

static bool take_row(struct finding *f, int64_t number, const struct srcfind_source *row) {
    (void)number;
    if (f->is_open && !is_of_island(&f->island, row))
        search_island(f);
    if (!f->is_open) {
        f->island = begin_island(row);
        f->n_parts = 0;
    }
    f->is_open = true;
    add_to_island(&f->island, row);
    return add_part(f, row);
}

/* Looks for cut rows in the islands of all images. */
static bool search_images(struct finding *f, struct srcfind_source *block) {
    for (f->i = 0; f->i < f->n; f->i++) {
        if (!read_rows(f, block, take_row))
            return false;
        search_island(f);
    }
    return true;
}

bool cut_rows_find(const struct spool *spool, const struct merged_image *images,
                   const int32_t *order, int64_t n, const struct reach *reach,
                   uint64_t *duplicates) {
    struct finding f = {.spool = spool,
                        .images = images,
                        .order = order,
                        .n = n,
                        .reach = reach,
                        .duplicates = duplicates,
                        .cuts.frames = calloc((size_t)n + 1, sizeof *f.cuts.frames)};
    struct srcfind_source *block = malloc(MERGED_ROWS_AT_ONCE * sizeof *block);
    errno = ENOMEM;
    bool ok = f.cuts.frames && block && list_cut_rows(&f, block);
    if (ok && f.cuts.n > 0)
        ok = search_images(&f, block);
    free(f.cuts.frames);
    free(f.cuts.rows);
    free(f.parts);
    free(block);
    return ok;
}
