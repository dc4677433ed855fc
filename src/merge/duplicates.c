/* How duplicates by distance are found:
 *
 * 1. Candidates get ranks by preference: rows away from edges first, then lower rms, larger margin.
 * 2. A tree over their positions is built (Bentley 1975, CACM 18, 509): a node is a range of
 *    candidates and the box around them; its two children have half of the range each; leaves have
 *    up to 32. Sign and scale are an axis, too, and halved first: rows that differ there are never
 *    compared.
 * 3. In the order of rank, each row asks the tree for a row of another image that was taken before
 *    and is nearer than the larger reach of both. If there is one, it is a duplicate; else it is
 *    taken, and the nodes above it record its reach and image.
 *
 * A row is a duplicate only of a row that was taken, so chains of near rows do not vanish. The
 * order of the images matters only for rows that are equal in all else. Costs some n log n
 * comparisons; memory: the tree, and 4 bytes a row. */
#define _GNU_SOURCE /* qsort_r */
#include "merge/duplicates.h"

#include <math.h>
#include <stdlib.h>

/* The axes of the tree: a unit vector, and sign and scale. */
enum { AXES = 4, KIND = 3 /* the axis of sign and scale */ };
enum { LEAF = 32, NONE = -1, SEVERAL = -2 };

static const uint32_t HAD_ITS_TURN = UINT32_MAX; /* no candidate has this rank */

struct node {
    float low[AXES], high[AXES]; /* rounded outwards */
    float reach;   /* the largest reach, as a chord, of the rows taken in it; rounded up */
    int32_t image; /* the image of these rows, NONE or SEVERAL */
};

struct search {
    struct candidate *candidates;
    const struct reach *reach;
    struct node *nodes; /* node k has the children 2 k + 1 and 2 k + 2 */
    uint64_t *duplicates;
    double own; /* the reach, as a chord, of the row that is compared; 0: not known */
};

/* --- preference --- */

static int by_preference(const void *a, const void *b, void *context) {
    const struct candidate *all = context;
    const struct candidate *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];
    if (x->at_edge != y->at_edge)
        return x->at_edge - y->at_edge;
    if (x->rms != y->rms)
        return x->rms < y->rms ? -1 : 1;
    if (x->margin != y->margin)
        return x->margin > y->margin ? -1 : 1;
    if (x->image != y->image)
        return x->image < y->image ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Replaces the rms of each candidate by its rank. */
static bool rank(struct candidate *candidates, int64_t n) {
    uint32_t *order = malloc((size_t)n * sizeof *order);
    if (!order)
        return false;
    for (int64_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, (size_t)n, sizeof *order, by_preference, candidates);
    for (int64_t i = 0; i < n; i++)
        candidates[order[i]].turn.rank = (uint32_t)i;
    free(order);
    return true;
}

/* --- tree --- */

static void swap(struct candidate *a, struct candidate *b) {
    const struct candidate c = *a;
    *a = *b;
    *b = c;
}

/* A number for sign and scale. */
static int32_t kind_of(const struct candidate *c) {
    return 2 * c->scale + c->is_negative;
}

static double coordinate(const struct candidate *c, int axis) {
    return axis == KIND ? kind_of(c) : c->position[axis];
}

/* Moves the n / 2 candidates that are lowest along an axis before the others (Hoare 1961, CACM 4,
 * 321). */
static void halve(struct candidate *c, int64_t n, int axis) {
    int64_t left = 0, right = n - 1;
    const int64_t middle = n / 2;
    while (left < right) {
        const double pivot = coordinate(&c[left + (right - left) / 2], axis);
        int64_t i = left, j = right;
        while (i <= j) {
            while (coordinate(&c[i], axis) < pivot)
                i++;
            while (coordinate(&c[j], axis) > pivot)
                j--;
            if (i <= j)
                swap(&c[i++], &c[j--]);
        }
        if (middle <= j)
            right = j;
        else if (middle >= i)
            left = i;
        else
            return;
    }
}

static void make_box(struct node *node, const struct candidate *c, int64_t n) {
    for (int k = 0; k < AXES; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            low = fmin(low, coordinate(&c[i], k));
            high = fmax(high, coordinate(&c[i], k));
        }
        node->low[k] = nextafterf((float)low, -INFINITY);
        node->high[k] = nextafterf((float)high, INFINITY);
    }
    node->reach = 0;
    node->image = NONE;
}

static int longest_axis(const struct node *node) {
    if (node->high[KIND] - node->low[KIND] > 0.5F) /* several kinds; 0 is rounded outwards */
        return KIND;
    int longest = 0;
    for (int k = 1; k < 3; k++)
        if (node->high[k] - node->low[k] > node->high[longest] - node->low[longest])
            longest = k;
    return longest;
}

