/* How bright wide islands are found, before the boxes of local noise are clipped.
 *
 * 1. Coarse noise: boxes four times as wide as those of the noise, side by side (coarse_nodes.c). A
 *    source that fills a box of the noise fills a sixteenth of one of these.
 * 2. One read lists the runs of pixels that are more than 3 coarse rms above the coarse background,
 *    or as far below: some 3 in 1000 pixels (wide_runs.c).
 * 3. Bands of runs are joined to islands, in threads (find_fragments); islands that reach the end
 *    of a band are fragments, which join_fragments joins with those of the next band. So the rows
 *    are known in which there are islands with a pixel beyond 10 rms, and more than 15 beam areas:
 *    none, in most images.
 * 4. In these rows alone islands are joined again, as a whole (choose_in_rows). An island is chosen
 *    if the runs of the other sign have at most a quarter as many pixels in its bounding box: noise
 *    has as many pixels below as above. Bits are set for the pixels of chosen islands, and for
 *    those within 1.5 beams of them.
 *
 * Always: the result depends on pixels, boxes, kappa and beam alone. It is the same for the negated
 * image, and for any number of threads.
 *
 * Cost: two reads, the second only where a coarse box may have a pixel beyond 10 rms; 4 bytes a
 * run, 80 more for those of a band, and of the rows with islands that are bright and wide; a bit a
 * pixel where an island is chosen. */
#include "cpu/left_out.h"

#include <stdlib.h>

#include "common/arrays.h"
#include "common/forest.h"
#include "common/hook.h"
#include "cpu/coarse_nodes.h"
#include "cpu/noise_nodes.h"

enum { COARSE = 4 /* boxes of the noise in a coarse one, along an axis */ };

static const double AREAS = 15; /* beams: an island has more */
static const double NEAR = 1.5; /* beams */
/* An island has at least so many pixels for each one of the other sign in its bounding box. */
static const int64_t PIXELS_FOR_ONE_OF_OTHER_SIGN = 4;

static const char FINDING[] = "leaving bright wide islands out of local noise";

/* Runs of a range of pixels in their order, and what they are joined to: a tree for each island. */
struct joined_runs {
    struct wide_run *runs;
    int64_t *parent;
    int64_t n;
};

/* A part of an island that reaches the begin or the end of its band; or an island that is bright
 * and wide. */
struct fragment {
    int64_t n_pixels, first, last; /* the first pixels of its first and its last run */
    bool has_peak;
};

/* A run within a row's width of the end of a band, and its fragment. */
struct border_run {
    struct wide_run run;
    int64_t fragment;
};

struct band {
    int64_t first_piece, end_piece, begin, end; /* pieces; pixels */
    struct fragment *fragments;
    struct border_run *border; /* in the order of the pixels */
    int64_t n_fragments, fragments_capacity, n_border, border_capacity;
    int64_t first_fragment; /* its number among those of all bands */
};

/* Rows, inclusive. */
struct rows {
    int64_t first, last;
};

/* An island that is bright and wide, with its bounding box, inclusive. */
struct wide_island {
    int64_t x_min, x_max, y_min, y_max, n_pixels;
    bool is_negative, is_chosen;
};

/* The half widths of the rows of a disc: of row d from its middle, for 0 <= d <= radius. */
struct disc {
    int64_t *half, radius;
};

struct finding {
    int64_t width, height;
    double beam_squared;
    double least_pixels; /* an island has more */
    struct disc disc;    /* of what is near a pixel */
    const struct wide_runs *runs;
    struct band *bands;
    int64_t n_bands;
    struct rows *rows; /* in which there are bright wide islands */
    int64_t n_rows, rows_capacity;
    struct left_out *out;
    struct error *error;
};

/* --- coarse noise --- */

bool left_out_coarse(int64_t width, int64_t height, const struct detection *detection,
                     struct detection *coarse) {
    const int64_t box = COARSE * detection->box;
    *coarse = (struct detection){.kappa = detection->kappa,
                                 .threshold = WIDE_PEAK,
                                 .background = NAN,
                                 .box = box,
                                 .step = box};
    return (width < height ? width : height) >= 2 * box;
}

