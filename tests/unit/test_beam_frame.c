/* In the frame of fits the beam is the unit circle, whatever the pixels are like. */
#include "measure/beam_frame.h"
#include "sky.h"

static const double FWHM = 2.3548200450309493;

/* The frame of a beam in degrees, at these cards. */
static struct fit_frame frame_of(const char *cards, double major, double minor, double angle) {
    struct image image = {0};
    struct srcfind_image metadata;
    struct fit_frame frame;
    struct error error;
    image.wcs = wcs_of(cards, &metadata);
    metadata.beam = (struct srcfind_beam){major, minor, angle};
    metadata.beam_pixels = M_PI * major * minor / (4 * M_LN2) / metadata.pixel_area;
    assert_int_equal(beam_frame_make(&image, &metadata, &frame, &error), SRCFIND_OK);
    wcs_close(image.wcs);
    return frame;
}

#define SKY(projection, lat)                                                                       \
    "CTYPE1  = 'RA---" projection "'\nCTYPE2  = 'DEC--" projection                                 \
    "'\nCRPIX1  = 51\nCRPIX2  = 61\nCRVAL1  = 30\nCRVAL2  = " lat "\n"

/* Points at one sigma from the centre, in all directions. cd: degrees a pixel, from x and y to east
 * and north. */
static void check(const char *cards, const double *cd, double major, double minor, double angle) {
    const struct fit_frame f = frame_of(cards, major, minor, angle);
    const double determinant = cd[0] * cd[3] - cd[1] * cd[2], pa = angle * M_PI / 180;
    assert_true(f.has_beam && f.ux > 0 && f.vy > 0);
    for (int i = 0; i < 12; i++) {
        const double along = major / FWHM * cos(i * M_PI / 6),
                     across = minor / FWHM * sin(i * M_PI / 6);
        const double north = along * cos(pa) - across * sin(pa);
        const double east = along * sin(pa) + across * cos(pa);
        const double x = (cd[3] * east - cd[1] * north) / determinant;
        const double y = (-cd[2] * east + cd[0] * north) / determinant;
        assert_within(hypot(f.ux * x + f.uy * y, f.vy * y), 1, 1e-5);
    }
    const double fwhm = sqrt(major * minor / fabs(determinant)),
                 area = M_PI / 4 / log(2) * fwhm * fwhm;
    assert_within(2 * beam_frame_margin(&f, 1) / fwhm, 1, 1e-5);
    assert_within(2 * beam_frame_margin(&f, (int64_t)(14.9 * area)) / fwhm, 1, 1e-5);
    assert_within(beam_frame_margin(&f, (int64_t)(15.1 * area)) / fwhm, 1.5, 1e-5);
}

/* Mirror images have mirrored frames, to the last bit, and one whose axes are exchanged has the
 * same form: WCSLIB's rounding is left out. */
static void mirrored_frames(void **state) {
    static const char *const cards = "CTYPE1  = 'RA---NCP'\nCTYPE2  = 'DEC--NCP'\nCRPIX1  = 3428\n"
                                     "CRPIX2  = 3847\nCRVAL1  = 255.449637133\n"
                                     "CRVAL2  = -41.8624876175\n";
    static const char *const matrices[] = {
        "CD1_1   = -4.16E-4\nCD1_2   = 1E-5\nCD2_1   = 1E-5\nCD2_2   = 4.16E-4",
        "CD1_1   = 4.16E-4\nCD1_2   = 1E-5\nCD2_1   = -1E-5\nCD2_2   = 4.16E-4",
        "CD1_1   = -4.16E-4\nCD1_2   = -1E-5\nCD2_1   = 1E-5\nCD2_2   = -4.16E-4",
        "CD1_1   = 1E-5\nCD1_2   = -4.16E-4\nCD2_1   = 4.16E-4\nCD2_2   = 1E-5"};
    struct fit_frame f[4];
    (void)state;
    for (int i = 0; i < 4; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s", cards, matrices[i]);
        f[i] = frame_of(text, 0.0025, 0.0018, 33);
    }
    for (int i = 1; i <= 2; i++)
        assert_true(f[i].ux == f[0].ux && f[i].uy == -f[0].uy && f[i].vy == f[0].vy);
    const double xx = f[0].ux * f[0].ux, yy = f[0].uy * f[0].uy + f[0].vy * f[0].vy;
    assert_within(f[3].ux * f[3].ux / yy, 1, 1e-14);
    assert_within((f[3].uy * f[3].uy + f[3].vy * f[3].vy) / xx, 1, 1e-14);
    assert_within(f[3].ux * f[3].uy / (f[0].ux * f[0].uy), 1, 1e-13);
}

