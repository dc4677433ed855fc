#include "cpu/convolve.h"

#include <stdlib.h>
#include <string.h>

/* Sums that stay in the first cache while the kernel passes over them. */
enum { BLOCK = 1024 };

bool convolver_make(struct convolver *c, const struct smoothing *s) {
    const int64_t n_kernel = 2 * s->radius + 1;
    *c = (struct convolver){.smoothing = s,
                            .length = s->width + (s->offset + 2 * s->radius) / s->step};
    c->phases = malloc((size_t)(s->step * c->length) * sizeof *c->phases);
    c->from = malloc((size_t)n_kernel * sizeof *c->from);
    for (int64_t t = 0; c->phases && c->from && t < n_kernel; t++) {
        const int64_t pixel = s->offset + t;
        c->from[t] = c->phases + pixel % s->step * c->length + pixel / s->step;
    }
    return c->phases && c->from;
}

void convolver_clear(struct convolver *c) {
    free(c->phases);
    free(c->from);
    *c = (struct convolver){0};
}

/* Adds the products with n values, each to its sum. */
static void add_one(float kernel, const float *restrict from, int64_t n, float *restrict sums) {
    for (int64_t i = 0; i < n; i++)
        sums[i] += kernel * from[i];
}

/* The same for four pixels of the kernel, one after the other. */
static void add_four(const float *kernel, const float *restrict p, const float *restrict q,
                     const float *restrict r, const float *restrict s, int64_t n,
                     float *restrict sums) {
    const float a = kernel[0], b = kernel[1], c = kernel[2], d = kernel[3];
    for (int64_t i = 0; i < n; i++)
        sums[i] = (((sums[i] + a * p[i]) + b * q[i]) + c * r[i]) + d * s[i];
}

/* Writes n sums over the kernel; from[t]: what belongs to its pixel t, from the first sum on. */
static void add_all(const struct smoothing *s, const float *const *from, int64_t n, float *sums) {
    const int64_t n_kernel = 2 * s->radius + 1;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        memset(sums + first, 0, (size_t)count * sizeof *sums);
        for (int64_t t = 0; t < n_kernel;) {
            const float *const *f = from + t;
            if (t + 4 <= n_kernel && f[0] && f[1] && f[2] && f[3]) {
                add_four(s->kernel + t, f[0] + first, f[1] + first, f[2] + first, f[3] + first,
                         count, sums + first);
                t += 4;
                continue;
            }
            if (f[0])
                add_one(s->kernel[t], f[0] + first, count, sums + first);
            t++;
        }
    }
}

/* Pixel x of the row is pixel x + radius of those that kernels reach, and goes to the phase of that.
 */
static void split(const struct convolver *c, const float *values, int64_t width) {
    const struct smoothing *s = c->smoothing;
    memset(c->phases, 0, (size_t)(s->step * c->length) * sizeof *c->phases);
    for (int64_t k = 0; k < s->step; k++) {
        float *const phase = c->phases + k * c->length;
        const int64_t first = (s->radius - k + s->step - 1) / s->step;
        int64_t x = first * s->step + k - s->radius;
        for (int64_t m = first; m < c->length && x < width; m++, x += s->step)
            phase[m] = values[x];
    }
}

void convolve_row(struct convolver *c, const float *values, int64_t width, float *sums) {
    split(c, values, width);
    add_all(c->smoothing, c->from, c->smoothing->width, sums);
}

void convolve_columns(const struct smoothing *smoothing, const float *const *rows, int64_t n,
                      float *sums) {
    add_all(smoothing, rows, n, sums);
}