/* One noise, as a node. */
static enum srcfind_status take_whole(const struct pixel_source *source,
                                      const struct srcfind_background *whole, struct noise_map *map,
                                      struct error *error) {
    *map = (struct noise_map){.background = whole->median, .rms = whole->rms, .n_x = 1, .n_y = 1};
    map->step = source->width > source->height ? source->width : source->height;
    map->nodes = arrays_allocate(1, sizeof *map->nodes);
    if (!map->nodes)
        return error_memory(error, FINDING);
    *map->nodes = (struct noise_at){whole->median, whole->rms};
    return SRCFIND_OK;
}

bool left_out_is_possible(const struct noise_map *map) {
    bool is = true;
    for (int64_t i = 0; i < map->n_x * map->n_y; i++)
        is = is && map->nodes[i].rms > 0 && isfinite(map->nodes[i].rms);
    return is;
}

/* --- joining --- */

static int64_t end_of(const struct wide_run *run) {
    return run->first + run->n;
}

/* Joins runs of one sign that touch: in one row, where a run has several entries, or in two. */
static void join(const struct joined_runs *j, int64_t width) {
    const struct wide_run *runs = j->runs;
    for (int64_t k = 0, below = 0; k < j->n; k++) {
        const struct wide_run *run = &runs[k];
        j->parent[k] = k;
        if (k > 0 && end_of(&runs[k - 1]) == run->first && run->first % width != 0 &&
            runs[k - 1].is_negative == run->is_negative)
            forest_join(j->parent, k - 1, k);
        while (below < k && end_of(&runs[below]) + width <= run->first)
            below++;
        for (int64_t i = below; i < k && runs[i].first + width < end_of(run); i++)
            if (runs[i].is_negative == run->is_negative)
                forest_join(j->parent, i, k);
    }
}

static void joined_clear(struct joined_runs *j) {
    free(j->runs);
    free(j->parent);
}

/* Joins the runs of pieces that are within the pixels [begin, end). Clear them also after a
 * failure. */
static bool join_pieces(const struct finding *f, int64_t first_piece, int64_t end_piece,
                        int64_t begin, int64_t end, struct joined_runs *j) {
    int64_t most = 0;
    for (int64_t i = first_piece; i < end_piece; i++)
        most += f->runs->pieces[i].n;
    *j = (struct joined_runs){.runs = arrays_allocate(most, sizeof *j->runs),
                              .parent = arrays_allocate(most, sizeof *j->parent)};
    if (!j->runs || !j->parent)
        return false;
    for (int64_t i = first_piece; i < end_piece; i++) {
        const struct wide_piece *piece = &f->runs->pieces[i];
        for (int64_t k = 0; k < piece->n; k++) {
            const struct wide_run run = wide_run_of(piece, piece->entries[k]);
            if (run.first >= begin && run.first < end)
                j->runs[j->n++] = run;
        }
    }
    join(j, f->width);
    return true;
}

/* --- fragments --- */

/* The least number of pixels of a band. */
static int64_t pixels_a_band(void) {
    static const int64_t usual = 1 << 20;
    const char *for_tests = hook("SRCFIND_WIDE_BAND");
    return for_tests ? strtoll(for_tests, NULL, 10) : usual;
}

/* Divides the pieces into bands that are at least as long as a row. */
static bool make_bands(struct finding *f) {
    const struct wide_runs *runs = f->runs;
    const int64_t wanted = pixels_a_band(), least = f->width > wanted ? f->width : wanted;
    const int64_t n_pixels = f->width * f->height;
    f->bands = arrays_allocate(n_pixels / least + 1, sizeof *f->bands);
    for (int64_t i = 0; f->bands && i < runs->n_pieces;) {
        struct band *band = &f->bands[f->n_bands++];
        *band = (struct band){.first_piece = i, .begin = runs->pieces[i].first, .end = n_pixels};
        while (i < runs->n_pieces && runs->pieces[i].first - band->begin < least)
            i++;
        band->end_piece = i;
        band->end = i < runs->n_pieces ? runs->pieces[i].first : n_pixels;
    }
    return f->bands;
}

static bool is_at_border(const struct finding *f, const struct band *band,
                         const struct wide_run *run) {
    return run->first < band->begin + f->width || end_of(run) > band->end - f->width;
}

static bool add_fragment(struct band *band, const struct fragment *fragment) {
    if (!GROW(band->fragments, band->fragments_capacity, band->n_fragments + 1))
        return false;
    band->fragments[band->n_fragments++] = *fragment;
    return true;
}

