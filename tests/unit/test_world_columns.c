/* Positions, errors, sizes and names on the sky, against astropy. */
#include "measure/beam_frame.h"
#include "measure/world_columns.h"
#include "sky.h"

static const struct pixel_shape shape = {{0.04, 0.09, 0.01}, {9, 4, 2}, .is_fitted = false},
                                no_shape = {
                                    {0.04, 0.09, 0.01}, {NAN, NAN, NAN}, .is_fitted = false};

static const struct psf no_beam = {.beam = {NAN, NAN, NAN}};

static struct srcfind_source row_of(const char *cards, double x, double y,
                                    const struct pixel_shape *s) {
    struct srcfind_source row = {.x = x, .y = y};
    struct srcfind_image image;
    struct error error;
    struct wcs *wcs = wcs_of(cards, &image);
    assert_non_null(wcs);
    assert_int_equal(world_columns_fill(wcs, &image, &no_beam, 1, s, &row, &error), SRCFIND_OK);
    wcs_close(wcs);
    return row;
}

/* Cards of a sky with the reference point at 0-based (50, 60). */
#define SYSTEM(lon, lat) "CTYPE1  = '" lon "'\nCTYPE2  = '" lat "'\n"
#define PLACE(lon, lat) "CRPIX1  = 51\nCRPIX2  = 61\nCRVAL1  = " lon "\nCRVAL2  = " lat "\n"
#define STEP(pixel) "CDELT1  = -" pixel "\nCDELT2  = " pixel "\n"
#define TURNED "CD1_1   = -0.016\nCD1_2   = 0.018\nCD2_1   = 0.012\nCD2_2   = 0.024"
#define SIN SYSTEM("RA---SIN", "DEC--SIN")
#define TAN SYSTEM("RA---TAN", "DEC--TAN")

/* Positions are from astropy 5.2's WCS.all_pix2world. For the rest, the unit vectors of the points
 * 1 and 2 pixels to both sides of it were differenced (with Richardson's extrapolation), projected
 * on its directions of east and north, and numpy's eigh took the axes of J t J^T. */
enum { LON, LAT, E_LON, E_LAT, MAJOR, MINOR, ANGLE, VALUES };

static const struct {
    const char *cards;
    double pixel[2], values[VALUES];
    const char *name;
} cases[] = {
    /* 20 degrees beside the reference point */
    {SIN PLACE("150", "2") STEP("0.02"),
     {1050.25, -639.5},
     {129.064929070, -12.265934011, 4.232504e-3, 6.185312e-3, 1.525161e-1, 9.093533e-2, 105.4535},
     "J083615.58-121557.3"},
    {TAN PLACE("83.625", "22") STEP("0.03"),
     {-349.75, 710.5},
     {98.294119561, 39.872114203, 5.315358e-3, 8.088311e-3, 2.037238e-1, 1.109445e-1, 118.5884},
     "J063310.58+395219.6"},
    /* turned by 37 degrees, with pixels that are no squares */
    {TAN PLACE("201.5", "-43") TURNED,
     {120.5, -20.25},
     {197.924265424, -44.024077522, 6.003722e-3, 7.783716e-3, 1.629413e-1, 1.150979e-1, 174.2827},
     "J131141.82-440126.6"},
    /* across a pole */
    {SIN PLACE("30", "89.9999") STEP("1E-4"),
     {50.25, 61.5},
     {236.565051177, 89.999944098, 2.049390e-5, 2.966479e-5, 7.334636e-4, 4.276730e-4, 135.8950},
     "J154615.61+895959.7"},
    {TAN PLACE("30", "-89.9999") STEP("1E-4"),
     {50.25, 58.75},
     {255.000000004, -89.999964645, 2.738613e-5, 2.345208e-5, 7.334636e-4, 4.276730e-4, 64.3299},
     "J170000.00-895959.8"},
    /* on both sides of 0 = 360 degrees */
    {SIN PLACE("0", "-60") STEP("1E-3"),
     {40.5, 60},
     {0.019000000, -59.999998636, 2.000144e-4, 2.999904e-4, 7.334636e-3, 4.276730e-3, 109.3135},
     "J000004.55-595959.9"},
    {SIN PLACE("0", "-60") STEP("1E-3"),
     {60.5, 60},
     {359.979000001, -59.999998334, 1.999841e-4, 3.000106e-4, 7.334636e-3, 4.276730e-3, 109.3481},
     "J235954.96-595959.9"},
    {SYSTEM("GLON-CAR", "GLAT-CAR") PLACE("10", "0") STEP("0.01"),
     {2050.375, -140.125},
     {349.996250000, -2.001250000, 1.998780e-3, 3.000000e-3, 7.330653e-2, 4.276444e-2, 109.3521},
     "G349.9962-02.0012"},
};

