/* How places are grouped. Two places are close if their distance is less than the sum of their
 * FWHMs along the line between them; clusters are what close places connect.
 *
 * 1. make_cells: each place gets a cell, a square of one beam in the frame in which the beam is the
 *    unit circle. Places of one cell are close without a test.
 * 2. join_near: each place is compared with the cells within twice its longest FWHM, in sorted
 *    order; union-find joins clusters. Of a cell of another cluster one close place is enough.
 * 3. list_clusters sorts places by cluster; add_groups halves a cluster along its longer side until
 *    a part has at most 64 places.
 * 4. add_others lists, for each part, the places of other parts that reach its pixels, at most 512:
 *    their amplitudes are subtracted in the sweeps of places.c.
 *
 * Always: a root is the lowest index of its cluster, so groups do not depend on the order of the
 * tests. A place that is left out, or a twin, is in no cluster.
 *
 * Cost: sorting; the number of tests grows with the places within two FWHM of each other. */
#include "measure/place_groups.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/forest.h"

enum { MOST_OTHERS = 512 };

static const double MOST_CELLS = 1e18; /* so that two of them can be added */

/* A place in the frame whose unit is the FWHM of the beam. Cells are squares of one beam: places of
 * a cell are closer than two beams. */
struct located {
    int64_t row, column; /* of its cell */
    int64_t place;
};

struct cell {
    int64_t row, column;
    int64_t first, end; /* of its places: a range of `located` */
};

struct place_clusters {
    const struct place *places;
    int64_t n;
    const struct fit_frame *frame;
    struct located *located;
    struct cell *cells;
    int64_t n_located, n_cells;
    int64_t n_clusters; /* so far */
    int64_t *parent;    /* forest of clusters; a root is the lowest index */
    int64_t *clusters;  /* places by cluster, and then by index */
    struct place_groups *made;
};

/* --- clusters --- */

/* Joins the clusters of two places, which are different ones. */
static void join(struct place_clusters *g, int64_t a, int64_t b) {
    g->n_clusters--;
    forest_join(g->parent, a, b);
}

/* The square of an offset, in the sigmas of a shape. */
static double square_of(const struct tensor *form, double dx, double dy) {
    return form->xx * dx * dx + 2 * form->xy * dx * dy + form->yy * dy * dy;
}

static bool are_close(const struct place *a, const struct place *b) {
    const double dx = b->x - a->x, dy = b->y - a->y;
    const double first = sqrt(square_of(&a->form, dx, dy));
    const double second = sqrt(square_of(&b->form, dx, dy));
    return FIT_FWHM / first + FIT_FWHM / second > 1;
}

