/* Gaussians are grouped as the plain double loop over all pairs groups them, byte for byte, and as
 * users expect of two. */
#include <stdlib.h>

#include "measure/group.h"
#include "unit.h"

enum { MOST = 90 };

/* --- the plain version --- */

struct plain {
    const struct gaussian *g;
    int n;
    const struct group_rule *rule;
};

static double plain_sum(const struct plain *p, double x, double y) {
    double sum = 0;
    for (int i = 0; i < p->n; i++)
        sum += gaussian_at(&p->g[i], x, y);
    return sum;
}

static double plain_sigma(const struct gaussian *g, double x, double y) {
    return 1 / sqrt(g->form.xx * x * x + 2 * g->form.xy * x * y + g->form.yy * y * y);
}

/* The sum at 21 points of the line from a to b. */
static bool plain_joins(const struct plain *p, int a, int b) {
    const struct gaussian *from = &p->g[a], *to = &p->g[b];
    const double dx = to->x - from->x, dy = to->y - from->y, distance = sqrt(dx * dx + dy * dy);
    const double x = distance > 0 ? dx / distance : 1, y = distance > 0 ? dy / distance : 0;
    const double sigmas = plain_sigma(from, x, y) + plain_sigma(to, x, y);
    double at[21], least = INFINITY;
    bool rises = true, falls = true;
    for (int i = 0; i < 21; i++) {
        const double t = i / 20.0;
        at[i] = plain_sum(p, from->x + t * dx, from->y + t * dy);
        least = fmin(least, at[i]);
        rises = rises && (i == 0 || at[i] >= at[i - 1]);
        falls = falls && (i == 0 || at[i] <= at[i - 1]);
    }
    const bool is_near = distance <= 0.5 * FIT_FWHM * fmax(p->rule->tolerance, 1) * sigmas;
    return (is_near && least >= fmin(at[0], at[20]) - p->rule->drop) ||
           (distance <= 6 * sigmas && (rises || falls));
}

/* Gives each Gaussian the lowest number that it is connected with. */
static void plain_group(const struct plain *p, int32_t *group) {
    for (int i = 0; i < p->n; i++)
        group[i] = i;
    bool changes = p->rule->tolerance > 0;
    while (changes) {
        changes = false;
        for (int a = 0; a < p->n; a++) {
            for (int b = 0; b < a; b++) {
                if (group[a] == group[b] || !plain_joins(p, a, b))
                    continue;
                group[a] = group[b] = group[a] < group[b] ? group[a] : group[b];
                changes = true;
            }
        }
    }
}

/* --- scenes --- */

static struct gaussian gaussian_make(double peak, double x, double y, double major, double minor,
                                     double angle) {
    const double c = cos(angle), s = sin(angle), a = 1 / (major * major), b = 1 / (minor * minor);
    return (struct gaussian){
        peak, x, y, {a * c * c + b * s * s, a * s * s + b * c * c, (a - b) * c * s}};
}

static void group(const struct gaussian *g, int n, const struct group_rule *rule, int64_t cell,
                  int32_t *groups) {
    const struct model_box box = {-10, -10, 120, 120, cell};
    struct arena arena = {0};
    struct model model;
    assert_true(model_make(&model, g, n, &box));
    assert_true(group_gaussians(&model, n, rule, &arena, groups));
    model_clear(&model);
    arena_clear(&arena);
}

static int count_groups(const int32_t *groups, int n) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += groups[i] == i;
    return count;
}