/* Beside a pole a longitude has fewer digits. Sizes are promised to a millionth. */
static void against_astropy(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct srcfind_source row =
            row_of(cases[i].cards, cases[i].pixel[0], cases[i].pixel[1], &shape);
        const double *expected = cases[i].values;
        assert_within(row.lon, expected[LON], 1e-9 / cos(expected[LAT] * M_PI / 180));
        assert_within(row.lat, expected[LAT], 1e-9);
        assert_within(row.e_lon / expected[E_LON], 1, 2e-6);
        assert_within(row.e_lat / expected[E_LAT], 1, 2e-6);
        assert_within(row.major / expected[MAJOR], 1, 2e-6);
        assert_within(row.minor / expected[MINOR], 1, 2e-6);
        assert_within(row.angle, expected[ANGLE], 2e-4);
        assert_string_equal(row.name, cases[i].name);
    }
}

/* A pixel without a position (an AIT map is an ellipse) leaves its own columns empty, and a source
 * without a shape its size, and not those of their neighbours. */
static void empty_cells(void **state) {
    static const char *const cards = SYSTEM("RA---AIT", "DEC--AIT") PLACE("0", "0") STEP("1.8");
    const struct pixel_shape shapes[] = {shape, shape, no_shape, shape};
    struct srcfind_source rows[] = {
        {.x = 5, .y = 60}, {.x = -200}, {.x = 7, .y = 60}, {.x = 50, .y = 60}};
    struct srcfind_image image;
    struct error error;
    struct wcs *wcs = wcs_of(cards, &image);
    (void)state;
    assert_int_equal(world_columns_fill(wcs, &image, &no_beam, 4, shapes, rows, &error),
                     SRCFIND_OK);
    wcs_close(wcs);
    for (int i = 0; i < 4; i++) {
        const struct srcfind_source *r = &rows[i];
        const double place[] = {r->lon, r->lat, r->e_lon, r->e_lat};
        const double size[] = {r->major, r->minor, r->angle};
        for (int j = 0; j < 4; j++)
            assert_int_equal(isnan(place[j]), i == 1);
        for (int j = 0; j < 3; j++)
            assert_int_equal(isnan(size[j]), i == 1 || i == 2);
        assert_int_equal(*r->name == '\0', i == 1);
    }
}

/* At longitude 0: one neighbour is at 359.99 degrees. A second moment of 1 pixel^2 is 8 ln 2
 * = 5.545177444479562 pixels^2 of FWHM^2. */
static void known_shapes(void **state) {
    static const char *const cards = TAN PLACE("0", "0") STEP("0.001");
    static const struct {
        struct tensor second;
        double major, minor, angle; /* in roots of pixels squared, and degrees */
    } known[] = {
        {{9, 4, 0}, 9, 4, 90},             /* along x, which is west */
        {{4, 9, 0}, 9, 4, 0},              /* along y, which is north */
        {{5, 5, 4}, 9, 1, 135},            /* to the upper right: north-west */
        {{5, 5, -4}, 9, 1, 45},            /* to the upper left: north-east */
        {{9, -1e-9, 0}, 9, 0, 90},         /* a line, whose sums were rounded */
        {{4, 9, 6}, 13, 0, 146.309932474}, /* a line, along (2, 3): 180 - atan(2 / 3) */
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct pixel_shape s = {{1, 1, 0}, known[i].second, .is_fitted = false};
        const struct srcfind_source row = row_of(cards, 50, 60, &s);
        const double scale = 0.001 * sqrt(5.545177444479562);
        assert_within(row.major / scale, sqrt(known[i].major), 1e-5);
        assert_within(row.minor / scale, sqrt(known[i].minor), 5e-3);
        assert_true(row.angle >= 0 && row.angle < 180);
        assert_within(remainder(row.angle - known[i].angle, 180), 0, 1e-3);
    }
}