/* Keeps what the islands of a band are to the whole image. islands[k]: of the tree with root k. */
static bool keep_fragments(const struct finding *f, struct band *band, const struct joined_runs *j,
                           struct fragment *islands, int64_t *number) {
    bool ok = true;
    for (int64_t k = 0; k < j->n; k++)
        number[k] = -1;
    for (int64_t k = 0; ok && k < j->n; k++) {
        const int64_t root = forest_root(j->parent, k);
        const struct fragment *island = &islands[root];
        const bool is_border = is_at_border(f, band, &j->runs[k]);
        const bool is_wide = island->has_peak && (double)island->n_pixels > f->least_pixels;
        if ((is_border || is_wide) && number[root] < 0) {
            ok = add_fragment(band, island);
            number[root] = band->n_fragments - 1;
        }
        if (ok && is_border) {
            ok = GROW(band->border, band->border_capacity, band->n_border + 1);
            if (ok)
                band->border[band->n_border++] = (struct border_run){j->runs[k], number[root]};
        }
    }
    return ok;
}

static enum srcfind_status find_fragments(void *context, int i, struct error *error) {
    struct finding *f = context;
    struct band *band = &f->bands[i];
    struct joined_runs j;
    bool ok = join_pieces(f, band->first_piece, band->end_piece, band->begin, band->end, &j);
    struct fragment *islands = ok ? calloc((size_t)j.n + 1, sizeof *islands) : NULL;
    int64_t *number = ok ? arrays_allocate(j.n, sizeof *number) : NULL;
    ok = islands && number;
    for (int64_t k = 0; ok && k < j.n; k++) {
        struct fragment *island = &islands[forest_root(j.parent, k)];
        if (island->n_pixels == 0)
            island->first = j.runs[k].first;
        island->last = j.runs[k].first;
        island->n_pixels += j.runs[k].n;
        island->has_peak = island->has_peak || j.runs[k].has_peak;
    }
    ok = ok && keep_fragments(f, band, &j, islands, number);
    free(islands);
    free(number);
    joined_clear(&j);
    return ok ? SRCFIND_OK : error_memory(error, FINDING);
}

/* Joins the fragments of two neighbouring bands that touch. */
static bool join_bands(const struct finding *f, const struct band *a, const struct band *b,
                       int64_t *parent) {
    const int64_t n = a->n_border + b->n_border;
    struct joined_runs j = {.runs = arrays_allocate(n, sizeof *j.runs),
                            .parent = arrays_allocate(n, sizeof *j.parent),
                            .n = n};
    int64_t *fragment = arrays_allocate(n, sizeof *fragment);
    const bool ok = j.runs && j.parent && fragment;
    for (int64_t k = 0; ok && k < n; k++) {
        const struct band *of = k < a->n_border ? a : b;
        const struct border_run *run = &of->border[k < a->n_border ? k : k - a->n_border];
        j.runs[k] = run->run;
        fragment[k] = of->first_fragment + run->fragment;
    }
    if (ok)
        join(&j, f->width);
    for (int64_t k = 0; ok && k < n; k++)
        forest_join(parent, fragment[k], fragment[forest_root(j.parent, k)]);
    free(fragment);
    joined_clear(&j);
    return ok;
}

/* Adds what a fragment has to that of its island. */
static void add_up(struct fragment *island, const struct fragment *part) {
    island->n_pixels += part->n_pixels;
    island->first = part->first < island->first ? part->first : island->first;
    island->last = part->last > island->last ? part->last : island->last;
    island->has_peak = island->has_peak || part->has_peak;
}

/* Lists the rows of islands that are bright and wide. */
static bool list_rows(struct finding *f, struct fragment *all, int64_t n, int64_t *parent) {
    for (int64_t k = 0; k < n; k++)
        if (forest_root(parent, k) != k)
            add_up(&all[forest_root(parent, k)], &all[k]);
    for (int64_t k = 0; k < n; k++) {
        if (parent[k] != k || !all[k].has_peak || !((double)all[k].n_pixels > f->least_pixels))
            continue;
        if (!GROW(f->rows, f->rows_capacity, f->n_rows + 1))
            return false;
        f->rows[f->n_rows++] = (struct rows){all[k].first / f->width, all[k].last / f->width};
    }
    return true;
}

