#include <stdlib.h>

#include "backend/backend.h"
#include "common/clock.h"
#include "cpu/clip_histogram.h"
#include "cpu/islands.h"
#include "cpu/clip_predicted.h"
#include "cpu/predict.h"
#include "cpu/clip_sorted.h"

/* Adds the time since *start to a stage, and starts the next one. */
static void lap(double *stage, double *start) {
    const double now = clock_seconds();
    *stage += now - *start;
    *start = now;
}

/* The clip on what a scan with a core listed. *done is false where the lists do not tell. */
static enum srcfind_status clip_listed(const struct scan *scan, double kappa,
                                       struct srcfind_background *b, bool *done,
                                       struct error *error) {
    struct listed_set set;
    const enum srcfind_status status = listed_from_scan(&set, scan, error);
    b->n_kept = status == SRCFIND_OK ? set.set.n : 0;
    *done =
        b->n_kept == 0 || (clip_run(&set.set, kappa, b) && listed_extremes(&set, &b->min, &b->max));
    listed_clear(&set);
    return status;
}

/* The clip on all pixels, listed by a scan without a core. */
static enum srcfind_status clip_whole(struct scan *scan, double kappa, struct srcfind_background *b,
                                      struct error *error) {
    struct whole_set set;
    const enum srcfind_status status = whole_from_scan(&set, scan, error);
    b->n_kept = status == SRCFIND_OK ? set.set.n : 0;
    if (b->n_kept > 0) {
        clip_run(&set.set, kappa, b);
        whole_extremes(&set, &b->min, &b->max);
    }
    whole_clear(&set);
    return status;
}

static enum srcfind_status clip_scan(struct scan *scan, double kappa, struct srcfind_background *b,
                                     bool *done, struct error *error) {
    *done = true;
    b->n_blank = scan_blanks(scan);
    const enum srcfind_status status = scan->has_core ? clip_listed(scan, kappa, b, done, error)
                                                      : clip_whole(scan, kappa, b, error);
    scan_give_back(scan);
    return status;
}

/* Scan and clip: by prediction if that holds, else by histogram. The scan may be left empty. */
static enum srcfind_status scan_and_clip(const struct pixel_source *source,
                                         const struct detection *detection, int n_threads,
                                         struct scan *scan, struct detection_result *result,
                                         struct error *error) {
    double start = clock_seconds();
    struct scan_plan plan;
    bool done = false;
    enum srcfind_status status = plan_scan(source, detection, &plan, &done, error);
    if (status == SRCFIND_OK && done) {
        status = scan_image(scan, source, &plan, n_threads, error);
        lap(&result->timings.scan, &start);
        if (status == SRCFIND_OK)
            status = clip_scan(scan, detection->kappa, &result->background, &done, error);
        result->timings.path = "one read";
    }
    if (status == SRCFIND_OK && !done) {
        scan_clear(scan);
        status = histogram_clip(source, detection->kappa, n_threads, WHOLE_MOST,
                                &result->background, error);
        result->timings.path = "histogram";
    }
    lap(&result->timings.clip, &start);
    return status;
}

/* Reads the candidates again, where the first read did not keep all that turned out to be needed.
 */
static enum srcfind_status complete_scan(const struct pixel_source *source, int n_threads,
                                         float threshold, struct scan *scan, struct error *error) {
    if (scan->workers && scan->plan.candidate <= threshold)
        return SRCFIND_OK;
    const struct scan_plan plan = scan_plan_candidates(threshold);
    scan_clear(scan);
    return scan_image(scan, source, &plan, n_threads, error);
}

enum srcfind_status cpu_detect(const struct pixel_source *source, const struct detection *detection,
                               int n_threads, struct detection_result *result,
                               struct error *error) {
    struct scan scan = {0};
    struct srcfind_background *b = &result->background;
    *result = (struct detection_result){.background.n_pixels = source->width * source->height};
    enum srcfind_status status = scan_and_clip(source, detection, n_threads, &scan, result, error);
    if (status == SRCFIND_OK && b->n_kept == 0)
        status = error_set(error, SRCFIND_ERROR_INPUT, BACKEND_NO_PIXELS, (long long)b->n_pixels);
    const struct thresholds thresholds = thresholds_of(b->median, b->rms, b->empty, detection);
    double start = clock_seconds();
    if (status == SRCFIND_OK && isfinite(thresholds.detection)) {
        status = complete_scan(source, n_threads, thresholds.island, &scan, error);
        lap(&result->timings.scan, &start);
        if (status == SRCFIND_OK)
            status = islands_find(&scan, &thresholds, detection, &result->list, error);
        lap(&result->timings.islands, &start);
    }
    scan_clear(&scan);
    return status;
}
