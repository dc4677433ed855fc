/* Carries out free fits to the last digit: reads jobs from standard input, writes their results to
 * standard output. A job is the frame (ux uy vy), the widest width, the numbers of sources and
 * pixels, six parameters a source, and x, y and value of each pixel. A result is whether there is
 * one, and six parameters a source. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/fit.h"

static bool read_doubles(int n, double *values) {
    bool ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = scanf("%lf", &values[i]) == 1;
    return ok;
}

/* Reads the sources and the pixels of a job whose numbers are known; NULL where they are not there.
 */
static struct fit_pixel *read_pixels(struct fit_job *job) {
    struct fit_pixel *pixels = malloc((size_t)job->n_pixels * sizeof *pixels + 1);
    bool ok = pixels && job->set.n <= FIT_GROUP;
    for (int i = 0; ok && i < job->set.n; i++) {
        job->set.is_free[i] = true;
        job->set.source[i] = i;
        ok = read_doubles(FIT_PARAMETERS, job->set.value[i]);
    }
    for (int i = 0; ok && i < job->n_pixels; i++)
        ok =
            scanf("%" SCNd32 " %" SCNd32 " %lf", &pixels[i].x, &pixels[i].y, &pixels[i].value) == 3;
    if (ok)
        return pixels;
    free(pixels);
    return NULL;
}

static void write_result(const struct fit_job *job) {
    printf("%d", job->is_fitted);
    for (int i = 0; i < job->set.n; i++)
        for (int k = 0; k < FIT_PARAMETERS; k++)
            printf(" %.17g", job->set.value[i][k]);
    printf("\n");
}

int main(void) {
    static const struct fit_limits tight = {200, 1e-12};
    struct threads *threads = threads_create(1);
    struct fit_job job = {.frame.has_beam = true, .limits = tight, .only_free = true};
    enum srcfind_status status = threads ? SRCFIND_OK : SRCFIND_ERROR_MEMORY;
    struct error error;
    while (status == SRCFIND_OK &&
           scanf("%lf %lf %lf %lf %" SCNd32 " %" SCNd32, &job.frame.ux, &job.frame.uy,
                 &job.frame.vy, &job.widest, &job.set.n, &job.n_pixels) == 6) {
        struct fit_pixel *pixels = read_pixels(&job);
        if (!pixels)
            return 2;
        job.n_inside = job.n_pixels;
        status = cpu_fit(pixels, &job, 1, threads, &error);
        write_result(&job);
        free(pixels);
    }
    threads_destroy(threads);
    return status != SRCFIND_OK;
}
