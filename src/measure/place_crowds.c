#include "measure/place_crowds.h"

#include <stdlib.h>

#include "common/arrays.h"

enum { MOST_IN_SQUARE = 16, FITTED_OF_CROWD = 4 };

/* A place, and its square among the squares for its shape's area. */
struct spot {
    int64_t level, row, column;
    int64_t place;
};

/* The square of a place. Squares of a level have sides of 2^(level / 2) pixels, at most the FWHM of
 * a circle of the shape's area. Shapes narrower than a pixel have pixels as squares. */
static struct spot spot_of(const struct place *p, int64_t number) {
    const double fwhm = FIT_FWHM * sqrt(sqrt(tensor_determinant(&p->moments)));
    const double level = fmax(0, floor(2 * log2(fwhm)));
    const double side = exp2(level / 2);
    return (struct spot){(int64_t)level, (int64_t)floor(p->y / side), (int64_t)floor(p->x / side),
                         number};
}

static int compare_squares(const struct spot *a, const struct spot *b) {
    const int64_t left[] = {a->level, a->row, a->column};
    const int64_t right[] = {b->level, b->row, b->column};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int compare_spots(const void *a, const void *b) {
    const struct spot *left = a, *right = b;
    const int order = compare_squares(left, right);
    return order ? order : (left->place > right->place) - (left->place < right->place);
}

/* Marks the n places of a square as a crowd. The four that are still fitted are spread evenly over
 * them. */
static void mark(struct place *places, const struct spot *spots, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        struct place *p = &places[spots[i].place];
        p->is_crowded = true;
        if ((i + 1) * FITTED_OF_CROWD / n == i * FITTED_OF_CROWD / n)
            place_leave_out(p);
    }
}

bool place_crowds_mark(struct place *places, int64_t n) {
    struct spot *spots = arrays_allocate(n, sizeof *spots);
    int64_t n_spots = 0;
    if (!spots)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (places[i].twin == i && !places[i].is_left_out)
            spots[n_spots++] = spot_of(&places[i], i);
    qsort(spots, (size_t)n_spots, sizeof *spots, compare_spots);
    for (int64_t first = 0, end; first < n_spots; first = end) {
        for (end = first + 1; end < n_spots && compare_squares(&spots[first], &spots[end]) == 0;
             end++)
            ;
        if (end - first > MOST_IN_SQUARE)
            mark(places, spots + first, end - first);
    }
    free(spots);
    return true;
}
