#include "cpu/convolve.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/variants.h"

bool convolver_make(struct convolver *c, const struct smoothing *s) {
    *c = (struct convolver){.smoothing = s,
                            .sums = cpu_variant_choose()->convolve,
                            .length = s->width + (s->n_x - 1) / s->step};
    c->phases = malloc((size_t)(s->step * c->length) * sizeof *c->phases);
    c->from = malloc((size_t)s->n_x * sizeof *c->from);
    for (int64_t t = 0; c->phases && c->from && t < s->n_x; t++)
        c->from[t] = c->phases + t % s->step * c->length + t / s->step;
    return c->phases && c->from;
}

void convolver_clear(struct convolver *c) {
    free(c->phases);
    free(c->from);
    *c = (struct convolver){0};
}

/* Splits a row into phases: pixel x goes to phase (x - left) modulo the step. All pixels that one
 * pixel of the kernel multiplies are then neighbours in one phase. */
static void split(const struct convolver *c, const float *values, int64_t width) {
    const struct smoothing *s = c->smoothing;
    memset(c->phases, 0, (size_t)(s->step * c->length) * sizeof *c->phases);
    for (int64_t k = 0; k < s->step; k++) {
        float *const phase = c->phases + k * c->length;
        const int64_t before = -s->left - k; /* pixels of the phase outside of the image */
        const int64_t first = before > 0 ? (before + s->step - 1) / s->step : 0;
        int64_t x = first * s->step + k + s->left;
        for (int64_t m = first; m < c->length && x < width; m++, x += s->step)
            phase[m] = values[x];
    }
}

void convolve_row(struct convolver *c, const float *values, int64_t width, float *sums) {
    split(c, values, width);
    const struct smoothing *s = c->smoothing;
    c->sums(s->kernel_x, s->n_x, c->from, s->width, sums);
}