/* More rows than are carried to the sky at a time. */
static void many_rows(void **state) {
    enum { N = 600 };
    static struct srcfind_source rows[N];
    static struct pixel_shape shapes[N];
    struct srcfind_image image;
    struct error error;
    struct wcs *wcs = wcs_of(cases[1].cards, &image);
    (void)state;
    for (int i = 0; i < N; i++) {
        rows[i] = (struct srcfind_source){.x = i, .y = 2 * i};
        shapes[i] = shape;
        shapes[i].second.xx += i;
    }
    assert_int_equal(world_columns_fill(wcs, &image, &no_beam, N, shapes, rows, &error),
                     SRCFIND_OK);
    for (int i = 0; i < N; i++) {
        struct srcfind_source alone = row_of(cases[1].cards, i, 2 * i, &shapes[i]);
        ASSERT_SAME(rows[i], alone);
    }
    assert_int_equal(world_columns_fill(wcs, &image, &no_beam, 0, NULL, NULL, &error), SRCFIND_OK);
    wcs_close(wcs);
}

/* --- fitted sources --- */

/* A source at a pixel. What is not known stays what it was, -1: the size without an unknown beam,
 * and the errors of an unknown size. */
static struct srcfind_source fitted_row_at(const char *cards, const struct srcfind_beam *beam,
                                           const struct pixel_shape *s, double x, double y) {
    struct srcfind_source row = {
        .x = x, .y = y, .e_major = -1, .e_angle = -1, .dc_major = -1, .e_dc_angle = -1};
    struct srcfind_image metadata;
    struct fit_frame frame;
    struct error error;
    const struct image image = {.wcs = wcs_of(cards, &metadata)};
    assert_non_null(image.wcs);
    metadata.beam = *beam;
    metadata.beam_pixels = beam->major * beam->minor / metadata.pixel_area;
    assert_int_equal(beam_frame_make(&image, &metadata, &frame, &error), SRCFIND_OK);
    const struct tensor moments = beam_frame_moments(&frame);
    assert_int_equal(world_columns_fill(image.wcs, &metadata, &(struct psf){.beam = moments}, 1, s,
                                        &row, &error),
                     SRCFIND_OK);
    wcs_close(image.wcs);
    return row;
}

static struct srcfind_source fitted_row(const char *cards, const struct srcfind_beam *beam,
                                        const struct pixel_shape *s) {
    return fitted_row_at(cards, beam, s, 50, 60);
}

/* t (xx, yy, xy) t^T */
static struct tensor carried(const double *t, double xx, double yy, double xy) {
    return (struct tensor){
        t[0] * t[0] * xx + 2 * t[0] * t[1] * xy + t[1] * t[1] * yy,
        t[2] * t[2] * xx + 2 * t[2] * t[3] * xy + t[3] * t[3] * yy,
        t[0] * t[2] * xx + (t[0] * t[3] + t[1] * t[2]) * xy + t[1] * t[3] * yy,
    };
}

static const double CORRELATION = -0.4; /* of the errors of the moments along both axes */

/* A fitted source with these moments along its axes, whose errors are these parts of them. */
static struct pixel_shape fitted_shape(const double *to_pixels, double major, double minor,
                                       double relative) {
    struct pixel_shape s = {.position = {0.04, 0.09, 0.01},
                            .second = carried(to_pixels, major, minor, 0),
                            .is_fitted = true};
    memcpy(s.error.to_pixels, to_pixels, sizeof s.error.to_pixels);
    s.error.major = pow(relative * major, 2);
    s.error.minor = pow(relative * minor, 2) / 2;
    s.error.mixed = pow(relative, 2) * major * minor / 3;
    s.error.covariance = CORRELATION * sqrt(s.error.major * s.error.minor);
    return s;
}