/* Crowds and lone ones, some of the same place, some beyond the box. */
static void as_the_plain_version(void **state) {
    struct random r = {7};
    int64_t n_groups = 0, n_all = 0;
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        const int n = 1 + random_below(&r, MOST);
        const double side = 10 + 140 * random_unit(&r);
        const double most = trial % 10 == 8 ? 30 : 5;
        const struct group_rule rule = {trial % 10 == 9 ? 0 : most * random_unit(&r),
                                        3 * random_unit(&r)};
        struct gaussian g[MOST];
        int32_t groups[MOST], plain[MOST];
        for (int i = 0; i < n; i++) {
            const double sigma = 0.8 + 2 * random_unit(&r) + 20 * pow(random_unit(&r), 12);
            const double peak = 1 + 100 * pow(random_unit(&r), 4);
            g[i] = gaussian_make(peak, side * random_unit(&r) - 20, side * random_unit(&r) - 20,
                                 sigma * (1 + random_unit(&r)), sigma, M_PI * random_unit(&r));
            if (i > 0 && random_below(&r, 20) == 0)
                g[i].x = g[i - 1].x, g[i].y = g[i - 1].y;
        }
        group(g, n, &rule, 1 + random_below(&r, 50), groups);
        plain_group(&(struct plain){g, n, &rule}, plain);
        assert_memory_equal(groups, plain, (size_t)n * sizeof *groups);
        n_groups += count_groups(groups, n);
        n_all += n;
    }
    print_message("%d groups of %d\n", (int)n_groups, (int)n_all);
    assert_in_range(n_groups, n_all / 5, n_all * 4 / 5);
}

static int count_of_two(const struct gaussian *a, const struct gaussian *b,
                        const struct group_rule *rule) {
    const struct gaussian g[] = {*a, *b};
    int32_t groups[2];
    group(g, 2, rule, 16, groups);
    return count_groups(groups, 2);
}

/* Beams of 5 pixels, and noise of 1: a rule of three times that. */
static void two(void **state) {
    const double sigma = 5 / FIT_FWHM;
    const struct group_rule rule = {1, 3}, none = {0, 0}, wide = {5, 15};
    const struct group_rule wider = {30, 90}, all = {INFINITY, INFINITY};
    const struct gaussian core = gaussian_make(100, 40, 40, sigma, sigma, 0);
    const struct gaussian halo = gaussian_make(15, 41, 40, 2 * sigma, 2 * sigma, 0);
    const struct gaussian beside = gaussian_make(60, 46, 40, sigma, sigma, 0);
    const struct gaussian faint = gaussian_make(4, 49, 40, sigma, sigma, 0);
    const struct gaussian far = gaussian_make(4, 100, 40, sigma, sigma, 0);
    const struct gaussian equal = gaussian_make(100, 100, 40, sigma, sigma, 0);
    const struct gaussian close = gaussian_make(4, 44.9, 40, sigma, sigma, 0);
    const struct gaussian shoulder = gaussian_make(20, 44, 40, sigma, sigma, 0);
    (void)state;
    assert_int_equal(count_of_two(&core, &halo, &rule), 1);
    assert_int_equal(count_of_two(&core, &halo, &none), 2);
    assert_int_equal(count_of_two(&core, &beside, &rule), 2); /* a dip of several rms */
    assert_int_equal(count_of_two(&core, &beside, &wide), 1);
    assert_int_equal(count_of_two(&core, &faint, &rule), 2); /* no dip that counts, but too far */
    assert_int_equal(count_of_two(&core, &faint, &wide), 1);
    assert_int_equal(count_of_two(&core, &far, &wide), 2);
    assert_int_equal(count_of_two(&core, &far, &wider), 1);
    assert_int_equal(count_of_two(&core, &equal, &wider), 2); /* near, but a deep dip */
    assert_int_equal(count_of_two(&core, &equal, &all), 1);
    assert_int_equal(count_of_two(&core, &close, &rule), 1);
    assert_int_equal(count_of_two(&core, &shoulder, &(struct group_rule){1e-9, 0}), 1); /* rises */
}

/* The first and the last one are joined by those between them. */
static void chains(void **state) {
    struct gaussian g[20];
    int32_t groups[20];
    const struct group_rule rule = {1, 3};
    (void)state;
    for (int i = 0; i < 20; i++)
        g[i] = gaussian_make(50, 5 * ((7 * i) % 20), 30, 3, 3, 0);
    group(g, 20, &rule, 16, groups);
    assert_int_equal(count_groups(groups, 20), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_plain_version),
        cmocka_unit_test(two),
        cmocka_unit_test(chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