/* Makes node k of the candidates [first, first + n), and those below it. */
static void make_node(struct search *s, int64_t k, int64_t first, int64_t n) {
    make_box(&s->nodes[k], s->candidates + first, n);
    if (n <= LEAF)
        return;
    halve(s->candidates + first, n, longest_axis(&s->nodes[k]));
    make_node(s, 2 * k + 1, first, n / 2);
    make_node(s, 2 * k + 2, first + n / 2, n - n / 2);
}

/* The number of nodes of a tree, counting those that are missing in its last level. */
static int64_t count_nodes(int64_t n) {
    int64_t nodes = 1;
    for (; n > LEAF; n -= n / 2)
        nodes = 2 * nodes + 1;
    return nodes;
}

/* --- search --- */

static double distance_to_box(const struct node *node, const double *position) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double below = node->low[k] - position[k], above = position[k] - node->high[k];
        const double out = below > 0 ? below : above > 0 ? above : 0;
        square += out * out;
    }
    return sqrt(square);
}

/* The length of the chord of an angle. */
static double chord(double angle) {
    return 2 * sin(fmin(angle, M_PI) / 2);
}

static bool is_taken(const struct search *s, const struct candidate *c) {
    return c->turn.rank == HAD_ITS_TURN && !row_bit_is_set(s->duplicates, c->row);
}

/* The reach of an image for rows of the scale of c. */
static double reach_of(const struct reach *reach, const struct candidate *c) {
    return reach_of_scale(reach, (double)c->scale / SCALE_STEPS);
}

static bool is_near(const struct search *s, const struct candidate *a, const struct candidate *b) {
    const double radius = /* fmax ignores one NaN */
        fmax(reach_of(&s->reach[a->image], a), reach_of(&s->reach[b->image], b));
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (a->position[k] - b->position[k]) * (a->position[k] - b->position[k]);
    return radius > 0 && sqrt(square) < chord(radius);
}

/* Whether a row taken in node k makes c a duplicate; the node has the candidates [first, first +
 * n). An absurdly wide beam widens the search only in nodes with rows of its image. */
static bool has_better(const struct search *s, const struct candidate *c, int64_t k, int64_t first,
                       int64_t n) {
    const struct node *node = &s->nodes[k];
    const int32_t kind = kind_of(c);
    if (node->image == NONE || node->image == c->image || (float)kind < node->low[KIND] ||
        (float)kind > node->high[KIND] ||
        distance_to_box(node, c->position) >= fmax(s->own, (double)node->reach))
        return false;
    if (n > LEAF)
        return has_better(s, c, 2 * k + 1, first, n / 2) ||
               has_better(s, c, 2 * k + 2, first + n / 2, n - n / 2);
    for (int64_t i = first; i < first + n; i++) {
        const struct candidate *other = &s->candidates[i];
        if (other->image != c->image && kind_of(other) == kind && is_taken(s, other) &&
            is_near(s, c, other))
            return true;
    }
    return false;
}

/* Records in all nodes that contain candidate `index` that its row was taken. */
static void take(struct search *s, int64_t index, int32_t image, int64_t n) {
    const float reach = nextafterf((float)s->own, INFINITY);
    for (int64_t k = 0, first = 0;;) {
        struct node *node = &s->nodes[k];
        node->reach = fmaxf(node->reach, reach);
        node->image = node->image == NONE || node->image == image ? image : SEVERAL;
        if (n <= LEAF)
            return;
        const bool is_left = index < first + n / 2;
        first += is_left ? 0 : n / 2;
        n = is_left ? n / 2 : n - n / 2;
        k = is_left ? 2 * k + 1 : 2 * k + 2;
    }
}

static void search_all(struct search *s, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        s->candidates[s->candidates[i].turn.rank].turn.index = (uint32_t)i;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t index = s->candidates[i].turn.index;
        struct candidate *c = &s->candidates[index];
        const double reach = reach_of(&s->reach[c->image], c);
        s->own = reach > 0 ? chord(reach) : 0;
        if (has_better(s, c, 0, 0, n))
            row_bit_set(s->duplicates, c->row);
        else
            take(s, index, c->image, n);
        c->turn.rank = HAD_ITS_TURN;
    }
}

static bool has_reach(const struct candidate *candidates, int64_t n, const struct reach *reach) {
    for (int64_t i = 0; i < n; i++)
        if (reach_of(&reach[candidates[i].image], &candidates[i]) > 0)
            return true;
    return false;
}

bool duplicates_find(struct candidate *candidates, int64_t n, const struct reach *reach,
                     uint64_t *duplicates) {
    struct search s = {.candidates = candidates, .reach = reach, .duplicates = duplicates};
    if (n == 0 || !has_reach(candidates, n, reach))
        return true;
    s.nodes = rank(candidates, n) ? malloc((size_t)count_nodes(n) * sizeof *s.nodes) : NULL;
    if (!s.nodes)
        return false;
    make_node(&s, 0, 0, n);
    search_all(&s, n);
    free(s.nodes);
    return true;
}
