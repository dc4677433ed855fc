/* How the pixels of a group of places become normal equations, for linear least squares of their
 * amplitudes.
 *
 * 1. place_runs_add makes the runs of a group: for each row, the columns within one FWHM of each
 *    place (in the directions of its shape), and its nearest pixel; overlapping columns are joined,
 *    so that a pixel is read once.
 * 2. place_sums_add goes along the runs, 64 pixels of a row at a time (each_span). The shapes g of
 *    all members that reach the pixels, and their weights w = g^(1 + power), are computed once, and
 *    their products added: N_ik = sum w_i g_k, S_ik = sum w_i w_k, b_i = sum (value - background)
 *    w_i, and the cross sums with the others of a cluster.
 * 3. place_residuals_add subtracts all amplitudes, and adds up chi^2 of the pixels of each place.
 *
 * Always: each sum is a chain over the pixels in the order of the runs, so its bits depend neither
 * on threads nor on batches. A blank pixel has weight 0.
 *
 * Cost: pixels x members^2 / 2 products, at most 64 members; where members are far apart, their
 * shapes are 0 over most pixels, and these are skipped. */
#include "measure/place_sums.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

static const double MOST_COLUMN = 1e15;

/* The columns x0 ... x1 of a row; none if x0 > x1. */
struct columns {
    int64_t x0, x1;
};

static struct columns columns_in(const struct place *p, int64_t y) {
    if (p->is_sampled)
        return (struct columns){(int64_t)ceil(p->x - p->reach_x),
                                (int64_t)floor(p->x + p->reach_x)};
    const bool has_nearest = y == place_nearest(p->y);
    const double dy = (double)y - p->y, xx = p->form.xx, xy = p->form.xy;
    const double left = p->square - (p->form.yy - xy * xy / xx) * dy * dy;
    struct columns c = {place_nearest(p->x), place_nearest(p->x) - !has_nearest};
    if (!(p->square > 0 && left >= 0))
        return c;
    const double centre = p->x - xy * dy / xx, half = sqrt(left / xx);
    const int64_t x0 = (int64_t)ceil(centre - half), x1 = (int64_t)floor(centre + half);
    if (!has_nearest)
        return (struct columns){x0, x1};
    c.x0 = x0 < c.x0 ? x0 : c.x0;
    c.x1 = x1 > c.x1 ? x1 : c.x1;
    return c;
}

/* --- runs --- */

/* The rows of a group, which may be beyond the image. */
static struct columns rows_of(const struct place *places, const struct place_group *group) {
    struct columns rows = {INT64_MAX, INT64_MIN};
    for (int i = 0; i < group->n; i++) {
        const struct place *p = &places[group->members[i]];
        const double nearest = (double)place_nearest(p->y);
        const int64_t first = (int64_t)fmin(ceil(p->y - p->reach_y), nearest);
        const int64_t last = (int64_t)fmax(floor(p->y + p->reach_y), nearest);
        rows.x0 = first < rows.x0 ? first : rows.x0;
        rows.x1 = last > rows.x1 ? last : rows.x1;
    }
    return rows;
}

static int compare_columns(const void *a, const void *b) {
    const struct columns *left = a, *right = b;
    return (left->x0 > right->x0) - (left->x0 < right->x0);
}

/* Lists the columns of row y that the members use, within the image, sorted by their start. Returns
 * their number. */
static int columns_of_row(const struct place *places, const struct place_group *group, int64_t y,
                          int64_t width, struct columns *list) {
    int n = 0;
    for (int i = 0; i < group->n; i++) {
        const struct place *p = &places[group->members[i]];
        if (fabs((double)y - p->y) > p->reach_y && y != place_nearest(p->y))
            continue;
        struct columns c = columns_in(p, y);
        c.x0 = c.x0 < 0 ? 0 : c.x0;
        c.x1 = c.x1 < width ? c.x1 : width - 1;
        if (c.x0 <= c.x1)
            list[n++] = c;
    }
    if (n > 1)
        qsort(list, (size_t)n, sizeof *list, compare_columns);
    return n;
}

bool place_runs_add(struct place_runs *r, const struct place *places,
                    const struct place_group *group, int64_t width, int64_t height) {
    const struct columns rows = rows_of(places, group);
    struct columns list[PLACES_A_GROUP];
    struct run_set set = {NULL, 0, r->n_pixels};
    if (!GROW(r->sets, r->sets_capacity, r->n + 1))
        return false;
    for (int64_t y = rows.x0 < 0 ? 0 : rows.x0; y <= rows.x1 && y < height; y++) {
        const int n = columns_of_row(places, group, y, width, list);
        if (!GROW(r->runs, r->runs_capacity, r->n_runs + n))
            return false;
        for (int i = 0, next; i < n; i = next) {
            int64_t end = list[i].x1;
            for (next = i + 1; next < n && list[next].x0 <= end + 1; next++)
                end = list[next].x1 > end ? list[next].x1 : end;
            const struct run run = {(int32_t)y, (int32_t)list[i].x0, (int32_t)end};
            r->runs[r->n_runs++] = run;
            r->n_pixels += run_length(&run);
            set.n++;
        }
    }
    r->sets[r->n++] = set;
    return true;
}

