#include "cpu/scan_leave_out.h"

#include <math.h>

/* Adds the pixels to the blank ones, which the edges of islands know. */
static bool add_to_blanks(struct scan *scan, const struct blanks *unsearched) {
    const int64_t n = (scan->source->width * scan->source->height + 63) / 64;
    if (!scan->blank && !(scan->blank = calloc((size_t)n, sizeof *scan->blank)))
        return false;
    for (int64_t i = 0; i < n; i++)
        scan->blank[i] |= atomic_load_explicit(&unsearched->bits[i], memory_order_relaxed);
    return true;
}

enum srcfind_status scan_leave_out(struct scan *scan, const struct blanks *unsearched,
                                   struct error *error) {
    const int64_t width = scan->source->width;
    for (int64_t b = 0; b < scan->n_bands; b++) {
        const struct scan_band *band = &scan->bands[b];
        const struct scan_worker *w = &scan->workers[band->worker];
        float *value = band->n_runs > 0 ? w->candidates.values + band->first_candidate : NULL;
        for (int64_t i = band->first_run; i < band->first_run + band->n_runs; i++) {
            const struct run *run = &w->runs[i];
            for (int64_t x = run->x0; x <= run->x1; x++, value++)
                if (blanks_has_any(unsearched, run->y * width + x, 1))
                    *value = NAN;
        }
    }
    return add_to_blanks(scan, unsearched) ? SRCFIND_OK : error_memory(error, "leaving out pixels");
}
