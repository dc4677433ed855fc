#include "oracle.h"

#include <stdlib.h>

/* --- clip --- */

static int by_value(const void *a, const void *b) {
    const float *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void statistics(const float *x, int64_t n, struct srcfind_background *b) {
    long double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    const long double mean = sum / (long double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    b->median = ((double)x[(n - 1) / 2] + (double)x[n / 2]) / 2;
    b->mean = (double)mean;
    b->rms = (double)sqrtl(squares / (long double)n);
    b->min = x[0];
    b->max = x[n - 1];
    b->n_kept = n;
}

static void clip(float *x, int64_t n, double kappa, struct srcfind_background *b) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    for (;;) {
        int64_t kept = 0;
        b->rounds++;
        statistics(x, n, b);
        for (int64_t i = 0; i < n; i++)
            if (x[i] > b->median - kappa * b->rms && x[i] < b->median + kappa * b->rms)
                x[kept++] = x[i];
        b->empty = kept == 0;
        if (b->empty || kept == n)
            return;
        n = kept;
    }
}

/* --- islands --- */

struct flood {
    const struct picture *picture;
    const bool *mask;
    bool *taken;
    int *stack;
    int connectivity;
};

static bool is_inside(const struct picture *p, int x, int y) {
    return x >= 0 && y >= 0 && x < p->width && y < p->height;
}

static void take(struct flood *f, int x, int y, int *depth) {
    const int at = y * f->picture->width + x;
    if (!is_inside(f->picture, x, y) || !f->mask[at] || f->taken[at])
        return;
    f->taken[at] = true;
    f->stack[(*depth)++] = at;
}

/* Fills members with the pixels of the island that holds `start`; returns how many. */
static int fill(struct flood *f, int start, int *members) {
    const int width = f->picture->width;
    int depth = 0, n = 0;
    take(f, start % width, start / width, &depth);
    while (depth > 0) {
        const int at = f->stack[--depth], x = at % width, y = at / width;
        members[n++] = at;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (f->connectivity == 8 || dx == 0 || dy == 0)
                    take(f, x + dx, y + dy, &depth);
    }
    return n;
}

static bool touches_edge(const struct picture *p, int x, int y) {
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (!is_inside(p, x + dx, y + dy) || !isfinite(p->pixels[(y + dy) * p->width + x + dx]))
                return true;
    return false;
}

/* What is subtracted from a pixel: 0 without local noise, where sums are of the pixels. */
static double base_of(const struct noise_at *noise, int at) {
    return noise ? noise[at].background : 0;
}

static struct oracle_island measure(const struct picture *p, const struct noise_at *noise,
                                    const int *members, int n) {
    struct oracle_island i = {
        .n_pixels = n, .x_min = p->width, .y_min = p->height, .x_peak = -1, .peak = -INFINITY};
    double above = -INFINITY;
    for (int m = 0; m < n; m++) {
        const int x = members[m] % p->width, y = members[m] / p->width;
        const float pixel = p->pixels[members[m]];
        const double v = (double)pixel - base_of(noise, members[m]);
        i.x_min = x < i.x_min ? x : i.x_min;
        i.x_max = x > i.x_max ? x : i.x_max;
        i.y_min = y < i.y_min ? y : i.y_min;
        i.y_max = y > i.y_max ? y : i.y_max;
        i.edge |= touches_edge(p, x, y);
        if (noise)
            i.snr = fmax(i.snr, v / noise[members[m]].rms);
        if (v > above || (v == above && members[m] < i.y_peak * p->width + i.x_peak)) {
            above = v;
            i.peak = pixel;
            i.x_peak = x;
            i.y_peak = y;
        }
    }
    for (int m = 0; m < n; m++) {
        const long double x = members[m] % p->width - i.x_min, y = members[m] / p->width - i.y_min;
        const long double v = (double)p->pixels[members[m]] - base_of(noise, members[m]);
        i.sum += v;
        i.x += v * x;
        i.y += v * y;
        i.xx += v * x * x;
        i.yy += v * y * y;
        i.xy += v * x * y;
    }
    return i;
}

/* Which pixels belong to islands, and which of them make an island count. */
struct masks {
    bool *island, *detection;
};

static struct masks make_masks(int n) {
    return (struct masks){calloc((size_t)n, 1), calloc((size_t)n, 1)};
}

/* Finds the islands of the masks, and frees these. noise is that of each pixel; NULL: see base_of.
 */
static void find_islands(const struct picture *p, const struct detection *d, struct masks masks,
                         const struct noise_at *noise, struct oracle_result *result) {
    const int n = p->width * p->height;
    bool *taken = calloc((size_t)n, 1);
    int *stack = malloc((size_t)n * sizeof *stack), *members = malloc((size_t)n * sizeof *members);
    struct flood f = {p, masks.island, taken, stack, d->connectivity};
    result->islands = calloc((size_t)n, sizeof *result->islands);
    for (int i = 0; i < n; i++) {
        const int size = fill(&f, i, members);
        bool counts = false;
        for (int m = 0; m < size; m++)
            counts = counts || masks.detection[members[m]];
        if (counts && size >= d->min_pixels)
            result->islands[result->n++] = measure(p, noise, members, size);
    }
    free(masks.island);
    free(masks.detection);
    free(taken);
    free(stack);
    free(members);
}

/* Clips the finite pixels of a part of a picture. */
static struct srcfind_background clip_part(const struct picture *p, int64_t x0, int64_t x1,
                                           int64_t y0, int64_t y1, double kappa) {
    struct srcfind_background b = {.n_pixels = (x1 - x0) * (y1 - y0)};
    float *finite = malloc((size_t)b.n_pixels * sizeof *finite);
    int64_t n = 0;
    for (int64_t y = y0; y < y1; y++)
        for (int64_t x = x0; x < x1; x++)
            if (isfinite(p->pixels[y * p->width + x]))
                finite[n++] = p->pixels[y * p->width + x];
    b.n_blank = b.n_pixels - n;
    if (n > 0)
        clip(finite, n, kappa, &b);
    free(finite);
    return b;
}

struct oracle_result oracle_detect(const struct picture *p, const struct detection *d) {
    const int n = p->width * p->height;
    struct oracle_result result = {.background = clip_part(p, 0, p->width, 0, p->height, d->kappa)};
    const double base = isnan(d->background) ? result.background.median : d->background;
    const double rms = d->rms > 0 ? d->rms : result.background.rms;
    const bool any = result.background.n_kept > 0 && (!result.background.empty || d->rms > 0);
    struct masks masks = make_masks(n);
    for (int i = 0; any && i < n; i++) {
        const float v = p->pixels[i];
        masks.island[i] = isfinite(v) && v > base + d->island * rms;
        masks.detection[i] = isfinite(v) && v > base + d->threshold * rms;
    }
    find_islands(p, d, masks, NULL, &result);
    return result;
}

/* --- local noise --- */

static int64_t limit(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* The first pixel of the box of node i of an axis of n pixels. */
static int64_t box_low(int64_t i, int64_t n, const struct detection *d) {
    return limit(i * d->step + d->step / 2 - d->box / 2, 0, n > d->box ? n - d->box : 0);
}

static struct noise_at clip_box(const struct picture *p, const struct detection *d, int64_t x,
                                int64_t y) {
    const struct srcfind_background b = clip_part(p, x, limit(x + d->box, 0, p->width), y,
                                                  limit(y + d->box, 0, p->height), d->kappa);
    const bool counts = 4 * (b.n_pixels - b.n_blank) >= b.n_pixels && b.rms > 0;
    return counts ? (struct noise_at){b.median, b.rms} : (struct noise_at){NAN, NAN};
}

/* The noise of the nearest node that counts, or that of the whole image. */
static struct noise_at nearest_noise(const struct oracle_nodes *all, struct noise_at whole, int i,
                                     int j) {
    int least = INT32_MAX;
    for (int y = 0; y < all->n_y; y++) {
        for (int x = 0; x < all->n_x; x++) {
            const int distance = (x - i) * (x - i) + (y - j) * (y - j);
            const struct noise_at node = all->nodes[y * all->n_x + x];
            if (distance < least && !isnan(node.rms)) {
                least = distance;
                whole = node;
            }
        }
    }
    return whole;
}

/* All boxes, with nothing left out. */
static struct oracle_nodes find_nodes(const struct picture *p, const struct detection *d) {
    const struct srcfind_background b = clip_part(p, 0, p->width, 0, p->height, d->kappa);
    const struct noise_at whole = {b.median, b.rms > 0 ? b.rms : (double)INFINITY};
    struct oracle_nodes clipped = {.n_x = (int)((p->width + d->step - 1) / d->step),
                                   .n_y = (int)((p->height + d->step - 1) / d->step)};
    struct oracle_nodes filled = clipped;
    const int n = clipped.n_x * clipped.n_y;
    clipped.nodes = malloc((size_t)n * sizeof *clipped.nodes);
    filled.nodes = malloc((size_t)n * sizeof *filled.nodes);
    for (int k = 0; k < n; k++)
        clipped.nodes[k] = clip_box(p, d, box_low(k % clipped.n_x, p->width, d),
                                    box_low(k / clipped.n_x, p->height, d));
    for (int k = 0; k < n; k++) {
        filled.nodes[k] = nearest_noise(&clipped, whole, k % clipped.n_x, k / clipped.n_x);
        if (!isnan(d->background))
            filled.nodes[k].background = d->background;
        if (d->rms > 0)
            filled.nodes[k].rms = d->rms;
    }
    oracle_nodes_free(&clipped);
    return filled;
}

void oracle_nodes_free(struct oracle_nodes *nodes) {
    free(nodes->nodes);
}

/* The node before a pixel, and the share of the way to the next one. */
static int before_pixel(int64_t x, int n_nodes, int64_t step, double *share) {
    const double u = (double)(2 * x - (step - 1)) / (double)(2 * step);
    const double inside = fmin(fmax(u, 0), n_nodes - 1);
    *share = inside - floor(inside);
    return (int)floor(inside);
}

static double between(double a, double b, double share) {
    return a + share * (b - a);
}

static struct noise_at noise_of_pixel(const struct oracle_nodes *n, int x, int y, int64_t step) {
    double f, t;
    const int i = before_pixel(x, n->n_x, step, &f), j = before_pixel(y, n->n_y, step, &t);
    const int right = i + (i < n->n_x - 1), upper = j + (j < n->n_y - 1);
    const struct noise_at *a = &n->nodes[j * n->n_x], *b = &n->nodes[upper * n->n_x];
    return (struct noise_at){
        between(between(a[i].background, b[i].background, t),
                between(a[right].background, b[right].background, t), f),
        between(between(a[i].rms, b[i].rms, t), between(a[right].rms, b[right].rms, t), f)};
}

/* --- bright wide islands --- */

/* The coarse noise of each pixel. False where one has none. */
static bool find_coarse(const struct picture *p, const struct detection *d,
                        struct noise_at *coarse) {
    const struct detection wide = {
        .kappa = d->kappa, .background = NAN, .box = 4 * d->box, .step = 4 * d->box};
    const int n = p->width * p->height;
    const struct srcfind_background b = clip_part(p, 0, p->width, 0, p->height, d->kappa);
    bool is_noisy = b.n_kept > 0;
    if ((p->width < p->height ? p->width : p->height) < 2 * wide.box) {
        for (int i = 0; i < n; i++)
            coarse[i] = (struct noise_at){b.median, b.rms};
        return is_noisy && b.rms > 0;
    }
    struct oracle_nodes nodes = find_nodes(p, &wide);
    for (int i = 0; i < n; i++)
        coarse[i] = noise_of_pixel(&nodes, i % p->width, i / p->width, wide.step);
    for (int k = 0; k < nodes.n_x * nodes.n_y; k++)
        is_noisy = is_noisy && nodes.nodes[k].rms > 0 && isfinite(nodes.nodes[k].rms);
    oracle_nodes_free(&nodes);
    return is_noisy;
}

/* Marks the pixels within 1.5 beams of one. */
static void mark_near(const struct picture *p, const struct detection *d, int at, bool *out) {
    const double most = 2.25 * d->beam_squared * (1 + 1e-9); /* the rounding of a header */
    const int reach = (int)sqrt(most) + 1;
    for (int y = at / p->width - reach; y <= at / p->width + reach; y++)
        for (int x = at % p->width - reach; x <= at % p->width + reach; x++) {
            const int dx = x - at % p->width, dy = y - at / p->width;
            if (is_inside(p, x, y) && dx * dx + dy * dy <= most)
                out[y * p->width + x] = true;
        }
}

/* Whether an island is bright, wide, and no noise. sign: 1, or -1 for a negative one. */
static bool is_left_out(const struct picture *p, const struct detection *d,
                        const struct noise_at *coarse, int sign, const int *members, int n) {
    int x0 = p->width, x1 = -1, y0 = p->height, y1 = -1, n_others = 0;
    bool has_peak = false;
    for (int m = 0; m < n; m++) {
        const int x = members[m] % p->width, y = members[m] / p->width;
        const struct noise_at *c = &coarse[members[m]];
        x0 = x < x0 ? x : x0;
        x1 = x > x1 ? x : x1;
        y0 = y < y0 ? y : y0;
        y1 = y > y1 ? y : y1;
        has_peak |= sign * ((double)p->pixels[members[m]] - c->background) > 10 * c->rms;
    }
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            const struct noise_at *c = &coarse[y * p->width + x];
            const float v = p->pixels[y * p->width + x];
            n_others += isfinite(v) && sign * ((double)v - c->background) < -3 * c->rms;
        }
    return has_peak && n > 15 * M_PI * d->beam_squared / (4 * M_LN2) && 4 * n_others <= n;
}

/* Marks the pixels of islands of one sign that are left out. Returns how many these are. */
static int leave_out(const struct picture *p, const struct detection *d,
                     const struct noise_at *coarse, int sign, bool *out) {
    const int n = p->width * p->height;
    struct masks masks = make_masks(n);
    int *stack = malloc((size_t)n * sizeof *stack), *members = malloc((size_t)n * sizeof *members);
    struct flood f = {p, masks.island, masks.detection, stack, 4};
    int n_islands = 0;
    for (int i = 0; i < n; i++)
        masks.island[i] = isfinite(p->pixels[i]) &&
                          sign * ((double)p->pixels[i] - coarse[i].background) > 3 * coarse[i].rms;
    for (int i = 0; i < n; i++) {
        const int size = fill(&f, i, members);
        if (size == 0 || !is_left_out(p, d, coarse, sign, members, size))
            continue;
        n_islands++;
        for (int m = 0; m < size; m++)
            mark_near(p, d, members[m], out);
    }
    free(masks.island);
    free(masks.detection);
    free(stack);
    free(members);
    return n_islands;
}

/* The nodes of a picture without the pixels of `out`. If none counts, those of the whole picture.
 */
static struct oracle_nodes find_without(const struct picture *p, const struct detection *d,
                                        const bool *out) {
    struct picture rest = {p->width, p->height,
                           malloc((size_t)(p->width * p->height) * sizeof *rest.pixels)};
    bool any = false;
    for (int i = 0; i < p->width * p->height; i++)
        rest.pixels[i] = out[i] ? NAN : p->pixels[i];
    for (int j = 0; j * d->step < p->height; j++)
        for (int i = 0; i * d->step < p->width; i++)
            any |=
                !isnan(clip_box(&rest, d, box_low(i, p->width, d), box_low(j, p->height, d)).rms);
    struct oracle_nodes nodes = find_nodes(any ? &rest : p, d);
    for (int i = 0; any && i < p->width * p->height; i++)
        nodes.n_pixels += out[i];
    free(rest.pixels);
    return nodes;
}

struct oracle_nodes oracle_nodes_find(const struct picture *p, const struct detection *d) {
    const size_t n = (size_t)(p->width * p->height);
    struct noise_at *coarse = malloc(n * sizeof *coarse);
    bool *out = calloc(n, sizeof *out);
    int n_islands = 0;
    if (d->beam_squared > 0 && find_coarse(p, d, coarse))
        n_islands = leave_out(p, d, coarse, 1, out) + leave_out(p, d, coarse, -1, out);
    struct oracle_nodes nodes = find_without(p, d, out);
    nodes.n_islands = nodes.n_pixels > 0 ? n_islands : 0;
    free(coarse);
    free(out);
    return nodes;
}

struct oracle_result oracle_detect_locally(const struct picture *p, const struct detection *d,
                                           const struct oracle_nodes *nodes) {
    const int n = p->width * p->height;
    struct oracle_result result = {.background = clip_part(p, 0, p->width, 0, p->height, d->kappa)};
    struct noise_at *noise = malloc((size_t)n * sizeof *noise);
    struct masks masks = make_masks(n);
    for (int i = 0; i < n; i++) {
        const double v = (double)p->pixels[i];
        noise[i] = noise_of_pixel(nodes, i % p->width, i / p->width, d->step);
        masks.island[i] = isfinite(v) && v - noise[i].background > d->island * noise[i].rms;
        masks.detection[i] = isfinite(v) && v - noise[i].background > d->threshold * noise[i].rms;
    }
    find_islands(p, d, masks, noise, &result);
    free(noise);
    return result;
}

void oracle_free(struct oracle_result *result) {
    free(result->islands);
}