enum { SIZES = 6 };

static void sizes_of(const struct srcfind_source *row, double *sizes, double *errors) {
    const double size[SIZES] = {row->major,    row->minor,    row->angle,
                                row->dc_major, row->dc_minor, row->dc_angle};
    const double error[SIZES] = {row->e_major,    row->e_minor,    row->e_angle,
                                 row->e_dc_major, row->e_dc_minor, row->e_dc_angle};
    memcpy(sizes, size, sizeof size);
    memcpy(errors, error, sizeof error);
}

/* Where a pixel has no position on the sky, a fitted source has no size, and no errors of one. */
static void fitted_without_a_position(void **state) {
    static const char *const cards = SYSTEM("RA---AIT", "DEC--AIT") PLACE("0", "0") STEP("1.8");
    static const double none[] = {1, 0, 0, 1};
    const struct srcfind_beam beam = {5, 5, 0};
    const struct pixel_shape s = fitted_shape(none, 9, 4, 0.1);
    (void)state;
    for (int has_position = 0; has_position < 2; has_position++) {
        const struct srcfind_source row =
            fitted_row_at(cards, &beam, &s, has_position ? 50 : -200, 60);
        const double cells[] = {row.e_major, row.e_angle, row.dc_major, row.e_dc_angle};
        assert_int_equal(isnan(row.major), !has_position);
        for (int i = 0; i < 4; i++)
            assert_true(has_position ? cells[i] > 0 : cells[i] == -1);
    }
}

/* Errors of sizes are those of the moments, carried on by the derivatives of the columns
 * themselves: differences of rows whose moments differ by a thousandth of their errors. */
static void errors_of_sizes(void **state) {
    static const double none[] = {1, 0, 0, 1}, oblique[] = {0.9, -0.5, 0.3, 1.2},
                        mirrored[] = {0.2, 1.1, 0.8, -0.3};
    static const double *const maps[] = {none, oblique, mirrored};
    static const char *const skies[] = {TAN PLACE("201.5", "-43") TURNED,
                                        SIN PLACE("150", "2") STEP("0.02")};
    const double pixel = 0.02, h = 1e-3;
    (void)state;
    for (int i = 0; i < 24; i++) {
        const double *to_pixels = maps[i % 3];
        const struct srcfind_beam beam = {3 * pixel, 2 * pixel, 40 * i};
        const struct pixel_shape s = fitted_shape(to_pixels, 30 + i, 12, 0.05);
        const struct srcfind_source row = fitted_row(skies[i / 3 % 2], &beam, &s);
        const double variance[] = {s.error.major, s.error.minor, s.error.mixed};
        double sizes[SIZES], errors[SIZES], by[3][SIZES];
        sizes_of(&row, sizes, errors);
        for (int k = 0; k < 3; k++) {
            const double step = h * sqrt(variance[k]);
            double high[SIZES], low[SIZES], unused[SIZES];
            for (int sign = -1; sign <= 1; sign += 2) {
                struct pixel_shape other = s;
                other.second = carried(to_pixels, 30 + i + (k == 0 ? sign * step : 0),
                                       12 + (k == 1 ? sign * step : 0), k == 2 ? sign * step : 0);
                const struct srcfind_source changed = fitted_row(skies[i / 3 % 2], &beam, &other);
                sizes_of(&changed, sign > 0 ? high : low, unused);
            }
            for (int q = 0; q < SIZES; q++) {
                const double difference =
                    q % 3 == 2 ? remainder(high[q] - low[q], 180) : high[q] - low[q];
                by[k][q] = difference / (2 * h);
            }
        }
        for (int q = 0; q < SIZES; q++) {
            const double expected = by[0][q] * by[0][q] + by[1][q] * by[1][q] +
                                    by[2][q] * by[2][q] + 2 * CORRELATION * by[0][q] * by[1][q];
            assert_within(errors[q] / sqrt(expected), 1, 2e-4);
        }
    }
}

