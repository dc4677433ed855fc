#include "pictures.h"

#include <stdlib.h>

uint64_t random_bits(struct random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

double random_unit(struct random *random) {
    return (double)(random_bits(random) >> 11) * 0x1p-53;
}

int random_below(struct random *random, int n) {
    return (int)(random_bits(random) % (uint64_t)n);
}

double random_normal(struct random *random) {
    const double radius = sqrt(-2 * log(1 - random_unit(random)));
    return radius * cos(2 * M_PI * random_unit(random));
}

typedef float pixel_function(int x, int y, const struct picture *p, struct random *random);

static float normal(int x, int y, const struct picture *p, struct random *r) {
    (void)x, (void)y, (void)p;
    return (float)random_normal(r);
}

/* Noise far from zero, as in optical and single-dish maps. */
static float offset(int x, int y, const struct picture *p, struct random *r) {
    return 1000 + normal(x, y, p, r);
}

static float tiny(int x, int y, const struct picture *p, struct random *r) {
    return 1e-41f * normal(x, y, p, r);
}

static float huge(int x, int y, const struct picture *p, struct random *r) {
    return 3e37f * normal(x, y, p, r);
}

static float micro(int x, int y, const struct picture *p, struct random *r) {
    return 1e-6f * normal(x, y, p, r);
}

/* Gaussian sources on a grid. */
static float sources(int x, int y, const struct picture *p, struct random *r) {
    const int dx = x % 17 - 8, dy = y % 19 - 9;
    const float peak = (float)(3 + (x / 17 * 7 + y / 19 * 13) % 60);
    return normal(x, y, p, r) + peak * expf((float)-(dx * dx + dy * dy) / 6);
}

static float with_blanks(int x, int y, const struct picture *p, struct random *r) {
    const float v = sources(x, y, p, r);
    return random_below(r, 10) == 0 ? NAN : v;
}

static float bordered(int x, int y, const struct picture *p, struct random *r) {
    const bool outside = x < p->width / 5 || y < p->height / 4;
    return outside ? NAN : sources(x, y, p, r);
}

static float zero_padded(int x, int y, const struct picture *p, struct random *r) {
    return x < p->width / 2 ? 0 : sources(x, y, p, r);
}

static float infinite_some(int x, int y, const struct picture *p, struct random *r) {
    const int which = random_below(r, 20);
    return which == 0 ? INFINITY : which == 1 ? -INFINITY : normal(x, y, p, r);
}

static float cauchy(int x, int y, const struct picture *p, struct random *r) {
    (void)x, (void)y, (void)p;
    return (float)tan(M_PI * (random_unit(r) - 0.5));
}

static float integers(int x, int y, const struct picture *p, struct random *r) {
    return roundf(3 * sources(x, y, p, r));
}

static float two_values(int x, int y, const struct picture *p, struct random *r) {
    (void)x, (void)y, (void)p;
    return random_below(r, 2) ? 1 : -1;
}

static float rare_value(int x, int y, const struct picture *p, struct random *r) {
    (void)x, (void)y, (void)p;
    return random_below(r, 50) ? 0.25f : 7;
}

static float constant(int x, int y, const struct picture *p, struct random *r) {
    (void)x, (void)y, (void)p, (void)r;
    return -2.5f;
}

static float all_blank(int x, int y, const struct picture *p, struct random *r) {
    (void)x, (void)y, (void)p, (void)r;
    return NAN;
}

/* Noise under shapes that are hard to label. */
static float over_noise(bool high, const struct picture *p, struct random *r) {
    return (high ? 40 : 0) + 0.1f * normal(0, 0, p, r);
}

static float comb(int x, int y, const struct picture *p, struct random *r) {
    return over_noise(y == p->height - 1 || x % 8 == 0, p, r);
}

static float checkerboard(int x, int y, const struct picture *p, struct random *r) {
    return over_noise(x < p->width / 2 && y < p->height / 3 && (x + y) % 2, p, r);
}

/* Square rings, each open at one place and joined with the next: a labyrinth. */
static float labyrinth(int x, int y, const struct picture *p, struct random *r) {
    const int left = x < p->width - 1 - x ? x : p->width - 1 - x;
    const int top = y < p->height - 1 - y ? y : p->height - 1 - y;
    const int ring = left < top ? left : top;
    const bool wall = ring % 6 == 0 || (ring % 6 < 3 && x == p->width / 2);
    return over_noise(wall, p, r);
}

static float spiral(int x, int y, const struct picture *p, struct random *r) {
    const double dx = x - p->width / 2, dy = y - p->height / 2;
    const double turned = hypot(dx, dy) - 6 * atan2(dy, dx) / (2 * M_PI);
    return over_noise(turned - 6 * floor(turned / 6) < 3, p, r);
}

/* Noise under Gaussians of either sign, as wide as boxes, some of them as bright as many times the
 * noise. */
static float wide_sources(int x, int y, const struct picture *p, struct random *r) {
    double value = 0.1 * (double)normal(0, 0, p, r);
    for (int i = 0; i < 4; i++) {
        const double dx = x - p->width * (0.1 + 0.27 * i), dy = y - p->height * (0.8 - 0.2 * i);
        const double sigma = 2 + 3 * i;
        value += (i == 1 ? -40 : 6 * (i + 1)) * exp(-(dx * dx + dy * dy) / (2 * sigma * sigma));
    }
    return (float)value;
}

/* Noise under one Gaussian whose peak is 10 to 20 times the noise. */
static float faint_wide_source(int x, int y, const struct picture *p, struct random *r) {
    const double dx = x - p->width * 0.4, dy = y - p->height * 0.6, sigma = 4 + p->height % 9;
    const double peak = 1 + 0.1 * (p->width % 10);
    return (float)(0.1 * (double)normal(0, 0, p, r) +
                   peak * exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)));
}