static bool join_fragments(struct finding *f) {
    int64_t n = 0;
    for (int64_t i = 0; i < f->n_bands; i++) {
        f->bands[i].first_fragment = n;
        n += f->bands[i].n_fragments;
    }
    struct fragment *all = arrays_allocate(n, sizeof *all);
    int64_t *parent = arrays_allocate(n, sizeof *parent);
    bool ok = all && parent;
    for (int64_t i = 0; ok && i < f->n_bands; i++)
        for (int64_t k = 0; k < f->bands[i].n_fragments; k++)
            all[f->bands[i].first_fragment + k] = f->bands[i].fragments[k];
    for (int64_t k = 0; ok && k < n; k++)
        parent[k] = k;
    for (int64_t i = 1; ok && i < f->n_bands; i++)
        ok = join_bands(f, &f->bands[i - 1], &f->bands[i], parent);
    ok = ok && list_rows(f, all, n, parent);
    free(all);
    free(parent);
    return ok;
}

/* --- islands --- */

/* Adds a run to an island and its bounding box. */
static void extend(struct wide_island *island, const struct wide_run *run, int64_t width) {
    const int64_t x = run->first % width, y = run->first / width;
    island->x_min = x < island->x_min ? x : island->x_min;
    island->x_max = x + run->n - 1 > island->x_max ? x + run->n - 1 : island->x_max;
    island->y_min = y < island->y_min ? y : island->y_min;
    island->y_max = y > island->y_max ? y : island->y_max;
    island->n_pixels += run->n;
}