/* Moments of sources convolved with the beam: what was convolved comes back. */
static void without_the_beam(void **state) {
    static const char *const cards = TAN PLACE("0", "0") STEP("0.001");
    static const double none[] = {1, 0, 0, 1};
    static const struct {
        double major, minor, angle; /* FWHM in pixels, of the source alone */
        double beam_major, beam_minor, beam_angle;
    } known[] = {{6, 4, 30, 5, 3, 80},
                 {9, 2, 170, 4, 4, 0},
                 {5, 0, 60, 5, 3, 10},
                 {0.5, 0.4, 120, 7, 2, 45}};
    const double pixel = 0.001;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double angles[] = {known[i].angle, known[i].beam_angle};
        const double axes[][2] = {{known[i].major, known[i].minor},
                                  {known[i].beam_major, known[i].beam_minor}};
        const struct srcfind_beam beam = {known[i].beam_major * pixel, known[i].beam_minor * pixel,
                                          known[i].beam_angle};
        struct pixel_shape s = fitted_shape(none, 1, 1, 1e-6);
        s.second = (struct tensor){0, 0, 0};
        for (int k = 0; k < 2; k++) {
            /* from north, which is y, through east, which is -x */
            const double x = -sin(angles[k] * M_PI / 180), y = cos(angles[k] * M_PI / 180);
            const double a = axes[k][0] * axes[k][0] / (8 * M_LN2);
            const double b = axes[k][1] * axes[k][1] / (8 * M_LN2);
            s.second.xx += a * x * x + b * y * y;
            s.second.yy += a * y * y + b * x * x;
            s.second.xy += (a - b) * x * y;
        }
        const struct srcfind_source row = fitted_row(cards, &beam, &s);
        assert_within(row.dc_major / pixel, known[i].major, 1e-4);
        assert_within(row.dc_minor / pixel, known[i].minor, known[i].minor > 0 ? 1e-4 : 2e-2);
        assert_within(remainder(row.dc_angle - known[i].angle, 180), 0, 0.1);
        assert_true(row.dc_angle >= 0 && row.dc_angle < 180);
    }
}

/* The beam is constant in pixels, so where north turns, the same moments in pixels are the same
 * size without the beam: round, of 8 pixels, under a beam of 10 by 5. */
static void beam_far_from_the_reference(void **state) {
    static const char *const skies[] = {
        SIN PLACE("30", "90") STEP("0.0005"), SIN PLACE("180", "80") STEP("0.005"),
        TAN PLACE("0", "-88") STEP("0.001"), TAN PLACE("200", "90") STEP("0.002")};
    static const double pixels[] = {0.0005, 0.005, 0.001, 0.002}, fwhm_squared = 8 * M_LN2;
    static const double none[] = {1, 0, 0, 1};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct pixel_shape s = fitted_shape(none, 1, 1, 1e-3);
        /* the beam points from north, which is y, 30 degrees to the east, which is -x */
        const double cosine = cos(M_PI / 6), sine = -sin(M_PI / 6);
        s.second.xx = (64 + 100 * sine * sine + 25 * cosine * cosine) / fwhm_squared;
        s.second.yy = (64 + 100 * cosine * cosine + 25 * sine * sine) / fwhm_squared;
        s.second.xy = (100 - 25) * sine * cosine / fwhm_squared;
        for (int k = 0; k < 8; k++) {
            const struct srcfind_beam beam = {10 * pixels[i], 5 * pixels[i], 30};
            const double x = 50 + 200 * cos(k * M_PI / 4), y = 60 + 200 * sin(k * M_PI / 4);
            const struct srcfind_source row = fitted_row_at(skies[i], &beam, &s, x, y);
            assert_within(row.dc_major / pixels[i], 8, 0.01);
            assert_within(row.dc_minor / pixels[i], 8, 0.01);
        }
    }
}

/* A source narrower than the beam along one axis or both, and one of the beam's shape: 0, with the
 * error that the noise makes of 0; an angle of no axis is any angle. */