static int compare_located(const void *a, const void *b) {
    const struct located *left = a, *right = b;
    if (left->row != right->row)
        return left->row < right->row ? -1 : 1;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* Whether a place belongs to a cluster. */
static bool is_in_cluster(const struct place_clusters *g, int64_t i) {
    return g->places[i].twin == i && !g->places[i].is_left_out;
}

/* A number of cells, at most MOST_CELLS. */
static int64_t whole_cells(double cells) {
    return (int64_t)fmax(-MOST_CELLS, fmin(floor(cells), MOST_CELLS));
}

static void make_cells(struct place_clusters *g) {
    for (int64_t i = 0; i < g->n; i++) {
        const struct place *p = &g->places[i];
        const double u = (g->frame->ux * p->x + g->frame->uy * p->y) / FIT_FWHM;
        const double v = g->frame->vy * p->y / FIT_FWHM;
        g->parent[i] = i;
        if (is_in_cluster(g, i))
            g->located[g->n_located++] = (struct located){whole_cells(v), whole_cells(u), i};
    }
    g->n_clusters = g->n_located;
    qsort(g->located, (size_t)g->n_located, sizeof *g->located, compare_located);
    for (int64_t i = 0; i < g->n_located; i++) {
        const struct located *at = &g->located[i];
        const struct cell *last = &g->cells[g->n_cells - 1];
        if (g->n_cells > 0 && last->row == at->row && last->column == at->column)
            join(g, g->located[i - 1].place, at->place);
        else
            g->cells[g->n_cells++] = (struct cell){at->row, at->column, i, i};
        g->cells[g->n_cells - 1].end = i + 1;
    }
}

/* The first cell at or after a row and column. */
static int64_t find_cell(const struct place_clusters *g, int64_t row, int64_t column) {
    int64_t low = 0, high = g->n_cells;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const struct cell *c = &g->cells[middle];
        if (c->row < row || (c->row == row && c->column < column))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Joins a place and the places of a cell, if one of them is close: they are one cluster. */
static void join_cell(struct place_clusters *g, int64_t place, const struct cell *cell) {
    if (forest_root(g->parent, place) == forest_root(g->parent, g->located[cell->first].place))
        return;
    for (int64_t i = cell->first; i < cell->end; i++) {
        if (are_close(&g->places[place], &g->places[g->located[i].place])) {
            join(g, place, g->located[i].place);
            return;
        }
    }
}

/* The longest FWHM of a place, in beams, and at least one. */
static double longest(const struct place_clusters *g, const struct place *p) {
    const struct fit_frame *f = g->frame;
    const struct tensor *m = &p->moments;
    const struct tensor in_frame = {f->ux * f->ux * m->xx + 2 * f->ux * f->uy * m->xy +
                                        f->uy * f->uy * m->yy,
                                    f->vy * f->vy * m->yy, f->vy * (f->ux * m->xy + f->uy * m->yy)};
    return fmax(1, sqrt(tensor_axes(&in_frame).major));
}

/* Joins a place and the places close to it whose FWHM is not longer. It goes from cell to cell:
 * under a shape far wider than the beam most rows of cells are empty. */
static void join_near(struct place_clusters *g, const struct located *at) {
    const int64_t cells = whole_cells(ceil(2 * longest(g, &g->places[at->place])));
    const int64_t left = at->column - cells, right = at->column + cells;
    for (int64_t c = find_cell(g, at->row - cells, left);
         c < g->n_cells && g->cells[c].row <= at->row + cells;) {
        const struct cell *cell = &g->cells[c];
        if (cell->column < left)
            c = find_cell(g, cell->row, left);
        else if (cell->column > right)
            c = find_cell(g, cell->row + 1, left);
        else
            join_cell(g, at->place, &g->cells[c++]);
    }
}

/* --- groups --- */

static int compare_indices(const void *a, const void *b) {
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* A place of a part, by the coordinate along which it is divided. */
struct along {
    double at;
    int64_t place;
};

static int compare_along(const void *a, const void *b) {
    const struct along *left = a, *right = b;
    return left->at != right->at ? (left->at > right->at) - (left->at < right->at)
                                 : (left->place > right->place) - (left->place < right->place);
}

/* Sorts places along x or y, along which their extent is larger. */
static void sort_along(const struct place_clusters *g, int64_t *members, int64_t n,
                       struct along *scratch) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        const double at[2] = {g->places[members[i]].x, g->places[members[i]].y};
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], at[k]);
            high[k] = fmax(high[k], at[k]);
        }
    }
    const bool along_y = high[1] - low[1] > high[0] - low[0];
    for (int64_t i = 0; i < n; i++) {
        const struct place *p = &g->places[members[i]];
        scratch[i] = (struct along){along_y ? p->y : p->x, members[i]};
    }
    qsort(scratch, (size_t)n, sizeof *scratch, compare_along);
    for (int64_t i = 0; i < n; i++)
        members[i] = scratch[i].place;
}

/* Adds the groups of some places, halved as often as necessary. */
static void add_groups(struct place_clusters *g, int64_t *members, int64_t n, bool is_part,
                       struct along *scratch) {
    if (n > PLACES_A_GROUP) {
        sort_along(g, members, n, scratch);
        add_groups(g, members, n / 2, true, scratch);
        add_groups(g, members + n / 2, n - n / 2, true, scratch);
        return;
    }
    qsort(members, (size_t)n, sizeof *members, compare_indices);
    g->made->groups[g->made->n++] =
        (struct place_group){.n = (int32_t)n, .members = members, .is_part = is_part};
}

/* --- others --- */

struct box {
    double x0, x1, y0, y1;
};

/* The box of the pixels of a group. */
static struct box box_of(const struct place_clusters *g, const struct place_group *group) {
    struct box b = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int i = 0; i < group->n; i++) {
        const struct place *p = &g->places[group->members[i]];
        b.x0 = fmin(b.x0, p->x - p->reach_x - 1);
        b.x1 = fmax(b.x1, p->x + p->reach_x + 1);
        b.y0 = fmin(b.y0, p->y - p->reach_y - 1);
        b.y1 = fmax(b.y1, p->y + p->reach_y + 1);
    }
    return b;
}

static bool reaches(const struct place *p, const struct box *b) {
    const double width = sqrt(PLACE_REACH_OF_OTHERS * p->moments.xx);
    const double height = sqrt(PLACE_REACH_OF_OTHERS * p->moments.yy);
    return p->x + width >= b->x0 && p->x - width <= b->x1 && p->y + height >= b->y0 &&
           p->y - height <= b->y1;
}

