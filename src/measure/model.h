/* The sum of Gaussians: of an image at the pixels of a row, of an island at any point. */
#ifndef MODEL_H
#define MODEL_H

#include "backend/gaussian.h"

/* The box in which values of a model are mostly asked for, and the side of its square cells, in
 * pixels. */
struct model_box {
    int64_t x, y, width, height;
    int64_t cell;
};

enum { MODEL_CELL = 64 }; /* that suits the rows of an image */

/* Each cell lists the Gaussians that reach it: reaching[first[i]] ... reaching[first[i + 1] - 1]
 * for cell i. The outermost cells list Gaussians beyond the box, too. */
struct model {
    const struct gaussian *gaussians;
    struct model_box box;
    int64_t n_x, n_y; /* cells along x and y */
    int64_t *first;
    int32_t *reaching; /* their numbers, in rising order */
};

/* gaussians must outlive the model. Clear the model, also after a failure. */
bool model_make(struct model *model, const struct gaussian *gaussians, int64_t n,
                const struct model_box *box);
void model_clear(struct model *model);

/* Writes the sums at n pixels of row y, from pixel x on, all in the box. Each sum is in the order
 * of the Gaussians, whichever pixels are asked for together. */
void model_row(const struct model *model, int64_t y, int64_t x, int64_t n, double *sums);

/* The sum at a point, in or outside of the box, in the order of the Gaussians. */
double model_at(const struct model *model, double x, double y);

/* Its gradient and second derivatives. */
struct model_slope {
    double x, y;
    struct tensor second;
};
struct model_slope model_slope_at(const struct model *model, double x, double y);

/* Numbers of Gaussians. */
struct model_list {
    const int32_t *number;
    int64_t n;
};

/* The Gaussians that reach the cell of column `x` and row `y` of cells. */
struct model_list model_reaching(const struct model *model, int64_t x, int64_t y);

/* The cells [x0, x1] of the rows [y0, y1] of cells. */
struct model_cells {
    int64_t x0, x1, y0, y1;
};

/* The cells that a Gaussian reaches. */
struct model_cells model_cells_of(const struct model *model, const struct gaussian *g);

#endif