static void unresolved(void **state) {
    static const char *const cards = TAN PLACE("0", "0") STEP("0.001");
    static const double none[] = {1, 0, 0, 1};
    const double fwhm = 0.001 * sqrt(8 * M_LN2), random = 180 / sqrt(12);
    const struct srcfind_beam round = {3 * fwhm, 3 * fwhm, 0}, unknown = {NAN, NAN, NAN};
    struct pixel_shape s = fitted_shape(none, 16, 8, 0.01);
    struct srcfind_source row = fitted_row(cards, &round, &s);
    (void)state;
    assert_within(row.dc_major / fwhm, sqrt(16 - 9), 1e-5);
    assert_true(row.dc_minor == 0);
    assert_within(row.dc_angle, 90, 1e-6);
    assert_within(row.e_dc_minor / fwhm, sqrt(sqrt(s.error.minor)), 1e-5);
    s = fitted_shape(none, 8, 7, 0.01);
    row = fitted_row(cards, &round, &s);
    assert_true(row.dc_major == 0 && row.dc_minor == 0 && row.dc_angle == 0);
    assert_within(row.e_dc_major / fwhm, sqrt(sqrt(s.error.major)), 1e-5);
    assert_within(row.e_dc_angle, random, 1e-9);
    s = fitted_shape(none, 9.4, 9.2, 0.01); /* the beam, where the sky is stretched */
    s.has_beam_shape = true;
    row = fitted_row(cards, &round, &s);
    assert_true(row.dc_major == 0 && row.dc_minor == 0 && row.dc_angle == 0);
    assert_within(row.e_dc_angle, random, 1e-9);
    assert_true(row.e_dc_major > 0 && row.e_dc_minor > 0 && row.e_major > 0 && row.e_minor > 0);
    s = fitted_shape(none, 9, 9, 0.01);
    assert_within(fitted_row(cards, &round, &s).e_angle, random, 1e-9);
    s = fitted_shape(none, 9.001, 9, 0.01); /* nearly round: no more than random */
    assert_within(fitted_row(cards, &round, &s).e_angle, random, 1e-9);
    row = fitted_row(cards, &unknown, &s);
    assert_true(row.e_major > 0 && row.dc_major == -1 && row.e_dc_angle == -1);
}

/* Digits are cut, and the first letter tells the system. */
static void names(void **state) {
    static const struct {
        const char *cards, *name;
    } named[] = {
        {TAN PLACE("359.99999999999994", "0"), "J235959.99+000000.0"},
        {TAN PLACE("-1E-20", "-1E-9"), "J000000.00-000000.0"},
        {TAN PLACE("188.73658", "-1.39626") "EQUINOX = 1950", "B123456.77-012346.5"},
        {TAN PLACE("10", "1") "RADESYS = 'FK4-NO-E'", "B004000.00+010000.0"},
        {TAN PLACE("10", "1") "RADESYS = 'FK5'", "J004000.00+010000.0"},
        {SYSTEM("GLON-TAN", "GLAT-TAN") PLACE("8.12349", "-0.00001"), "G008.1234-00.0000"},
        {SYSTEM("ELON-TAN", "ELAT-TAN") PLACE("350.5", "70.25"), "E350.5000+70.2500"},
        /* WCSLIB takes any xLON for a longitude; a catalogue has no quotes around names */
        {SYSTEM("\"LON-TAN", "\"LAT-TAN") PLACE("350.5", "70.25"), "L350.5000+70.2500"},
        {SYSTEM(",LON-TAN", ",LAT-TAN") PLACE("350.5", "70.25"), "L350.5000+70.2500"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        char cards[512];
        snprintf(cards, sizeof cards, STEP("1E-3") "%s", named[i].cards);
        assert_string_equal(row_of(cards, 50, 60, &shape).name, named[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_astropy),
        cmocka_unit_test(empty_cells),
        cmocka_unit_test(known_shapes),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(names),
        cmocka_unit_test(fitted_without_a_position),
        cmocka_unit_test(errors_of_sizes),
        cmocka_unit_test(without_the_beam),
        cmocka_unit_test(beam_far_from_the_reference),
        cmocka_unit_test(unresolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
