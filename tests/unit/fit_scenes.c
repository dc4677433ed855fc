#include "fit_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_frame frame_of_beam(double major, double minor, double angle) {
    const double a = FIT_FWHM * FIT_FWHM / (major * major),
                 b = FIT_FWHM * FIT_FWHM / (minor * minor);
    const double c = cos(angle), s = sin(angle);
    const double xx = a * c * c + b * s * s, xy = (a - b) * c * s, yy = a * s * s + b * c * c;
    const double ux = sqrt(xx);
    return (struct fit_frame){ux, xy / ux, sqrt(yy - xy * xy / xx), true, FIT_SHAPES_CHOSEN};
}

enum kind { POINTS, EXTENDED, PAIRS, CROWD, NOISE, PLATEAU, HUGE, VAST, TINY, FEW, WILD };
static const char *const names[FIT_SCENES] = {"points", "extended", "pairs", "crowd",
                                              "noise",  "plateau",  "huge",  "vast",
                                              "tiny",   "few",      "wild"};

/* A source in the frame. */
struct source {
    double peak, u, v, p, q, r;
};

static struct source random_source(enum kind kind, const struct fit_frame *frame, int side,
                                   struct random *r) {
    const double x = side * random_unit(r), y = side * random_unit(r);
    struct source s = {
        5 + 3 / (0.02 + random_unit(r)), frame->ux * x + frame->uy * y, frame->vy * y, 1, 0, 1};
    if (kind == EXTENDED || kind == CROWD || random_below(r, 5) == 0) {
        s.p = 0.1 + random_unit(r);
        s.r = 0.1 + random_unit(r);
        s.q = (2 * random_unit(r) - 1) * sqrt(s.p * s.r) * 0.9;
    }
    return s;
}

static double value_at(const struct source *sources, int n, double u, double v) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const struct source *s = &sources[i];
        const double du = u - s->u, dv = v - s->v;
        sum += s->peak * exp(-0.5 * (s->p * du * du + 2 * s->q * du * dv + s->r * dv * dv));
    }
    return sum;
}

static double changed(enum kind kind, double value, struct random *r) {
    switch (kind) {
    case NOISE:
        return random_normal(r);
    case PLATEAU:
        return 7;
    case HUGE:
        return 1e30 * value;
    case VAST:
        return 1e80 * value;
    case TINY:
        return 1e-30 * value;
    case WILD:
        return (random_below(r, 3) ? 1 : -1) * pow(10, 15 * random_unit(r) - 3);
    default:
        return value + random_normal(r);
    }
}

/* Which pixels are the island's, which its margin; the others are left out. */
enum place { INSIDE, MARGIN, OUTSIDE };

static enum place place_of(int x, int y, int width, int height, double radius) {
    const double distance = hypot(x - width / 2.0, y - height / 2.0);
    return distance < radius ? INSIDE : distance < radius + 3 ? MARGIN : OUTSIDE;
}

static void add_pixels(struct fit_scene *scene, enum kind kind, int width, int height,
                       const struct source *sources, int n, struct random *r) {
    const double radius = (0.2 + 0.6 * random_unit(r)) * (width > height ? width : height);
    const struct fit_frame *f = &scene->job.frame;
    const int x0 = random_below(r, width), y0 = random_below(r, height);
    for (int pass = INSIDE; pass <= MARGIN; pass++) {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                if ((int)place_of(x, y, width, height, radius) != pass || random_below(r, 50) == 0)
                    continue;
                const double value = value_at(sources, n, f->ux * x + f->uy * y, f->vy * y);
                scene->pixels[scene->job.first + scene->job.n_pixels++] =
                    (struct fit_pixel){changed(kind, value, r), x - x0, y - y0};
            }
        if (pass == INSIDE)
            scene->job.n_inside = scene->job.n_pixels;
    }
}

/* The starts are at pixels, mostly those next to a source. */
static void add_starts(struct fit_scene *scene, int n, struct random *r) {
    const struct fit_job *job = &scene->job;
    for (int i = 0; i < n && job->n_inside > 0; i++) {
        const struct fit_pixel *best = &scene->pixels[job->first + random_below(r, job->n_inside)];
        for (int k = 0; k < 20; k++) {
            const struct fit_pixel *p = &scene->pixels[job->first + random_below(r, job->n_inside)];
            best = p->value > best->value ? p : best;
        }
        const double c[FIT_PARAMETERS] = {fmax(best->value, 0.1),
                                          scene->job.frame.ux * best->x +
                                              scene->job.frame.uy * best->y,
                                          scene->job.frame.vy * best->y,
                                          1,
                                          0,
                                          1};
        memcpy(scene->job.set.value[i], c, sizeof c);
        scene->job.set.is_free[i] = scene->job.frame.shapes != FIT_SHAPES_BEAM;
        scene->job.set.source[i] = i;
        scene->job.set.n = i + 1;
    }
}

struct fit_scene fit_scene_make(int kind, int side, struct random *r) {
    const int n = kind == CROWD ? 4 + random_below(r, 5) : 1 + random_below(r, 4);
    const int width = 1 + random_below(r, side), height = 1 + random_below(r, side);
    const double major = 2 + 5 * random_unit(r);
    struct fit_scene scene = {
        .job = {.frame =
                    frame_of_beam(major, major * (0.4 + 0.6 * random_unit(r)), 4 * random_unit(r)),
                .first = random_below(r, 3),
                .limits = FIT_LIMITS,
                .only_free = random_below(r, 6) == 0}};
    struct source sources[2 * FIT_GROUP];
    scene.job.frame.has_beam = random_below(r, 5) > 0;
    for (int i = 0; i < n; i++) {
        sources[i] = random_source(kind, &scene.job.frame, side, r);
        if (kind == PAIRS && i % 2) {
            sources[i] = sources[i - 1];
            sources[i].u += 1 + 2 * random_unit(r);
        }
    }
    scene.pixels = calloc((size_t)(width * height) + 3, sizeof *scene.pixels);
    add_pixels(&scene, kind, kind == FEW && width > 4 ? 4 : width,
               kind == FEW && height > 4 ? 4 : height, sources, n, r);
    scene.job.frame.shapes = (enum fit_shapes)random_below(r, 3);
    add_starts(&scene, kind == PAIRS ? (n + 1) / 2 : n, r);
    scene.job.widest = fit_widest(scene.job.frame.ux * width, scene.job.frame.vy * height);
    return scene;
}

const char *fit_scene_name(int kind) {
    return names[kind];
}

void fit_scene_free(struct fit_scene *scene) {
    free(scene->pixels);
}
