/* How the runs beyond a coarse noise are listed.
 *
 * 1. Threads read the image in chunks, and cut these into pieces of at most WIDE_PIECE pixels.
 * 2. list_row cuts a row of pixels where another column of nodes begins: between four nodes, bounds
 *    hold that most pixels are within. A vector kernel (`leave`) tells which are not.
 * 3. These are compared with their own noise (wide_pixel_at), and are added to the last entry of
 *    the piece, or begin one.
 *
 * Always: entries are in the order of the pixels; none crosses the end of a row or of a piece.
 *
 * Cost: one read; 4 bytes an entry; bounds of one row of nodes for each thread. */
#include "cpu/wide_runs.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "cpu/variants.h"
#include "input/chunks.h"

static const char LISTING[] = "looking for bright wide islands";

/* A worker: the entries of the piece that it reads, and the bounds of its row of nodes. */
struct lister {
    uint32_t *entries;
    int64_t n, capacity;
    int64_t first; /* the first pixel of the piece */
    struct wide_bounds *bounds;
    int64_t row; /* of nodes; -1: no bounds yet */
};

struct listing {
    const struct pixel_source *source;
    const struct key_kernels *kernels;
    const struct noise_map *noise;
    struct lister *listers; /* of each worker */
    struct wide_runs *runs;
    int64_t pieces_a_chunk;
};

/* Pixels of one row between two columns of nodes. */
struct stretch {
    const uint32_t *pixels;
    int64_t x, y, n;
    int64_t at; /* the number of the first one in the image */
    const struct wide_bounds *bounds;
};

/* Adds a pixel to the last entry, if that ends before the pixel, or begins an entry with it. */
static bool add_pixel(struct lister *l, int64_t pixel, bool begins_row, bool is_negative,
                      bool has_peak) {
    const struct wide_piece piece = {.first = l->first};
    const int64_t offset = pixel - l->first;
    if (l->n > 0 && !begins_row) {
        const struct wide_run last = wide_run_of(&piece, l->entries[l->n - 1]);
        if (last.first + last.n == pixel && last.is_negative == is_negative &&
            last.n < WIDE_LONGEST) {
            l->entries[l->n - 1] = wide_entry(last.first - l->first, last.n + 1, is_negative,
                                              last.has_peak || has_peak);
            return true;
        }
    }
    if (!GROW(l->entries, l->capacity, l->n + 1))
        return false;
    l->entries[l->n++] = wide_entry(offset, 1, is_negative, has_peak);
    return true;
}

/* Lists pixel k of a stretch, if it is beyond WIDE_ISLAND rms. */
static bool list_pixel(const struct listing *s, const struct stretch *p, int64_t k,
                       struct lister *l) {
    const float value = pixel_value(p->pixels, k, s->source->swapped);
    const struct wide_pixel pixel = wide_pixel_at(s->noise, p->bounds, p->x + k, p->y, value);
    return !pixel.is_beyond ||
           add_pixel(l, p->at + k, p->x + k == 0, pixel.is_negative, pixel.has_peak);
}

/* Lists the runs of a stretch. Most pixels are within the bounds, and are passed REACH_PIXELS at a
 * time. */
static bool list_stretch(const struct listing *s, const struct stretch *p, struct lister *l) {
    const float low = -p->bounds->island[1].least, high = p->bounds->island[0].least;
    bool ok = true;
    int64_t k = 0;
    for (; ok && k + REACH_PIXELS <= p->n; k += REACH_PIXELS)
        for (uint32_t bits = s->kernels->leave(p->pixels + k, s->source->swapped, low, high);
             ok && bits; bits &= bits - 1)
            ok = list_pixel(s, p, k + __builtin_ctz(bits), l);
    for (; ok && k < p->n; k++)
        ok = list_pixel(s, p, k, l);
    return ok;
}

/* Sets the bounds between the rows j and j + 1 of nodes. */
static void set_bounds(const struct listing *s, int64_t j, struct lister *l) {
    for (int64_t i = 0; i < s->noise->n_x; i++)
        l->bounds[i] = wide_bounds_of(s->noise, i, j);
    l->row = j;
}

