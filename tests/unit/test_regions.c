/* Regions: frames agree with astropy, and cells with astropy-healpix; what is read of texts, and
 * ranges of maps of coverage. That pixels are right, the system test shows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "input/regions/healpix.h"
#include "input/regions/moc.h"
#include "input/regions/region_file.h"

/* Degrees of astropy 8.0. Its way from FK4 to galactic coordinates is another one. */
static void frames_are_those_of_astropy(void **state) {
    static const struct {
        enum sky_frame from, to;
        double lon, lat, tolerance;
    } cases[] = {
        {SKY_ICRS, SKY_FK5, 123.4000070020874, -34.5000060063463, 1e-11},
        {SKY_ICRS, SKY_GALACTIC, 252.4222399641920, -0.0528428297926, 1e-11},
        {SKY_FK5, SKY_FK4, 122.9191654769553, -34.3477058888807, 1e-9},
        {SKY_FK4, SKY_ICRS, 123.8807961382684, -34.6542391112376, 1e-9},
        {SKY_GALACTIC, SKY_FK4, 12.6236980459186, 28.0988795865141, 1e-4},
        {SKY_FK4, SKY_GALACTIC, 252.7701468003293, 0.1910080552616, 1e-4},
        {SKY_FK4, SKY_FK4, 123.4, -34.5, 1e-11},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct direction at = sky_direction(123.4, -34.5);
        const struct direction to = sky_turn(&at, cases[i].from, cases[i].to);
        const struct direction back = sky_turn(&to, cases[i].to, cases[i].from);
        double lon, lat;
        sky_position(&to, &lon, &lat);
        if (!(fabs(lon - cases[i].lon) < cases[i].tolerance) ||
            !(fabs(lat - cases[i].lat) < cases[i].tolerance))
            fail_msg("case %zu: %.13f %.13f", i, lon, lat);
        assert_true(sky_chord_squared(&at, &back) < 1e-24);
    }
}

static void frames_of_images(void **state) {
    enum sky_frame frame;
    (void)state;
    assert_true(sky_frame_of_image("FK5", NAN, &frame) && frame == SKY_FK5);
    assert_true(sky_frame_of_image("FK4", 1950, &frame) && frame == SKY_FK4);
    assert_true(sky_frame_of_image("ICRS", 1975, &frame) && frame == SKY_ICRS);
    assert_false(sky_frame_of_image("FK5", 1975, &frame));
    assert_false(sky_frame_of_image("ECLIPTIC", NAN, &frame));
    assert_false(sky_frame_of_image("", NAN, &frame));
}