void place_runs_finish(struct place_runs *r) {
    int64_t first = 0;
    for (int64_t i = 0; i < r->n; i++) {
        r->sets[i].runs = r->runs + first;
        first += r->sets[i].n;
    }
}

void place_runs_clear(struct place_runs *r) {
    free(r->sets);
    free(r->runs);
    *r = (struct place_runs){0};
}

/* --- sums --- */

bool place_sums_make(const struct place_group *group, struct place_sums *sums) {
    const size_t n = (size_t)group->n;
    sums->normal = calloc(n * (2 * n + 1 + (size_t)group->n_others), sizeof *sums->normal);
    if (!sums->normal)
        return false;
    sums->squares = sums->normal + n * n;
    sums->right = sums->squares + n * n;
    sums->cross = sums->right + n;
    return true;
}

void place_sums_free(struct place_sums *sums) {
    free(sums->normal);
    *sums = (struct place_sums){0};
}

enum { PIXELS_AT_ONCE = 64 };

/* A member of a group that reaches the row. */
struct active {
    int member;
    const struct place *place;
    struct place weights;
    struct place_pixels *known;
    struct columns used;    /* columns whose pixels it uses */
    struct columns reached; /* columns where its shape is not 0 */
    int64_t nearest;        /* the column of its nearest pixel; -1: it is in another row */
};

struct group_pixels {
    bool has_background; /* the background is subtracted: none of the places is wide */
    const struct place *places;
    const struct place_group *group;
    struct place_sums *sums;
    struct place_pixels *known;
    const struct amplitude *amplitudes;
    struct active active[PLACES_A_GROUP];
    int n_active;
};

/* Some pixels of a row. A blank one has the value 0 and no weight. */
struct span {
    int64_t x, y;
    int n;
    double above[PIXELS_AT_ONCE], weight[PIXELS_AT_ONCE];
    struct noise_at noise[PIXELS_AT_ONCE];
    int n_blank;
};

/* The column at x. If x is far beyond any image, the column is, too. */
static int64_t column_at(double x) {
    return (int64_t)fmax(-MOST_COLUMN, fmin(x, MOST_COLUMN));
}

/* The columns within `reach` of a place in a row, and a few more. */
static struct columns columns_reached(const struct place *p, double reach, int64_t y) {
    const double dy = (double)y - p->y, xx = p->form.xx, xy = p->form.xy;
    const double left = reach - (p->form.yy - xy * xy / xx) * dy * dy;
    if (!(left >= 0))
        return (struct columns){0, -1};
    const double centre = p->x - xy * dy / xx, half = sqrt(left / xx) + 1;
    return (struct columns){column_at(floor(centre - half)), column_at(ceil(centre + half))};
}

static void find_active(struct group_pixels *s, int64_t y) {
    s->n_active = 0;
    for (int i = 0; i < s->group->n; i++) {
        const int64_t index = s->group->members[i];
        const struct place *p = &s->places[index];
        const bool has_nearest = y == place_nearest(p->y);
        const bool is_used = has_nearest || fabs((double)y - p->y) <= p->reach_y;
        const struct columns none = {0, -1}, reached = columns_reached(p, PLACE_REACH, y);
        if (is_used || reached.x0 <= reached.x1)
            s->active[s->n_active++] =
                (struct active){.member = i,
                                .place = p,
                                .weights = place_weights(p),
                                .known = &s->known[index],
                                .used = is_used ? columns_in(p, y) : none,
                                .reached = reached,
                                .nearest = has_nearest ? place_nearest(p->x) : -1};
    }
}

/* Adds the pixels [first, last] of a span to a sample. */
static void add_to_sample(const struct active *a, const struct span *span, int64_t first,
                          int64_t last) {
    const double along_y = place_sample_weight((double)span->y - a->place->y);
    for (int64_t i = first; i <= last; i++) {
        const double weight =
            along_y * place_sample_weight((double)(span->x + i) - a->place->x) * span->weight[i];
        a->known->sampled += weight * span->above[i];
        a->known->weight += weight;
    }
}

