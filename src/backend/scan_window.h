/* A scan plan as the CUDA scan looks at pixels: with few comparisons, of which the first is of a
 * distance in floats. What rounds there keeps its order, so that the plan's bounds can be made to
 * say exactly the same, which the clip needs. Compiled for host and device, so that it can be
 * tested without one. */
#ifndef SCAN_WINDOW_H
#define SCAN_WINDOW_H

#include "backend/scan_plan.h"

/* v is of the core if ||v - centre| - middle| < half, each difference being rounded to a float, and
 * |v| >= zero_band, which is only asked if the window has_zero. Then v * scale is an integer q
 * below 2^31 in magnitude. */
struct scan_window {
    float centre, middle, half, zero_band, scale, candidate;
    bool has_zero, list_values;
};

/* Of a plan without a core. */
EXACT_FUNCTION struct scan_window scan_window_open(const struct scan_plan *plan) {
    const struct scan_window window = {0, 0, -1, 0, 0, plan->candidate, false, plan->list_values};
    return window;
}

/* How far a value is from the middle of the core's half on its side; grows with |v - centre|. */
EXACT_FUNCTION float scan_window_distance(const struct scan_window *w, float v) {
    return fabsf(v - w->centre) - w->middle;
}

/* Sets the first three members so that no more is of the core than the plan says. False where
 * nothing is left. */
EXACT_FUNCTION bool scan_window_shape(struct scan_window *w, const struct scan_plan *plan) {
    const float centre = plan->median_low / 2 + plan->median_high / 2;
    const float outer = fminf(plan->core_high - centre, centre - plan->core_low);
    const float inner = fmaxf(plan->median_high - centre, centre - plan->median_low);
    w->centre = centre;
    w->middle = inner / 2 + outer / 2;
    w->half = outer / 2 - inner / 2;
    return w->half > 0 && scan_window_distance(w, centre) <= -w->half;
}

/* One of the four bounds of the core: the value nearest to the centre, above or below it, that is
 * beyond its inner or its outer bound. By bisection over the keys. */
EXACT_FUNCTION float scan_window_bound(const struct scan_window *w, bool above, bool inner) {
    const float bound = inner ? nextafterf(-w->half, INFINITY) : w->half;
    uint32_t near_key = exact_key(w->centre), far_key = exact_key(above ? INFINITY : -INFINITY);
    if (scan_window_distance(w, w->centre) >= bound)
        return w->centre;
    while (near_key + 1 != far_key && near_key - 1 != far_key) {
        const uint32_t middle = near_key / 2 + far_key / 2 + (near_key & far_key & 1);
        if (scan_window_distance(w, exact_unkey(middle)) >= bound)
            far_key = middle;
        else
            near_key = middle;
    }
    return exact_unkey(far_key);
}

/* Makes the plan's bounds those of the window, given as scan_window_bound does (below the centre
 * and above it, outer and inner ones), and sets the rest of the window. False where float32 has no
 * room.
 */
EXACT_FUNCTION bool scan_window_finish(struct scan_window *w, struct scan_plan *plan,
                                       const float outer[2], const float inner[2]) {
    plan->core_low = outer[0];
    plan->core_high = outer[1];
    plan->median_low = nextafterf(inner[0], INFINITY);
    plan->median_high = nextafterf(inner[1], -INFINITY);
    if (!scan_plan_scale(plan))
        return false;
    w->has_zero = scan_plan_has_zero(plan);
    w->zero_band = plan->zero_band;
    w->scale = plan->scale;
    w->candidate = plan->candidate;
    w->list_values = true;
    return true;
}

#endif
