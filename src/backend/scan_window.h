/* A scan plan in the form that the CUDA scan uses, with few comparisons per pixel, the first one of
 * a distance in floats. The rounding of the distance is monotonic. So the bounds of the plan can be
 * set to select exactly the same inliers, as the clip needs. Compiled for host and device, so that
 * tests need no device. */
#ifndef SCAN_WINDOW_H
#define SCAN_WINDOW_H

#include "backend/scan_plan.h"

/* v is an inlier if ||v - centre| - middle| < half, each difference rounded to a float, and |v| >=
 * zero_band, which is tested only if has_zero. Then v * scale is an integer below 2^31 in
 * magnitude. */
struct scan_window {
    float centre, middle, half, zero_band, scale, candidate;
    bool has_zero, list_values;
};

/* The window of a plan without inliers. */
EXACT_FUNCTION struct scan_window scan_window_open(const struct scan_plan *plan) {
    const struct scan_window window = {0, 0, -1, 0, 0, plan->candidate, false, plan->list_values};
    return window;
}

/* The signed distance of v from the middle of the inliers on its side of the centre. It never
 * decreases as |v - centre| grows. */
EXACT_FUNCTION float scan_window_distance(const struct scan_window *w, float v) {
    return fabsf(v - w->centre) - w->middle;
}

/* Sets centre, middle and half so that no pixel is an inlier that the plan does not make one. False
 * if there are no inliers then. */
EXACT_FUNCTION bool scan_window_shape(struct scan_window *w, const struct scan_plan *plan) {
    const float centre = plan->median_low / 2 + plan->median_high / 2;
    const float outer = fminf(plan->inlier_high - centre, centre - plan->inlier_low);
    const float inner = fmaxf(plan->median_high - centre, centre - plan->median_low);
    w->centre = centre;
    w->middle = inner / 2 + outer / 2;
    w->half = outer / 2 - inner / 2;
    return w->half > 0 && scan_window_distance(w, centre) <= -w->half;
}

/* One of the four bounds of the inliers: the value nearest to the centre, above or below it, that
 * is at or beyond the inner or the outer bound of the distance. Found by bisection over the keys.
 */
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

/* Sets the bounds of the plan, outer and inner, below and above the centre, to those of the window
 * (scan_window_bound), and the other members of the window. False if float32 cannot represent the
 * plan's units. */
EXACT_FUNCTION bool scan_window_finish(struct scan_window *w, struct scan_plan *plan,
                                       const float outer[2], const float inner[2]) {
    plan->inlier_low = outer[0];
    plan->inlier_high = outer[1];
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
