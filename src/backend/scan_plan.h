/* The plan of a scan tells what the scan does with each pixel. It follows from the clip of a
 * sample. Shared by all backends. Inliers are pixels that certainly survive the clip and are not
 * near a median of any round: they are only counted and summed, in integers. The values of all
 * other pixels are listed. Pixels that may belong to a source, the candidates, are kept with their
 * positions. */
#ifndef SCAN_PLAN_H
#define SCAN_PLAN_H

#include "backend/backend.h"

/* In bits: the zero band is smaller by this than the bound of all inliers, and its pixels are added
 * up in a unit that is smaller by this than that of the other inliers. */
enum { SCAN_PLAN_SMALLER = 8 };

/* A pixel v is an inlier if inlier_low < v < inlier_high and v is not within the median bracket,
 * [median_low, median_high]. Then |v| < 2^exponent. If also |v| >= zero_band, which is 2^(exponent
 * - SCAN_PLAN_SMALLER), then v * scale with scale = 2^(31 - exponent) is an integer below 2^31 in
 * magnitude. Inliers within the zero band are rare; except for the very smallest ones, v * scale *
 * 2^SCAN_PLAN_SMALLER is an integer. */
struct scan_plan {
    float inlier_low, inlier_high, median_low, median_high, zero_band, scale;
    int exponent;
    float candidate;  /* pixels >= this are candidates; inlier_high <= candidate */
    float peak;       /* islands of candidates without a pixel >= this may be dropped */
    int connectivity; /* of islands */
    bool list_values; /* false: the scan only keeps candidates and blanks */
    double share;     /* estimated share of listed pixels; only the speed depends on it */
};

/* The range of the medians of all rounds of a clip, and the narrowest bounds of any round. */
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

/* A plan without inliers, bracket and candidates. */
EXACT_FUNCTION struct scan_plan scan_plan_none(void) {
    const struct scan_plan plan = {INFINITY, -INFINITY, INFINITY,  -INFINITY, 0,     0,
                                   0,        INFINITY,  -INFINITY, 4,         false, 0};
    return plan;
}

/* A plan without inliers: all pixels are listed, and those >= candidate are candidates. */
EXACT_FUNCTION struct scan_plan scan_plan_all(float candidate) {
    struct scan_plan plan = scan_plan_none();
    plan.median_low = -INFINITY;
    plan.median_high = INFINITY;
    plan.candidate = candidate;
    plan.list_values = true;
    plan.share = 1;
    return plan;
}

/* A plan that lists the pixels within [low, high], both finite, and has no candidates. */
EXACT_FUNCTION struct scan_plan scan_plan_between(float low, float high) {
    struct scan_plan plan = scan_plan_none();
    plan.inlier_low = -INFINITY;
    plan.inlier_high = INFINITY;
    plan.median_low = low;
    plan.median_high = high;
    return plan;
}

/* A plan that lists no pixel; its candidates are the pixels of islands that count. */
EXACT_FUNCTION struct scan_plan scan_plan_candidates(const struct thresholds *thresholds,
                                                     int connectivity) {
    struct scan_plan plan = scan_plan_none();
    plan.inlier_low = -INFINITY;
    plan.inlier_high = thresholds->island;
    plan.candidate = thresholds->island;
    plan.peak = thresholds->detection;
    plan.connectivity = connectivity;
    return plan;
}

/* Whether the units of pixels below 2^exponent, and 1 / unit, are normal float32 numbers. */
EXACT_FUNCTION bool scan_plan_units_fit(int exponent) {
    return exponent >= -88 && exponent <= 120;
}

/* Sets exponent, to the least E with |inlier| < 2^E, and scale and zero_band. False if float32
 * cannot represent the units. */
EXACT_FUNCTION bool scan_plan_scale(struct scan_plan *plan) {
    const float most = fmaxf(fabsf(plan->inlier_low), fabsf(plan->inlier_high));
    plan->exponent = isfinite(most) && most > 0 ? ilogbf(most) + 1 : 128;
    if (!scan_plan_units_fit(plan->exponent))
        return false;
    plan->scale = ldexpf(1, 31 - plan->exponent);
    plan->zero_band = ldexpf(1, plan->exponent - SCAN_PLAN_SMALLER);
    return true;
}

/* Whether the open range (low, high) contains a value v with |v| < zero_band. */
EXACT_FUNCTION bool scan_plan_reaches_zero(float low, float high, float zero_band) {
    return fmaxf(low, -zero_band) < fminf(high, zero_band);
}

/* Whether the plan allows inliers within the zero band. */
EXACT_FUNCTION bool scan_plan_has_zero(const struct scan_plan *plan) {
    return scan_plan_reaches_zero(plan->inlier_low, plan->median_low, plan->zero_band) ||
           scan_plan_reaches_zero(plan->median_high, plan->inlier_high, plan->zero_band);
}

/* The margin of predicted bounds and medians, in standard errors. Of 3000 crops of a synthetic sky
 * no prediction failed at 4, and one in 500 at 3. A failure costs two more reads; a larger margin
 * makes the list longer. */
#define SCAN_PLAN_MARGIN 4.0

/* Makes the plan that follows from the clip of a sample of n pixels, which ended with `median` and
 * `rms`. Standard errors: of a median 1.2533 rms / sqrt(n), of an rms rms / sqrt(2 n). False if the
 * sample allows no prediction (discrete values, a flat image). */
EXACT_FUNCTION bool scan_plan_predict(struct scan_plan *plan, const struct clip_path *path,
                                      double median, double rms, int64_t n,
                                      const struct detection *detection) {
    const double root = sqrt((double)n);
    const double median_margin = SCAN_PLAN_MARGIN * 1.2533 * rms / root;
    const double rms_margin = SCAN_PLAN_MARGIN * rms / (root * sqrt(2.0));
    const double margin = 2 * (detection->kappa * rms_margin) + median_margin;
    const double base =
        isnan(detection->background) ? median - median_margin : detection->background;
    const double sigma = detection->rms > 0 ? detection->rms : rms - rms_margin;
    plan->inlier_low = (float)(path->low + margin);
    plan->inlier_high = (float)(path->high - margin);
    plan->median_low = (float)(path->median_low - median_margin);
    plan->median_high = (float)(path->median_high + median_margin);
    plan->candidate = (float)(base + detection->island * sigma);
    plan->inlier_high = fminf(plan->inlier_high, plan->candidate);
    plan->peak = (float)(base + detection->threshold * sigma);
    plan->connectivity = detection->connectivity;
    plan->list_values = true;
    return plan->inlier_low < plan->median_low && plan->median_high < plan->inlier_high &&
           scan_plan_scale(plan);
}

#endif