/* Lists the runs of n pixels of row y, from pixel x on, which has the number `at` in the image. */
static bool list_row(const struct listing *s, const uint32_t *pixels, int64_t x, int64_t y,
                     int64_t n, int64_t at, struct lister *l) {
    const struct noise_map *map = s->noise;
    const int64_t j = noise_position(y, map->n_y, map->step).first, end = x + n;
    int64_t i = noise_position(x, map->n_x, map->step).first;
    bool ok = true;
    if (j != l->row)
        set_bounds(s, j, l);
    for (; ok && x < end; i++) {
        const int64_t next = (i + 1) * map->step + map->step / 2; /* has node i + 1 before it */
        struct stretch p = {pixels, x, y, end - x, at, &l->bounds[i]};
        if (i + 1 < map->n_x && next < end)
            p.n = next - x;
        ok = list_stretch(s, &p, l);
        pixels += p.n;
        at += p.n;
        x += p.n;
    }
    return ok;
}

/* Lists the runs of a piece: `count` pixels from pixel `first` on. */
static bool list_piece(const struct listing *s, const uint32_t *pixels, int64_t first,
                       int64_t count, struct lister *l) {
    const int64_t width = s->source->width;
    l->n = 0;
    l->first = first;
    for (int64_t k = 0, n; k < count; k += n) {
        const int64_t x = (first + k) % width, y = (first + k) / width;
        n = width - x < count - k ? width - x : count - k;
        if (!list_row(s, pixels + k, x, y, n, first + k, l))
            return false;
    }
    return true;
}

static enum srcfind_status list_chunk(void *context, int worker, const struct chunk *chunk,
                                      struct error *error) {
    const struct listing *s = context;
    struct lister *l = &s->listers[worker];
    struct wide_piece *piece = s->runs->pieces + chunk->number * s->pieces_a_chunk;
    for (int64_t k = 0; k < chunk->count; k += WIDE_PIECE, piece++) {
        const int64_t left = chunk->count - k;
        *piece = (struct wide_piece){.first = chunk->first + k};
        if (!list_piece(s, chunk->pixels + k, piece->first, left < WIDE_PIECE ? left : WIDE_PIECE,
                        l) ||
            !(piece->entries = arrays_allocate(l->n, sizeof *piece->entries)))
            return error_memory(error, LISTING);
        piece->n = l->n;
        if (l->n > 0)
            memcpy(piece->entries, l->entries, (size_t)l->n * sizeof *l->entries);
    }
    return SRCFIND_OK;
}

/* Takes out the pieces that a short last chunk has not. */
static void close_up(struct wide_runs *runs) {
    int64_t n = 0;
    for (int64_t i = 0; i < runs->n_pieces; i++)
        if (runs->pieces[i].entries)
            runs->pieces[n++] = runs->pieces[i];
    runs->n_pieces = n;
}

enum srcfind_status wide_runs_list(const struct pixel_source *source, const struct noise_map *noise,
                                   struct threads *threads, struct wide_runs *runs,
                                   struct error *error) {
    const int64_t n_chunks = chunks_count(source);
    const int n_workers = threads_count(threads);
    struct listing s = {.source = source,
                        .kernels = cpu_variant_choose()->keys,
                        .noise = noise,
                        .runs = runs,
                        .pieces_a_chunk = (source->chunk_pixels - 1) / WIDE_PIECE + 1};
    const struct chunk_work work = {.work = list_chunk, .context = &s};
    *runs = (struct wide_runs){.n_pieces = n_chunks * s.pieces_a_chunk};
    runs->pieces = calloc((size_t)runs->n_pieces, sizeof *runs->pieces);
    s.listers = calloc((size_t)n_workers, sizeof *s.listers);
    bool ok = runs->pieces && s.listers;
    for (int i = 0; ok && i < n_workers; i++) {
        s.listers[i].row = -1;
        s.listers[i].bounds = arrays_allocate(noise->n_x, sizeof *s.listers[i].bounds);
        ok = s.listers[i].bounds;
    }
    enum srcfind_status status = ok ? SRCFIND_OK : error_memory(error, LISTING);
    if (status == SRCFIND_OK)
        status = chunks_run(source, threads, n_workers, &work, error);
    if (status == SRCFIND_OK)
        close_up(runs);
    for (int i = 0; s.listers && i < n_workers; i++) {
        free(s.listers[i].entries);
        free(s.listers[i].bounds);
    }
    free(s.listers);
    return status;
}

void wide_runs_clear(struct wide_runs *runs) {
    for (int64_t i = 0; !runs->entries && runs->pieces && i < runs->n_pieces; i++)
        free(runs->pieces[i].entries);
    free(runs->entries);
    free(runs->pieces);
    *runs = (struct wide_runs){0};
}
