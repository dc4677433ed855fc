/* How an image is searched on the CPU. cpu_detect runs the stages in their order, and chooses the
 * slower ways:
 *
 * 1. predict.c plans the scan from a sample; scan.c reads the image once by the plan.
 * 2. The clip runs on the lists of the scan (clip_predicted.c), or on all pixels, sorted, if the
 *    plan lists them all, as it does for small images without a prediction. If the prediction was
 *    wrong, the clip refuses, and the image is clipped by histograms (clip_histogram.c).
 * 3. With local noise, left_out.c finds bright wide islands, noise_nodes.c clips the box of each
 *    node without them, and a further scan picks the pixels above the noise between the nodes.
 * 4. islands.c makes islands of the candidates, less those that are not to be searched
 *    (scan_leave_out.c). If the first scan did not keep all pixels above the final thresholds, a
 *    second scan does (complete_scan).
 *
 * Always: the catalogue does not depend on which way was taken.
 *
 * Cost: one read of an ordinary image, five with local noise, besides the sample. */

#include "backend/backend.h"
#include "common/clock.h"
#include "cpu/clip_histogram.h"
#include "cpu/clip_predicted.h"
#include "cpu/clip_sorted.h"
#include "cpu/islands.h"
#include "cpu/left_out.h"
#include "cpu/noise_nodes.h"
#include "cpu/predict.h"
#include "cpu/scan_leave_out.h"

/* Adds the time since *start to a stage, and sets *start to now. */
static void lap(double *stage, double *start) {
    const double now = clock_seconds();
    *stage += now - *start;
    *start = now;
}

/* How a clip of what a scan listed ended: it is complete; the prediction failed; or values that
 * were only counted must be listed by another scan. */
enum clip_end { CLIP_DONE, CLIP_FAILED, CLIP_AGAIN };

static enum clip_end run_predicted(struct predicted_set *set, double kappa,
                                   struct srcfind_background *b) {
    if (!clip_run(&set->set, kappa, b) || !predicted_extremes(set, &b->min, &b->max))
        return CLIP_FAILED;
    return predicted_is_missing(set) ? CLIP_AGAIN : CLIP_DONE;
}

/* Has the next scan list the values that the clip missed. Returns the number of values that it will
 * list. */
static int64_t list_missing(const struct predicted_set *set) {
    return counted_list_missing(&set->counted[SCAN_BRACKET]) +
           counted_list_missing(&set->counted[SCAN_OUTLIERS]);
}

/* Clips the values that a scan with inliers listed. */
static enum srcfind_status clip_predicted(const struct scan *scan, struct threads *threads,
                                          double kappa, struct srcfind_background *b,
                                          enum clip_end *end, struct error *error) {
    struct predicted_set set;
    const enum srcfind_status status = predicted_from_scan(&set, scan, threads, error);
    b->n_kept = status == SRCFIND_OK ? set.set.n : 0;
    b->rounds = 0;
    *end = b->n_kept == 0 ? CLIP_DONE : run_predicted(&set, kappa, b);
    if (*end == CLIP_AGAIN && list_missing(&set) > predict_most_listed())
        *end = CLIP_FAILED;
    predicted_clear(&set);
    return status;
}

/* Clips all pixels, which a scan without inliers listed. */
static enum srcfind_status clip_sorted(struct scan *scan, double kappa,
                                       struct srcfind_background *b, struct error *error) {
    struct sorted_set set;
    const enum srcfind_status status = sorted_from_scan(&set, scan, error);
    b->n_kept = status == SRCFIND_OK ? set.set.n : 0;
    if (b->n_kept > 0) {
        clip_run(&set.set, kappa, b);
        sorted_extremes(&set, &b->min, &b->max);
    }
    sorted_set_clear(&set);
    return status;
}

static enum srcfind_status clip_scan(struct scan *scan, struct threads *threads, double kappa,
                                     struct srcfind_background *b, enum clip_end *end,
                                     struct error *error) {
    *end = CLIP_DONE;
    b->n_blank = scan_blanks(scan);
    const enum srcfind_status status = scan->has_inliers
                                           ? clip_predicted(scan, threads, kappa, b, end, error)
                                           : clip_sorted(scan, kappa, b, error);
    scan_free_lists(scan);
    return status;
}

/* Scans the image by a prediction, and clips what the scan listed; more than once if values that
 * were only counted must be listed. *end: never CLIP_AGAIN. */
static enum srcfind_status scan_predicted(const struct pixel_source *source,
                                          const struct prediction *prediction, double kappa,
                                          struct threads *threads, struct scan *scan,
                                          struct detection_result *result, enum clip_end *end,
                                          struct error *error) {
    static const char *const methods[] = {"one read", "two reads", "three reads"};
    enum { MOST_READS = sizeof methods / sizeof *methods };
    enum srcfind_status status = SRCFIND_OK;
    *end = CLIP_AGAIN;
    for (int i = 0; status == SRCFIND_OK && *end == CLIP_AGAIN && i < MOST_READS; i++) {
        double start = clock_seconds();
        scan_clear(scan);
        status =
            scan_image(scan, source, &prediction->plan, prediction->bin_states, threads, error);
        lap(&result->timings.scan, &start);
        if (status == SRCFIND_OK)
            status = clip_scan(scan, threads, kappa, &result->background, end, error);
        lap(&result->timings.clip, &start);
        result->timings.clip_method = methods[i];
    }
    *end = *end == CLIP_AGAIN ? CLIP_FAILED : *end;
    return status;
}

/* Scans and clips by prediction or, if the prediction fails, clips by histograms and leaves the
 * scan empty. */