/* The form is in steps of 2^-28 of its trace, so that what WCSLIB rounds does not show. */
static void rounded_forms(void **state) {
    static const double angles[] = {7, 33, 71, 110, 160};
    (void)state;
    for (int i = 0; i < 5; i++) {
        const struct fit_frame f =
            frame_of(SKY("SIN", "-41.86") "CDELT1  = -4.16E-4\nCDELT2  = 4.16E-4", 2.5e-3, 1.8e-3,
                     angles[i]);
        const double form[] = {f.ux * f.ux, f.uy * f.uy + f.vy * f.vy, f.ux * f.uy};
        int exponent;
        frexp(form[0] + form[1], &exponent);
        for (int j = 0; j < 3; j++) {
            const double steps = ldexp(form[j], 28 - exponent);
            assert_within(steps, rint(steps), 1e-6);
        }
    }
}

static void beams(void **state) {
    static const double square[] = {-1e-3, 0, 0, 1e-3}, mirrored[] = {1e-3, 0, 0, 1e-3},
                        turned[] = {-0.016, 0.018, 0.012, 0.024};
    static const double angles[] = {0, 30, 90, 135, -20, 179.9};
    (void)state;
    for (int i = 0; i < 6; i++) {
        check(SKY("SIN", "0") "CDELT1  = -1E-3\nCDELT2  = 1E-3", square, 5e-3, 4e-3, angles[i]);
        check(SKY("TAN", "-89.99") "CDELT1  = -1E-3\nCDELT2  = 1E-3", square, 5e-3, 1e-3,
              angles[i]);
        check(SKY("TAN", "45") "CDELT1  = 1E-3\nCDELT2  = 1E-3", mirrored, 2e-3, 2e-3, angles[i]);
        check(
            SKY("TAN", "45") "CD1_1   = -0.016\nCD1_2   = 0.018\nCD2_1   = 0.012\nCD2_2   = 0.024",
            turned, 0.15, 0.05, angles[i]);
    }
}

/* A beam without an angle points north. */
static void no_angle(void **state) {
    static const char *const cards = SKY("SIN", "10") "CDELT1  = -1E-3\nCDELT2  = 1E-3";
    const struct fit_frame f = frame_of(cards, 6e-3, 3e-3, NAN),
                           north = frame_of(cards, 6e-3, 3e-3, 0);
    (void)state;
    assert_true(f.ux == north.ux && f.uy == north.uy && f.vy == north.vy && f.has_beam);
}

/* A circle of three pixels: without a beam, without sky coordinates, and for a beam of no use. */
static void no_beam(void **state) {
    static const char *const cards = SKY("SIN", "10") "CDELT1  = -1E-3\nCDELT2  = 1E-3";
    const struct image image = {0};
    struct srcfind_image metadata = image_empty_metadata();
    struct fit_frame frames[3] = {frame_of(cards, NAN, NAN, NAN),
                                  frame_of(cards, 1e-300, 1e-300, 0)};
    struct error error;
    (void)state;
    assert_int_equal(beam_frame_make(&image, &metadata, &frames[2], &error), SRCFIND_OK);
    for (int i = 0; i < 3; i++) {
        assert_false(frames[i].has_beam);
        assert_true(frames[i].ux == frames[i].vy && frames[i].uy == 0);
        assert_within(beam_frame_margin(&frames[i], 1), 1.5 * (1 + 1e-6), 1e-12);
        assert_within(beam_frame_margin(&frames[i], 10000), 1.5 * (1 + 1e-6), 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrored_frames), cmocka_unit_test(rounded_forms), cmocka_unit_test(beams),
        cmocka_unit_test(no_angle),        cmocka_unit_test(no_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
