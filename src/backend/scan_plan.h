/* What a scan does with each pixel, and how that is predicted from the clip of a sample; shared by
 * every backend. Pixels of the core, which are certain to survive the clip and are not near any
 * median, are only counted and summed, in integers. The others are listed by value. Pixels that may
 * belong to a source are kept with their places. */
#ifndef SCAN_PLAN_H
#define SCAN_PLAN_H

#include "backend/backend.h"

/* Bits: by so much smaller is the unit in which pixels of the zero band are added up, which is as
 * much smaller than the bound of all pixels of the core. */
enum { SCAN_PLAN_SMALLER = 8 };

/* A pixel v is of the core if core_low < v < core_high and it is not within [median_low,
 * median_high]. Then |v| < 2^exponent; and if |v| >= zero_band, which is 2^(exponent -
 * SCAN_PLAN_SMALLER), v * scale with scale = 2^(31 - exponent) is an integer below 2^31 in
 * magnitude. Smaller pixels of the core are rare; but for the smallest ones, v * scale *
 * 2^SCAN_PLAN_SMALLER is one. */
struct scan_plan {
    float core_low, core_high, median_low, median_high, zero_band, scale;
    int exponent;
    float candidate;  /* a pixel >= this is kept with its place; core_high <= candidate */
    bool list_values; /* false: only candidates and blanks are wanted */
    double share;     /* of the pixels that will be listed, about; only speed depends on it */
};

/* Where the medians lay in all rounds of a clip, and the narrowest bounds. */
struct clip_path {
    double median_low, median_high, low, high;
};

EXACT_FUNCTION struct clip_path clip_path_none(void) {
    const struct clip_path path = {INFINITY, -INFINITY, -INFINITY, INFINITY};
    return path;
}

EXACT_FUNCTION void clip_path_extend(struct clip_path *path, double median, double low,
                                     double high) {
    path->median_low = fmin(path->median_low, median);
    path->median_high = fmax(path->median_high, median);
    path->low = fmax(path->low, low);
    path->high = fmin(path->high, high);
}

/* A plan without a core: everything is listed, and the pixels >= candidate are kept. */
EXACT_FUNCTION struct scan_plan scan_plan_all(float candidate) {
    const struct scan_plan plan = {INFINITY, -INFINITY, -INFINITY, INFINITY, 0,
                                   0,        0,         candidate, true,     1};
    return plan;
}

/* A plan that lists the pixels within [low, high], both finite, and keeps none. */
EXACT_FUNCTION struct scan_plan scan_plan_between(float low, float high) {
    const struct scan_plan plan = {-INFINITY, INFINITY, low, high, 0, 0, 0, INFINITY, false, 0};
    return plan;
}

/* A plan that lists nothing and keeps the pixels >= candidate. */
EXACT_FUNCTION struct scan_plan scan_plan_candidates(float candidate) {
    const struct scan_plan plan = {-INFINITY, candidate, INFINITY,  -INFINITY, 0,
                                   0,         0,         candidate, false,     0};
    return plan;
}

/* Whether float32 has room for the units of pixels below 2^exponent, and for what is 1 / unit. */
EXACT_FUNCTION bool scan_plan_has_room(int exponent) {
    return exponent >= -88 && exponent <= 120;
}

/* The least E with |core| < 2^E, and what follows from it. False where float32 has no room. */
EXACT_FUNCTION bool scan_plan_scale(struct scan_plan *plan) {
    const float most = fmaxf(fabsf(plan->core_low), fabsf(plan->core_high));
    plan->exponent = isfinite(most) && most > 0 ? ilogbf(most) + 1 : 128;
    if (!scan_plan_has_room(plan->exponent))
        return false;
    plan->scale = ldexpf(1, 31 - plan->exponent);
    plan->zero_band = ldexpf(1, plan->exponent - SCAN_PLAN_SMALLER);
    return true;
}

/* Whether a stretch, both ends excluded, has a value that is smaller than the band. */
EXACT_FUNCTION bool scan_plan_reaches_zero(float low, float high, float zero_band) {
    return fmaxf(low, -zero_band) < fminf(high, zero_band);
}

/* Whether the core may have pixels within the zero band. */
EXACT_FUNCTION bool scan_plan_has_zero(const struct scan_plan *plan) {
    return scan_plan_reaches_zero(plan->core_low, plan->median_low, plan->zero_band) ||
           scan_plan_reaches_zero(plan->median_high, plan->core_high, plan->zero_band);
}

/* Standard errors that bounds and medians may lie off their prediction. Of 3000 crops of a
 * synthetic sky none failed at 4, one in 500 at 3; each costs two more reads, and more margin a
 * longer list. */
#define SCAN_PLAN_MARGIN 4.0

/* The plan that follows from the clip of n pixels, which ended with `median` and `rms`. Standard
 * errors: of a median 1.2533 rms / sqrt(n), of an rms rms / sqrt(2 n). False where the sample tells
 * nothing (discrete values, a flat image). */
EXACT_FUNCTION bool scan_plan_predict(struct scan_plan *plan, const struct clip_path *path,
                                      double median, double rms, int64_t n,
                                      const struct detection *detection) {
    const double root = sqrt((double)n);
    const double median_margin = SCAN_PLAN_MARGIN * 1.2533 * rms / root;
    const double rms_margin = SCAN_PLAN_MARGIN * rms / (root * sqrt(2.0));
    const double margin = 2 * (detection->kappa * rms_margin) + median_margin;
    const double base = detection->subtract_background ? median - median_margin : 0;
    plan->core_low = (float)(path->low + margin);
    plan->core_high = (float)(path->high - margin);
    plan->median_low = (float)(path->median_low - median_margin);
    plan->median_high = (float)(path->median_high + median_margin);
    plan->candidate = (float)(base + detection->island * (rms - rms_margin));
    plan->core_high = fminf(plan->core_high, plan->candidate);
    plan->list_values = true;
    return plan->core_low < plan->median_low && plan->median_high < plan->core_high &&
           scan_plan_scale(plan);
}

#endif
