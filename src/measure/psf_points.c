/* How the points are found: threads list the rows that are bright (list_share), with the number of
 * their Gaussian. A heap then gives them one by one, the brightest first, until enough of them are
 * alone: a sort of all would take longer than all other steps. */
#include "measure/psf_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

static const double LEAST_SNR = 15, ALONE = 3; /* the latter in FWHM */
/* Relative errors of areas: by noise, times S/N; and of bright sources, which are no exact
 * Gaussians. */
static const double OF_NOISE = 1.3, OF_SHAPE = 0.03;

enum { ROWS_A_SHARE = 4096 };

/* A row that may be a point, its S/N, and its free shape. */
struct bright {
    double snr;
    const struct srcfind_source *row;
    const struct tensor *moments;
};

/* The rows of a share: the first one's Gaussian, and what it has of bright rows. */
struct share {
    int64_t first_gaussian, n_gaussians, n_bright;
};

struct listing {
    const struct srcfind_source *rows;
    int64_t n;
    const struct tensor *shapes;
    struct bright *bright; /* of share k, from k x ROWS_A_SHARE on */
    struct share *shares;
};

static bool is_alone(const struct row_index *index, const struct srcfind_source *row,
                     double distance) {
    for (int64_t i = row_index_first(index, row->y - distance);
         i < index->n && index->rows[i].y < row->y + distance; i++)
        if (placed_row_is_near(&index->rows[i], row->x, row->y, distance) &&
            index->rows[i].row != row)
            return false;
    return true;
}

static bool is_bright(const struct srcfind_source *row) {
    const int64_t bad = SRCFIND_FLAG_EDGE | SRCFIND_FLAG_SINGLE_PIXEL | SRCFIND_FLAG_NOT_FITTED |
                        SRCFIND_FLAG_ARTEFACT;
    return row->snr > LEAST_SNR && row->n_gaussians == 1 && !(row->flags & bad);
}

static bool is_brighter(const struct bright *p, const struct bright *q) {
    return p->snr != q->snr ? p->snr > q->snr : p->row->id < q->row->id;
}

/* Moves element i of a heap of n down until it is brighter than the two below it. */
static void move_down(struct bright *heap, int64_t n, int64_t i) {
    const struct bright moved = heap[i];
    for (int64_t below = 2 * i + 1; below < n; below = 2 * i + 1) {
        if (below + 1 < n && is_brighter(&heap[below + 1], &heap[below]))
            below++;
        if (!is_brighter(&heap[below], &moved))
            break;
        heap[i] = heap[below];
        i = below;
    }
    heap[i] = moved;
}

static void make_heap(struct bright *heap, int64_t n) {
    for (int64_t i = n / 2 - 1; i >= 0; i--)
        move_down(heap, n, i);
}

/* Takes the brightest of n >= 1 elements from a heap, which then has one less. */
static struct bright take_brightest(struct bright *heap, int64_t n) {
    const struct bright brightest = heap[0];
    heap[0] = heap[n - 1];
    move_down(heap, n - 1, 0);
    return brightest;
}

static int64_t share_end(const struct listing *l, int share) {
    const int64_t end = ((int64_t)share + 1) * ROWS_A_SHARE;
    return end < l->n ? end : l->n;
}

static int64_t count_gaussians(const struct srcfind_source *row) {
    return row->flags & SRCFIND_FLAG_NOT_FITTED ? 0 : row->n_gaussians;
}

static void count_share(void *context, int share) {
    const struct listing *l = context;
    l->shares[share] = (struct share){0};
    for (int64_t i = (int64_t)share * ROWS_A_SHARE; i < share_end(l, share); i++)
        l->shares[share].n_gaussians += count_gaussians(&l->rows[i]);
}

static void list_share(void *context, int share) {
    const struct listing *l = context;
    struct share *own = &l->shares[share];
    struct bright *bright = l->bright + (int64_t)share * ROWS_A_SHARE;
    int64_t gaussian = own->first_gaussian;
    for (int64_t i = (int64_t)share * ROWS_A_SHARE; i < share_end(l, share); i++) {
        if (is_bright(&l->rows[i]) && isfinite(l->shapes[gaussian].xx))
            bright[own->n_bright++] =
                (struct bright){l->rows[i].snr, &l->rows[i], &l->shapes[gaussian]};
        gaussian += count_gaussians(&l->rows[i]);
    }
}

/* Lists the bright rows. Returns their number. */
static int64_t list_bright(struct listing *l, int n_shares, struct threads *threads) {
    int64_t gaussian = 0, n = 0;
    threads_run(threads, n_shares, count_share, l);
    for (int k = 0; k < n_shares; k++) {
        l->shares[k].first_gaussian = gaussian;
        gaussian += l->shares[k].n_gaussians;
    }
    threads_run(threads, n_shares, list_share, l);
    for (int k = 0; k < n_shares; k++) {
        memmove(l->bright + n, l->bright + (int64_t)k * ROWS_A_SHARE,
                (size_t)l->shares[k].n_bright * sizeof *l->bright);
        n += l->shares[k].n_bright;
    }
    return n;
}

bool psf_points_list(const struct row_index *index, const struct srcfind_source *rows, int64_t n,
                     const struct tensor *shapes, double fwhm, struct threads *threads,
                     struct psf_point *points, int64_t *n_points) {
    const int n_shares = (int)((n + ROWS_A_SHARE - 1) / ROWS_A_SHARE);
    struct listing l = {.rows = rows,
                        .n = n,
                        .shapes = shapes,
                        .bright = arrays_allocate(n, sizeof *l.bright),
                        .shares = arrays_allocate(n_shares, sizeof *l.shares)};
    const bool ok = l.bright && l.shares;
    const int64_t n_bright = ok ? list_bright(&l, n_shares, threads) : 0;
    *n_points = 0;
    make_heap(l.bright, n_bright);
    for (int64_t left = n_bright; left > 0 && *n_points < PSF_MOST_POINTS; left--) {
        const struct bright b = take_brightest(l.bright, left);
        if (is_alone(index, b.row, ALONE * fwhm))
            points[(*n_points)++] = (struct psf_point){
                b.row->x, b.row->y, 1 / hypot(OF_NOISE / b.snr, OF_SHAPE), *b.moments};
    }
    free(l.bright);
    free(l.shares);
    return ok;
}