/* The first of the places [0, n) of a cluster, sorted by y, that is not below y. */
static int64_t find_row(const struct place_clusters *g, const int64_t *cluster, int64_t n,
                        double y) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (g->places[cluster[middle]].y < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lists the others of a part of a cluster of n places. highest: the farthest that a place of the
 * cluster reaches along y. */
static bool add_others(struct place_clusters *g, struct place_group *group, const int64_t *cluster,
                       int64_t n, double highest) {
    struct place_groups *made = g->made;
    const struct box box = box_of(g, group);
    if (!GROW(made->others, made->capacity, made->n_others + MOST_OTHERS))
        return false;
    for (int64_t i = find_row(g, cluster, n, box.y0 - highest);
         i < n && group->n_others < MOST_OTHERS && g->places[cluster[i]].y <= box.y1 + highest;
         i++) {
        if (reaches(&g->places[cluster[i]], &box) &&
            !bsearch(&cluster[i], group->members, (size_t)group->n, sizeof *cluster,
                     compare_indices)) {
            made->others[made->n_others++] = cluster[i];
            group->n_others++;
        }
    }
    return true;
}

/* Adds the groups of a cluster of n places. scratch has room for n. */
static bool add_cluster(struct place_clusters *g, const int64_t *cluster, int64_t *members,
                        int64_t n, struct along *scratch) {
    const int64_t first = g->made->n;
    double highest = 0;
    add_groups(g, members, n, false, scratch);
    for (int64_t i = 0; i < n; i++)
        highest = fmax(highest, sqrt(PLACE_REACH_OF_OTHERS * g->places[cluster[i]].moments.yy));
    for (int64_t i = first; i < g->made->n; i++)
        if (g->made->groups[i].is_part && !add_others(g, &g->made->groups[i], cluster, n, highest))
            return false;
    return true;
}

/* Sorts the places by cluster. starts: an element for each place, 0. */
static void list_clusters(struct place_clusters *g, int64_t *starts) {
    int64_t n = 0;
    for (int64_t i = 0; i < g->n_located; i++)
        starts[forest_root(g->parent, g->located[i].place)]++;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t count = starts[i];
        starts[i] = n;
        n += count;
    }
    for (int64_t i = 0; i < g->n; i++) /* starts[i] moves from the start of cluster i to its end */
        if (is_in_cluster(g, i))
            g->clusters[starts[forest_root(g->parent, i)]++] = i;
    memcpy(g->made->members, g->clusters, (size_t)g->n_located * sizeof *g->clusters);
}

static bool add_clusters(struct place_clusters *g) {
    struct along *scratch = arrays_allocate(g->n_located, sizeof *scratch);
    bool ok = scratch;
    for (int64_t first = 0, end; ok && first < g->n_located; first = end) {
        const int64_t root = forest_root(g->parent, g->clusters[first]);
        for (end = first + 1;
             end < g->n_located && forest_root(g->parent, g->clusters[end]) == root; end++)
            ;
        ok = add_cluster(g, g->clusters + first, g->made->members + first, end - first, scratch);
    }
    free(scratch);
    return ok;
}

/* Adds a group for each place that is in no cluster. */
static void add_lone_places(struct place_clusters *g) {
    int64_t n = g->n_located;
    for (int64_t i = 0; i < g->n; i++) {
        if (g->places[i].twin != i || !g->places[i].is_left_out)
            continue;
        g->made->members[n] = i;
        g->made->groups[g->made->n++] =
            (struct place_group){.n = 1, .members = &g->made->members[n++]};
    }
}

/* Sets `others` of each group, once their array has stopped growing. */
static void set_others(struct place_groups *made) {
    int64_t first = 0;
    for (int64_t i = 0; i < made->n; i++) {
        made->groups[i].others = made->others + first;
        first += made->groups[i].n_others;
    }
}

static bool group(struct place_clusters *g) {
    int64_t *starts = calloc((size_t)g->n + 1, sizeof *starts);
    g->located = arrays_allocate(g->n, sizeof *g->located);
    g->cells = arrays_allocate(g->n, sizeof *g->cells);
    g->parent = arrays_allocate(g->n, sizeof *g->parent);
    g->clusters = arrays_allocate(g->n, sizeof *g->clusters);
    bool ok = starts && g->located && g->cells && g->parent && g->clusters;
    if (ok) {
        make_cells(g);
        for (int64_t i = 0; i < g->n_located && g->n_clusters > 1; i++)
            join_near(g, &g->located[i]);
        list_clusters(g, starts);
        ok = add_clusters(g);
        add_lone_places(g);
    }
    free(starts);
    free(g->located);
    free(g->cells);
    free(g->parent);
    free(g->clusters);
    return ok;
}

bool place_groups_make(const struct place *places, int64_t n, const struct fit_frame *frame,
                       struct place_groups *groups) {
    struct place_clusters g = {.places = places, .n = n, .frame = frame, .made = groups};
    *groups = (struct place_groups){.groups = arrays_allocate(n, sizeof *groups->groups),
                                    .members = arrays_allocate(n, sizeof *groups->members)};
    if (!groups->groups || !groups->members)
        return false;
    if (frame) {
        const bool ok = group(&g);
        set_others(groups);
        return ok;
    }
    for (int64_t i = 0; i < n; i++) {
        groups->members[i] = i;
        groups->groups[groups->n++] = (struct place_group){.n = 1, .members = &groups->members[i]};
    }
    return true;
}

void place_groups_clear(struct place_groups *groups) {
    free(groups->groups);
    free(groups->members);
    free(groups->others);
    *groups = (struct place_groups){0};
}