/* Counts the pixels of a span that a place uses, and takes the value of its nearest pixel. */
static void count_pixels(const struct active *a, const struct span *span) {
    const int64_t first = a->used.x0 > span->x ? a->used.x0 - span->x : 0;
    const int64_t last = a->used.x1 - span->x < span->n ? a->used.x1 - span->x : span->n - 1;
    if (first > last)
        return;
    int64_t n = last - first + 1;
    for (int64_t i = first; span->n_blank > 0 && i <= last; i++)
        n -= span->weight[i] == 0;
    if (a->place->is_sampled)
        add_to_sample(a, span, first, last);
    a->known->n += n;
    a->known->n_missing += last - first + 1 - n;
    if (a->nearest >= span->x && a->nearest < span->x + span->n) {
        const int64_t i = a->nearest - span->x;
        a->known->above = span->weight[i] > 0 ? span->above[i] : (double)NAN;
        a->known->noise = span->noise[i];
    }
}

/* The values of a place's shape in a span. They are 0 outside of [first, end). */
struct shape_values {
    double value[PIXELS_AT_ONCE];
    int first, end;
};

static void find_shape(const struct place *p, const struct columns *reached,
                       const struct span *span, struct shape_values *shape) {
    const int64_t first = reached->x0 - span->x, end = reached->x1 + 1 - span->x;
    shape->first = (int)(first < 0 ? 0 : first < span->n ? first : span->n);
    shape->end = (int)(end > span->n ? span->n : end > shape->first ? end : shape->first);
    memset(shape->value, 0, (size_t)shape->first * sizeof *shape->value);
    memset(shape->value + shape->end, 0, (size_t)(span->n - shape->end) * sizeof *shape->value);
    for (int i = shape->first; i < shape->end; i++)
        shape->value[i] =
            span->weight[i] * place_shape_at(p, (double)(span->x + i), (double)span->y);
}

/* Adds the product of two shapes to a sum, pixel by pixel. */
static void add_product(const struct shape_values *a, const struct shape_values *b, double *sum) {
    const int first = a->first > b->first ? a->first : b->first;
    const int end = a->end < b->end ? a->end : b->end;
    double s = *sum;
    for (int i = first; i < end; i++)
        s += a->value[i] * b->value[i];
    *sum = s;
}

/* Adds the products of four shapes with another one, each to its sum, so that the processor works
 * on four sums at a time. Where a shape is 0, 0 is added: the sums have the bits of add_product. */
static void add_four(const struct shape_values *shapes, const struct shape_values *by,
                     double *const sums[4]) {
    int first = by->end, end = by->first;
    for (int k = 0; k < 4; k++) {
        first = shapes[k].first < first ? shapes[k].first : first;
        end = shapes[k].end > end ? shapes[k].end : end;
    }
    first = by->first > first ? by->first : first;
    end = by->end < end ? by->end : end;
    double s0 = *sums[0], s1 = *sums[1], s2 = *sums[2], s3 = *sums[3];
    for (int i = first; i < end; i++) {
        s0 += shapes[0].value[i] * by->value[i];
        s1 += shapes[1].value[i] * by->value[i];
        s2 += shapes[2].value[i] * by->value[i];
        s3 += shapes[3].value[i] * by->value[i];
    }
    *sums[0] = s0;
    *sums[1] = s1;
    *sums[2] = s2;
    *sums[3] = s3;
}

/* Adds the products of the first n active shapes with another one to the sums of their members. */
static void add_products(const struct group_pixels *s, const struct shape_values *shapes, int n,
                         const struct shape_values *by, double *sums) {
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        double *const four[] = {&sums[s->active[k].member], &sums[s->active[k + 1].member],
                                &sums[s->active[k + 2].member], &sums[s->active[k + 3].member]};
        add_four(&shapes[k], by, four);
    }
    for (; k < n; k++)
        add_product(&shapes[k], by, &sums[s->active[k].member]);
}

static void add_span(struct group_pixels *s, const struct span *span) {
    struct shape_values shapes[PLACES_A_GROUP], weights[PLACES_A_GROUP], other;
    const int64_t n = s->group->n;
    for (int k = 0; k < s->n_active; k++) {
        const struct active *a = &s->active[k];
        count_pixels(a, span);
        find_shape(a->place, &a->reached, span, &shapes[k]);
        find_shape(&a->weights, &a->reached, span, &weights[k]);
        for (int x = weights[k].first; x < weights[k].end; x++)
            s->sums->right[a->member] += span->above[x] * weights[k].value[x];
        add_products(s, weights, k + 1, &weights[k], &s->sums->squares[a->member * n]);
    }
    for (int k = 0; k < s->n_active; k++)
        add_products(s, shapes, s->n_active, &weights[k],
                     &s->sums->normal[s->active[k].member * n]);
    for (int i = 0; i < s->group->n_others; i++) {
        const struct place *p = &s->places[s->group->others[i]];
        const struct columns reached = columns_reached(p, PLACE_REACH_OF_OTHERS, span->y);
        find_shape(p, &reached, span, &other);
        if (other.first < other.end)
            add_products(s, weights, s->n_active, &other, &s->sums->cross[i * n]);
    }
}