/* The first of the runs that begins at a pixel or behind it. */
static int64_t first_from(const struct joined_runs *j, int64_t pixel) {
    int64_t low = 0, high = j->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (j->runs[middle].first < pixel)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts the pixels of the other sign in the bounding box of an island. */
static int64_t count_others(const struct finding *f, const struct joined_runs *j,
                            const struct wide_island *island) {
    int64_t n = 0;
    for (int64_t y = island->y_min; y <= island->y_max; y++) {
        const int64_t begin = y * f->width + island->x_min, end = y * f->width + island->x_max + 1;
        int64_t k = first_from(j, begin);
        k -= k > 0 && end_of(&j->runs[k - 1]) > begin; /* a run that begins on the left */
        for (; k < j->n && j->runs[k].first < end; k++) {
            const struct wide_run *run = &j->runs[k];
            const int64_t from = run->first > begin ? run->first : begin;
            const int64_t to = end_of(run) < end ? end_of(run) : end;
            n += run->is_negative != island->is_negative ? to - from : 0;
        }
    }
    return n;
}

/* Sets islands[k] for each root k, and chooses. */
static void choose(const struct finding *f, const struct joined_runs *j, bool *has_peak,
                   struct wide_island *islands) {
    for (int64_t k = 0; k < j->n; k++) {
        has_peak[k] = false;
        islands[k] =
            (struct wide_island){.x_min = INT64_MAX, .y_min = INT64_MAX, .x_max = -1, .y_max = -1};
    }
    for (int64_t k = 0; k < j->n; k++) {
        const int64_t root = forest_root(j->parent, k);
        islands[root].is_negative = j->runs[k].is_negative;
        extend(&islands[root], &j->runs[k], f->width);
        has_peak[root] = has_peak[root] || j->runs[k].has_peak;
    }
    for (int64_t k = 0; k < j->n; k++) {
        struct wide_island *island = &islands[k];
        island->is_chosen =
            has_peak[k] && (double)island->n_pixels > f->least_pixels &&
            PIXELS_FOR_ONE_OF_OTHER_SIGN * count_others(f, j, island) <= island->n_pixels;
        f->out->n_islands += island->is_chosen;
    }
}

/* --- pixels --- */

/* Whether (x, y) is within the disc around (0, 0). Squares of distances are integers, and so are
 * the squares of many radii, but for the rounding of a header: the margin is above that. */
static bool is_within(int64_t x, int64_t y, double squared_radius) {
    return (double)(x * x + y * y) <= squared_radius * (1 + 1e-9);
}

static bool make_disc(double squared_radius, struct disc *disc) {
    int64_t radius = 0;
    while (is_within(radius + 1, 0, squared_radius))
        radius++;
    *disc = (struct disc){arrays_allocate(radius + 1, sizeof *disc->half), radius};
    for (int64_t d = 0, half = radius; disc->half && d <= radius; d++) {
        while (!is_within(half, d, squared_radius))
            half--;
        disc->half[d] = half;
    }
    return disc->half;
}

/* Leaves out the pixels that discs around the pixels of a run reach. */
static void leave_out(const struct finding *f, const struct wide_run *run) {
    const int64_t x = run->first % f->width, y = run->first / f->width;
    for (int64_t d = -f->disc.radius; d <= f->disc.radius; d++) {
        const int64_t reach = f->disc.half[d < 0 ? -d : d];
        const int64_t low = x - reach > 0 ? x - reach : 0;
        const int64_t high = x + run->n + reach < f->width ? x + run->n + reach : f->width;
        if (y + d >= 0 && y + d < f->height)
            blanks_add(f->out->pixels, (y + d) * f->width + low, high - low);
    }
}

enum { RUNS_A_SHARE = 64 };

/* The runs of islands that were chosen. */
struct chosen_runs {
    const struct finding *finding;
    const struct wide_run **runs;
    int64_t n;
};

static void leave_out_share(void *context, int share) {
    const struct chosen_runs *c = context;
    const int64_t first = (int64_t)share * RUNS_A_SHARE;
    for (int64_t k = first; k < c->n && k < first + RUNS_A_SHARE; k++)
        leave_out(c->finding, c->runs[k]);
}

static bool leave_out_all(const struct finding *f, const struct joined_runs *j,
                          const struct wide_island *islands, struct threads *threads) {
    struct chosen_runs c = {.finding = f, .runs = arrays_allocate(j->n, sizeof *c.runs)};
    if (!f->out->pixels)
        f->out->pixels = blanks_create(f->width * f->height);
    for (int64_t k = 0; c.runs && k < j->n; k++)
        if (islands[forest_root(j->parent, k)].is_chosen)
            c.runs[c.n++] = &j->runs[k];
    if (f->out->pixels)
        threads_run(threads, (int)((c.n + RUNS_A_SHARE - 1) / RUNS_A_SHARE), leave_out_share, &c);
    const bool ok = c.runs && f->out->pixels;
    free(c.runs);
    return ok;
}

/* --- all of it --- */

static int by_first_row(const void *a, const void *b) {
    const struct rows *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Finds the islands of rows as a whole, and leaves out those that are chosen. *piece: one at the
 * first pixel of the rows or before it; it moves to that pixel. */
static bool choose_in_rows(struct finding *f, const struct rows *rows, struct threads *threads,
                           int64_t *piece) {
    const int64_t begin = rows->first * f->width, end = (rows->last + 1) * f->width;
    const struct wide_runs *runs = f->runs;
    struct joined_runs j;
    while (*piece + 1 < runs->n_pieces && runs->pieces[*piece + 1].first <= begin)
        ++*piece;
    int64_t end_piece = *piece;
    while (end_piece < runs->n_pieces && runs->pieces[end_piece].first < end)
        end_piece++;
    bool ok = join_pieces(f, *piece, end_piece, begin, end, &j);
    struct wide_island *islands = ok ? arrays_allocate(j.n, sizeof *islands) : NULL;
    bool *has_peak = ok ? arrays_allocate(j.n, sizeof *has_peak) : NULL;
    ok = islands && has_peak;
    if (ok)
        choose(f, &j, has_peak, islands);
    ok = ok && (f->out->n_islands == 0 || leave_out_all(f, &j, islands, threads));
    free(islands);
    free(has_peak);
    joined_clear(&j);
    return ok;
}

static enum srcfind_status choose_islands(struct finding *f, struct threads *threads) {
    enum srcfind_status status = SRCFIND_OK;
    if (f->n_rows == 0) /* also where the beam is absurdly wide, and so the disc */
        return SRCFIND_OK;
    if (!make_disc(NEAR * NEAR * f->beam_squared, &f->disc))
        status = error_memory(f->error, FINDING);
    qsort(f->rows, (size_t)f->n_rows, sizeof *f->rows, by_first_row);
    for (int64_t i = 0, piece = 0; status == SRCFIND_OK && i < f->n_rows;) {
        struct rows rows = f->rows[i++];
        for (; i < f->n_rows && f->rows[i].first <= rows.last; i++)
            rows.last = f->rows[i].last > rows.last ? f->rows[i].last : rows.last;
        status = threads_check(threads, f->error);
        if (status == SRCFIND_OK && !choose_in_rows(f, &rows, threads, &piece))
            status = error_memory(f->error, FINDING);
    }
    if (f->out->n_islands == 0)
        left_out_clear(f->out);
    if (f->out->pixels) {
        f->out->n_pixels = f->out->pixels->n_added;
        f->out->pixels->is_complete = true;
    }
    return status;
}

enum srcfind_status left_out_choose(const struct wide_runs *runs, int64_t width, int64_t height,
                                    double beam_squared, struct threads *threads,
                                    struct left_out *out, struct error *error) {
    struct finding f = {.width = width,
                        .height = height,
                        .beam_squared = beam_squared,
                        .least_pixels = AREAS * M_PI * beam_squared / (4 * M_LN2),
                        .runs = runs,
                        .out = out,
                        .error = error};
    *out = (struct left_out){0};
    enum srcfind_status status = make_bands(&f) ? SRCFIND_OK : error_memory(error, FINDING);
    if (status == SRCFIND_OK)
        status = threads_try(threads, (int)f.n_bands, find_fragments, &f, error);
    if (status == SRCFIND_OK && !join_fragments(&f))
        status = error_memory(error, FINDING);
    if (status == SRCFIND_OK)
        status = choose_islands(&f, threads);
    for (int64_t i = 0; i < f.n_bands; i++) {
        free(f.bands[i].fragments);
        free(f.bands[i].border);
    }
    free(f.bands);
    free(f.rows);
    free(f.disc.half);
    return status;
}

static enum srcfind_status find_in(const struct pixel_source *source,
                                   const struct detection *detection, struct threads *threads,
                                   const struct noise_map *noise, struct left_out *out,
                                   struct error *error) {
    struct wide_runs runs = {0};
    enum srcfind_status status = wide_runs_list(source, noise, threads, &runs, error);
    if (status == SRCFIND_OK)
        status = left_out_choose(&runs, source->width, source->height, detection->beam_squared,
                                 threads, out, error);
    wide_runs_clear(&runs);
    return status;
}

enum srcfind_status left_out_find(const struct pixel_source *source,
                                  const struct detection *detection,
                                  const struct srcfind_background *whole, struct threads *threads,
                                  struct left_out *out, struct error *error) {
    struct noise_map noise = {.background = whole->median, .rms = whole->rms};
    struct detection coarse;
    *out = (struct left_out){0};
    if (detection->box == 0 || !(detection->beam_squared > 0))
        return SRCFIND_OK;
    bool has_peak = true;
    enum srcfind_status status =
        left_out_coarse(source->width, source->height, detection, &coarse)
            ? coarse_nodes_find(source, &coarse, threads, &noise, &has_peak, error)
            : take_whole(source, whole, &noise, error);
    if (status == SRCFIND_OK && has_peak && left_out_is_possible(&noise))
        status = find_in(source, detection, threads, &noise, out, error);
    noise_map_clear(&noise);
    return status;
}

enum srcfind_status left_out_clip_rest(const struct pixel_source *source,
                                       const struct detection *detection, struct threads *threads,
                                       struct left_out *out, struct noise_map *map,
                                       struct error *error) {
    const struct noise_map whole = *map;
    struct blanked blanked;
    const struct pixel_source rest = blanked_source(&blanked, source, out->pixels);
    enum srcfind_status status = noise_nodes_find(&rest, detection, threads, map, error);
    if (status == SRCFIND_OK && map->no_node_counts) {
        left_out_clear(out);
        noise_map_clear(map);
        *map = whole;
        status = noise_nodes_find(source, detection, threads, map, error);
    }
    return status;
}

enum srcfind_status left_out_clip_again(const struct pixel_source *source,
                                        const struct detection *detection, struct threads *threads,
                                        const struct left_out *out, struct noise_map *map,
                                        struct error *error) {
    struct blanked blanked;
    const struct pixel_source rest = blanked_source(&blanked, source, out->pixels);
    return noise_nodes_find_again(&rest, detection, out->pixels, threads, map, error);
}

void left_out_describe(const struct left_out *out, struct srcfind_background *background) {
    background->islands_excluded = out->n_islands;
    background->share_excluded = (double)out->n_pixels / (double)background->n_pixels;
}

void left_out_clear(struct left_out *out) {
    blanks_destroy(out->pixels);
    *out = (struct left_out){0};
}