static enum srcfind_status scan_and_clip(const struct pixel_source *source,
                                         const struct detection *detection, struct threads *threads,
                                         struct scan *scan, struct detection_result *result,
                                         struct error *error) {
    double start = clock_seconds();
    struct prediction prediction;
    enum clip_end end = CLIP_FAILED;
    enum srcfind_status status = predict_scan(source, detection, threads, &prediction, error);
    lap(&result->timings.scan, &start);
    if (status == SRCFIND_OK && prediction.is_useful)
        status = scan_predicted(source, &prediction, detection->kappa, threads, scan, result, &end,
                                error);
    prediction_clear(&prediction);
    start = clock_seconds();
    if (status == SRCFIND_OK && end != CLIP_DONE) {
        scan_clear(scan);
        status = histogram_clip(source, detection->kappa, threads, SORTED_MOST, &result->background,
                                error);
        result->timings.clip_method = "histogram";
    }
    lap(&result->timings.clip, &start);
    return status;
}

/* Reads the image again for candidates, if the first read did not keep all pixels above the
 * thresholds. */
static enum srcfind_status complete_scan(const struct pixel_source *source, struct threads *threads,
                                         const struct thresholds *thresholds, int connectivity,
                                         struct scan *scan, struct error *error) {
    if (scan->workers && scan->plan.candidate <= thresholds->island &&
        (!scan->sweeps || scan->plan.peak <= thresholds->detection))
        return SRCFIND_OK;
    const struct scan_plan plan = scan_plan_candidates(thresholds, connectivity);
    scan_clear(scan);
    return scan_image(scan, source, &plan, NULL, threads, error);
}

/* Whether the noise is one for the whole image. */
static bool is_one_noise(const struct noise_map *noise, const struct detection *detection) {
    return !noise->nodes && !noise_sources_exist(&detection->maps);
}

/* Whether there is an rms: of nodes, of a map, given by the user, or of a clip that left a pixel.
 */
static bool has_rms(const struct noise_map *noise, const struct detection *detection, bool empty) {
    return noise->nodes || detection->maps.rms || detection->rms > 0 || !empty;
}

/* Makes `scan` keep all candidates: pixels above the thresholds or, if the noise is not one, above
 * the noise at each pixel. It may keep them since the first read. */
static enum srcfind_status
find_candidates(const struct pixel_source *source, const struct detection *detection,
                const struct thresholds *thresholds, const struct noise_thresholds *noise,
                struct threads *threads, struct scan *scan, struct error *error) {
    if (is_one_noise(noise->map, detection))
        return complete_scan(source, threads, thresholds, detection->connectivity, scan, error);
    scan_clear(scan);
    return scan_image_by_noise(scan, source, noise, &detection->maps, detection->connectivity,
                               threads, error);
}

static enum srcfind_status find_segments(const struct pixel_source *source,
                                         const struct detection *detection, bool empty,
                                         struct threads *threads, struct scan *scan,
                                         struct detection_result *result, struct error *error) {
    const struct noise_thresholds noise = {&result->noise, detection->island, detection->threshold};
    const bool is_one = is_one_noise(&result->noise, detection);
    struct thresholds thresholds = {-INFINITY, -INFINITY};
    if (is_one)
        thresholds = thresholds_of(&result->noise, empty, detection);
    else if (noise_sources_exist(&detection->maps))
        thresholds.detection = SCAN_ABOVE_DETECTION;
    double start = clock_seconds();
    if (!has_rms(&result->noise, detection, empty) || (is_one && !isfinite(thresholds.detection)))
        return SRCFIND_OK;
    enum srcfind_status status =
        find_candidates(source, detection, &thresholds, &noise, threads, scan, error);
    if (status == SRCFIND_OK && detection->unsearched)
        status = scan_leave_out(scan, detection->unsearched, error);
    lap(&result->timings.scan, &start);
    if (status == SRCFIND_OK)
        status = islands_find(scan, &thresholds, detection, threads, &result->segments, error);
    lap(&result->timings.islands, &start);
    return status;
}

/* Clips the box of each node, without the pixels of bright wide islands. */
static enum srcfind_status find_nodes(const struct pixel_source *source,
                                      const struct detection *detection, struct threads *threads,
                                      struct detection_result *result, struct error *error) {
    double start = clock_seconds();
    struct srcfind_background *b = &result->background;
    struct left_out out;
    enum srcfind_status status = left_out_find(source, detection, b, threads, &out, error);
    if (status == SRCFIND_OK && out.pixels)
        status = left_out_clip_rest(source, detection, threads, &out, &result->noise, error);
    else if (status == SRCFIND_OK)
        status = noise_nodes_find(source, detection, threads, &result->noise, error);
    left_out_describe(&out, b);
    left_out_clear(&out);
    lap(&result->timings.clip, &start);
    return status;
}

enum srcfind_status cpu_detect(const struct pixel_source *source, const struct detection *detection,
                               struct threads *threads, struct detection_result *result,
                               struct error *error) {
    struct scan scan = {0};
    struct srcfind_background *b = &result->background;
    *result = (struct detection_result){.background.n_pixels = source->width * source->height};
    enum srcfind_status status = scan_and_clip(source, detection, threads, &scan, result, error);
    if (status == SRCFIND_OK && b->n_kept == 0)
        status = error_set(error, SRCFIND_ERROR_INPUT, BACKEND_NO_PIXELS, (long long)b->n_pixels);
    result->noise = noise_of_clip(b->median, b->rms, detection);
    if (status == SRCFIND_OK && detection->box > 0) {
        scan_clear(&scan);
        status = find_nodes(source, detection, threads, result, error);
    }
    if (status == SRCFIND_OK && !detection->noise_only)
        status = find_segments(source, detection, b->empty, threads, &scan, result, error);
    scan_clear(&scan);
    return status;
}