/* Whether a wide place is in a group, or reaches its pixels. */
static bool has_wide(const struct place *places, const struct place_group *group) {
    bool has = false;
    for (int i = 0; i < group->n; i++)
        has = has || places[group->members[i]].is_wide;
    for (int i = 0; i < group->n_others; i++)
        has = has || places[group->others[i]].is_wide;
    return has;
}

/* Takes n pixels of a row, from index `at` of the pixels on. */
static void take_span(const struct run_pixels *pixels, int64_t at, int64_t x, int64_t y, int n,
                      bool has_background, struct span *span) {
    span->x = x;
    span->y = y;
    span->n = n;
    span->n_blank = 0;
    for (int i = 0; i < n; i++) {
        const double background = pixels->background[at + i]; /* NaN: blank */
        const double above = (double)pixels->value[at + i] - (has_background ? background : 0);
        const bool is_blank = !isfinite(above) || !isfinite(background);
        span->noise[i] = (struct noise_at){background, pixels->rms[at + i]};
        span->above[i] = is_blank ? 0 : above;
        span->weight[i] = !is_blank;
        span->n_blank += is_blank;
    }
}

/* Calls `use` for the pixels of a group, span after span. */
static void each_span(struct group_pixels *s, const struct run_set *set,
                      const struct run_pixels *pixels,
                      void (*use)(struct group_pixels *s, const struct span *span)) {
    struct span span;
    int64_t at = set->first;
    for (const struct run *run = set->runs; run < set->runs + set->n; run++) {
        find_active(s, run->y);
        for (int64_t x = run->x0; x <= run->x1; x += PIXELS_AT_ONCE) {
            const int64_t left = run->x1 - x + 1;
            const int n = (int)(left < PIXELS_AT_ONCE ? left : PIXELS_AT_ONCE);
            take_span(pixels, at, x, run->y, n, s->has_background, &span);
            use(s, &span);
            at += n;
        }
    }
}

void place_sums_add(const struct place *places, const struct place_group *group,
                    const struct run_set *set, const struct run_pixels *pixels,
                    struct place_sums *sums, struct place_pixels *known) {
    struct group_pixels s = {.has_background = !has_wide(places, group),
                             .places = places,
                             .group = group,
                             .sums = sums,
                             .known = known};
    for (int i = 0; i < group->n; i++)
        known[group->members[i]] = (struct place_pixels){.above = NAN};
    each_span(&s, set, pixels, add_span);
}

/* --- residuals --- */

/* Subtracts a shape times its amplitude. */
static void subtract_shape(const struct place *p, const struct columns *reached,
                           const struct span *span, const struct amplitude *amplitude,
                           double *values) {
    struct shape_values shape;
    if (amplitude->is_shared) /* the place whose amplitude it is subtracts it */
        return;
    find_shape(p, reached, span, &shape);
    for (int x = shape.first; x < shape.end; x++)
        values[x] -= amplitude->value * shape.value[x];
}

static void add_residuals(struct group_pixels *s, const struct span *span) {
    double rest[PIXELS_AT_ONCE];
    memcpy(rest, span->above, (size_t)span->n * sizeof *rest);
    for (int k = 0; k < s->n_active; k++) {
        const struct active *a = &s->active[k];
        subtract_shape(a->place, &a->reached, span, &s->amplitudes[s->group->members[a->member]],
                       rest);
    }
    for (int i = 0; i < s->group->n_others; i++) {
        const struct place *p = &s->places[s->group->others[i]];
        const struct columns reached = columns_reached(p, PLACE_REACH_OF_OTHERS, span->y);
        subtract_shape(p, &reached, span, &s->amplitudes[s->group->others[i]], rest);
    }
    for (int k = 0; k < s->n_active; k++) {
        const struct columns *used = &s->active[k].used;
        for (int64_t x = used->x0 > span->x ? used->x0 : span->x;
             x <= used->x1 && x < span->x + span->n; x++) {
            const double ratio = rest[x - span->x] / span->noise[x - span->x].rms;
            s->active[k].known->chi2 += span->weight[x - span->x] > 0 ? ratio * ratio : 0;
        }
    }
}

void place_residuals_add(const struct place *places, const struct place_group *group,
                         const struct run_set *set, const struct run_pixels *pixels,
                         const struct amplitude *amplitudes, struct place_pixels *known) {
    struct group_pixels s = {.has_background = !has_wide(places, group),
                             .places = places,
                             .group = group,
                             .known = known,
                             .amplitudes = amplitudes};
    each_span(&s, set, pixels, add_residuals);
}