static float full_range(int x, int y, const struct picture *p, struct random *r) {
    const float v = exact_float((uint32_t)random_bits(r));
    (void)x, (void)y, (void)p;
    return v;
}

static const struct {
    const char *name;
    pixel_function *pixel;
} kinds[PICTURE_KINDS] = {
    {"normal", normal},
    {"offset", offset},
    {"tiny", tiny},
    {"huge", huge},
    {"micro", micro},
    {"sources", sources},
    {"with blanks", with_blanks},
    {"bordered", bordered},
    {"zero padded", zero_padded},
    {"some infinite", infinite_some},
    {"cauchy", cauchy},
    {"integers", integers},
    {"two values", two_values},
    {"rare value", rare_value},
    {"constant", constant},
    {"all blank", all_blank},
    {"comb", comb},
    {"checkerboard", checkerboard},
    {"labyrinth", labyrinth},
    {"full range", full_range},
    {"spiral", spiral},
    {"wide sources", wide_sources},
    {"faint wide source", faint_wide_source},
};

struct picture picture_make(int kind, int width, int height, struct random *random) {
    struct picture p = {width, height, malloc((size_t)width * (size_t)height * sizeof *p.pixels)};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            p.pixels[y * width + x] = kinds[kind].pixel(x, y, &p, random);
    return p;
}

const char *picture_name(int kind) {
    return kinds[kind].name;
}

void picture_free(struct picture *picture) {
    free(picture->pixels);
}

struct detection random_detection(struct random *r) {
    static const double kappas[] = {3, 3, 3, 2, 1, 0.5, 1.5, 10};
    static const double thresholds[] = {5, 5, 3, 2, 1, 0.3};
    static const double shares[] = {1, 1, 0.6, 0.2};
    struct detection d = {.kappa = kappas[random_below(r, 8)],
                          .threshold = thresholds[random_below(r, 6)],
                          .background = random_below(r, 3) ? (double)NAN : 0,
                          .connectivity = random_below(r, 2) ? 8 : 4,
                          .min_pixels = random_below(r, 4) ? 1 : 3};
    if (random_below(r, 8) == 0)
        d.background = random_normal(r);
    if (random_below(r, 8) == 0)
        d.rms = 0.1 + 0.1 * random_below(r, 30);
    d.island = d.threshold * shares[random_below(r, 4)];
    return d;
}

void random_boxes(struct random *r, struct detection *d) {
    d->box = 8 + random_below(r, random_below(r, 4) ? 25 : 90);
    d->step = random_below(r, 2) ? d->box / 3 : 1 + random_below(r, (int)d->box);
    d->beam_squared = random_below(r, 3) ? 0.5 + random_below(r, 12) : 0;
    if (random_below(r, 4) == 0)
        d->beam_squared = nextafter(16, random_below(r, 2) ? 0 : 20); /* a radius of 6 */
}
