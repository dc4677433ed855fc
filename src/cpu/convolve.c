#include "cpu/convolve.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/variants.h"

bool convolver_make(struct convolver *c, const struct smoothing *s) {
    const int64_t n_kernel = 2 * s->radius + 1;
    *c = (struct convolver){.smoothing = s,
                            .sums = cpu_variant_choose()->convolve,
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

/* Splits a row into phases: pixel x goes to phase (x + radius) modulo the step. All pixels that one
 * pixel of the kernel multiplies are then neighbours in one phase. */
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
    c->sums(c->smoothing, c->from, c->smoothing->width, sums);
}