/* Cells of order 29 of astropy-healpix 2.0. The last bits are those of rounding. */
static void cells_are_those_of_astropy(void **state) {
    enum { ROUNDED = 12 }; /* bits */
    static const struct {
        double lon, lat;
        int64_t cell;
    } cases[] = {
        {0.1, 0.1, INT64_C(1369095419848407993)},
        {45, 41.8, INT64_C(72057589960080627)},
        {45, 41.82, INT64_C(216172786144251120)},
        {123.4, -56.7, INT64_C(2659397277686719759)},
        {359.9999, 89.9, INT64_C(1152919294845607390)},
        {200, -89.99999, INT64_C(2882303761517126595)},
        {271.5, -41.9, INT64_C(3362615255072486374)},
        {10, -0.5, INT64_C(1271453119926447986)},
        {180.3, 30.1, INT64_C(2007106468403662242)},
        {299.25, 66.6, INT64_C(1124125516542299324)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct direction at = sky_direction(cases[i].lon, cases[i].lat);
        const int64_t cell = healpix_cell(&at);
        if (cell >> ROUNDED != cases[i].cell >> ROUNDED)
            fail_msg("case %zu: %lld", i, (long long)cell);
    }
    for (int lat = -90; lat <= 90; lat += 90) /* poles, and corners of cells */
        for (int lon = -360; lon <= 360; lon += 45) {
            const struct direction at = sky_direction(lon, lat);
            assert_in_range(healpix_cell(&at), 0, healpix_cells(HEALPIX_ORDER) - 1);
        }
}

static void parse(const char *text, struct regions *regions) {
    struct error error;
    if (region_file_parse("a.txt", text, (int64_t)strlen(text), regions, &error) != SRCFIND_OK)
        fail_msg("%s: %s", text, error.text);
}

static void ranges_of_maps_are_joined(void **state) {
    static const char *const texts[] = {"29/7 5-6 3,1-2 5 28/3",
                                        "{\"29\":[7,5,6,3,1,2,5], \"28\":[3]}"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct regions r;
        parse(texts[i], &r);
        assert_true(r.is_moc);
        assert_int_equal(r.n_ranges, 3);
        for (int64_t cell = 0; cell < 20; cell++)
            assert_int_equal(moc_has(&r, cell), (cell >= 1 && cell <= 3) ||
                                                    (cell >= 5 && cell <= 7) ||
                                                    (cell >= 12 && cell <= 15));
        regions_clear(&r);
    }
}

static void assert_region(const struct region *r, enum region_shape shape, double x, double y,
                          double first, double angle) {
    assert_int_equal(r->shape, shape);
    assert_true(fabs(r->centre.x - x) < 1e-12 && fabs(r->centre.y - y) < 1e-12);
    assert_true(fabs(r->size[0] - first) < 1e-12 && fabs(r->angle - angle) < 1e-12);
}

static void regions_of_ds9(void **state) {
    struct regions r;
    (void)state;
    parse("# Region file format: DS9\r\nglobal color=green\r\nfk5\r\n"
          "ELLIPSE(1:00:00,-2:30:00,36\",72\",30) # text={a;b}\n-box 10d 20d 2' 4' 0.5r;"
          "image; polygon(1,2,3,4,5,7) ||\n+annulus(4,5,1,2,3)",
          &r);
    assert_int_equal(r.n, 4);
    assert_false(r.begins_full);
    assert_region(&r.all[0], REGION_ELLIPSE, 15, -2.5, 0.01, 30);
    assert_true(r.all[0].size_on_sky && r.all[0].frame == SKY_FK5);
    assert_int_equal(r.all[1].n_points + r.all[2].n_points, 3);
    const struct region *box = &r.all[3]; /* behind those that include */
    assert_true(box->excludes);
    assert_region(box, REGION_BOX, 10, 20, 1. / 60, 0.5 * 180 / M_PI);
    assert_true(r.points[2].x == 4 && r.points[2].y == 6);
    regions_clear(&r);
}

static void commands_of_ds9_in_a_line(void **state) {
    static const struct {
        const char *text;
        int64_t n, n_excluded;
    } lines[] = {
        {"image;circle(1,2,3) # color=red; -circle(4,5,6) # a;b", 2, 1},
        {"image;circle(1,2,3) # text={;circle(1,2,3)} tag = \"; -circle(4,5,6)\";-circle(4,5,6)", 2,
         1},
        {"image;circle(1,2,3) # it's wide; saturated (bright); fk5;circle(1,2,3')", 2, 0},
        {"global font=\"a; b\" color=red; image; circle(1,2,3)", 1, 0},
        {"image\n# circle(1,2,3);circle(1,2,3)\ncircle(1,2,3)", 1, 0},
        {"image;circle(1,2,3) # tag={include=0} include=1", 1, 0},
        {"image;circle(1,2,3)\ncircle(4,5,6) # text={a} color=red include=0", 2, 1},
        {"image;circle(1,2,3)\n-circle(4,5,6) #", 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct regions r;
        int64_t n_excluded = 0;
        parse(lines[i].text, &r);
        for (int64_t k = 0; k < r.n; k++)
            n_excluded += r.all[k].excludes;
        if (r.n != lines[i].n || n_excluded != lines[i].n_excluded)
            fail_msg("%s: %lld regions, %lld take out", lines[i].text, (long long)r.n,
                     (long long)n_excluded);
        regions_clear(&r);
    }
}

static void regions_of_casa(void **state) {
    struct regions r;
    (void)state;
    parse("#CRTFv0\n-circle[[01:00:00.0, -02.30.00.0], 36arcsec], coord=ICRS, corr=[I, Q]\n"
          "global coord=B1950, color='a, b'\nann circle [[1pix,2pix],3pix]\n"
          "+ellipse [[15deg, 20deg], [2arcmin, 60arcsec], 30deg]\n"
          "centerbox [[4pix, 5pix], [2pix, 6pix]]\nbox[[1pix,2pix],[3pix,4pix]]",
          &r);
    assert_int_equal(r.n, 4);
    assert_true(r.begins_full && r.all[0].excludes && r.all[0].frame == SKY_ICRS);
    assert_region(&r.all[0], REGION_CIRCLE, 15, -2.5, 0.01, 0);
    assert_region(&r.all[1], REGION_ELLIPSE, 15, 20, 2. / 60, 120);
    assert_int_equal(r.all[1].frame, SKY_FK4);
    assert_region(&r.all[2], REGION_BOX, 4, 5, 1, 0);
    assert_int_equal(r.all[2].system, REGION_IMAGE);
    assert_int_equal(r.all[3].n_points, 4);
    assert_true(r.points[1].x == 3 && r.points[1].y == 2);
    regions_clear(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_those_of_astropy),
        cmocka_unit_test(frames_of_images),
        cmocka_unit_test(cells_are_those_of_astropy),
        cmocka_unit_test(ranges_of_maps_are_joined),
        cmocka_unit_test(regions_of_ds9),
        cmocka_unit_test(commands_of_ds9_in_a_line),
        cmocka_unit_test(regions_of_casa),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
