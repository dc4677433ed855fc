/* Which headers have sky coordinates, and where pixels are on the sky, against astropy, and back.
 */
#include <errno.h>
#include <sys/mman.h>

#include "input/wcs.h"
#include "input/wcs_cards.h"
#include "sky.h"

/* --- memory that is refused --- */

static int calls_until_refused; /* 0: none is refused */

static bool is_refused(void) {
    errno = ENOMEM;
    return calls_until_refused > 0 && --calls_until_refused == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
    return is_refused() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
    return is_refused() ? NULL : __real_calloc(n, size);
}

void *__real_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    return is_refused() ? MAP_FAILED : __real_mmap64(at, size, protection, flags, file, offset);
}

/* --- headers --- */

#define TYPE(lon, lat) "CTYPE1  = '" lon "'\nCTYPE2  = '" lat "'\n"
#define PLACE(lon, lat) "CRPIX1  = 10\nCRPIX2  = 20\nCRVAL1  = " lon "\nCRVAL2  = " lat "\n"
#define STEP(x, y) "CDELT1  = " x "\nCDELT2  = " y "\n"
#define CD(a, b, c, d) "CD1_1   = " a "\nCD1_2   = " b "\nCD2_1   = " c "\nCD2_2   = " d "\n"
#define SIN TYPE("RA---SIN", "DEC--SIN")
#define CUBE                                                                                       \
    "CTYPE3  = 'FREQ'\nCRPIX3  = 1\nCRVAL3  = 1.4E9\nCDELT3  = 1E6\nCTYPE4  = 'STOKES'\n"          \
    "CRPIX4  = 1\nCRVAL4  = 1\nCDELT4  = 1\n"

#define VELOCITY "CTYPE3  = 'VRAD'\nCRPIX3  = 1\nCRVAL3  = 0\nCDELT3  = 1E3\n"
#define LINE(unit, value, step)                                                                    \
    "CTYPE3  = 'FREQ'\nCRPIX3  = 1\nCUNIT3  = " unit "\nCRVAL3  = " value "\nCDELT3  = " step "\n"
#define SCAMP                                                                                      \
    "PV1_0   = 1E-3\nPV1_1   = 1.01\nPV1_2   = 2E-3\nPV1_4   = 1E-3\nPV2_0   = -1E-3\n"            \
    "PV2_1   = 0.99\nPV2_2   = -3E-3\n"
#define USUAL SIN PLACE("50", "60") STEP("-1", "1")

/* Longitude and latitude of the pixels (0, 0) and (100.25, -50.5), by astropy 5.2's
 * WCS.all_pix2world with origin 0; areas by hand. */
static const struct {
    const char *cards;
    double sky[4], area;
} skies[] = {
    {SIN PLACE("3600", "-7200") STEP("-3.6", "7.2") "CUNIT1  = 'arcsec'\nCUNIT2  = 'arcsec'",
     {1.0090056964912, -2.0379999781012, 0.9086863359515, -2.1389975986699},
     2e-6},
    {SIN PLACE("50", "-30") STEP("-0.01", "0.02") "CROTA2  = 25",
     {50.2804955300844, -30.3060663894795, 49.7185903328519, -31.6453389546688},
     2e-4},
    {TYPE("RA---NCP", "DEC--NCP") PLACE("50", "60") STEP("-0.01", "0.02"),
     {50.1779551795874, 59.6191048427209, 48.2491387417273, 58.5836487763063},
     2e-4},
    {TYPE("DEC--TAN", "RA---TAN") PLACE("60", "50") STEP("0.01", "-0.02"),
     {50.7578936723715, 59.9078255132420, 52.8564923062646, 60.8821500306224},
     2e-4},
    {TYPE("GLON-CAR", "GLAT-CAR") PLACE("359.75", "0")
         STEP("-0.01", "0.02") "PC1_1   = 0.8\nPC1_2   = -0.6\nPC2_1   = 0.6\nPC2_2   = 0.8",
     {359.708, -0.412, 358.603, -0.017},
     2e-4},
    {TYPE("RA---TAN-SIP", "DEC--TAN-SIP") PLACE("50", "60")
         CD("-0.01", "0", "0", "0.02") "A_ORDER = 2\nB_ORDER = 2\nA_2_0   = 1E-4\nB_1_1   = -2E-4",
     {50.1777913864810, 59.6192012501053, 48.2318718101685, 58.6234974725289},
     2e-4},
    /* SCAMP's polynomials, which TAN does not have: as astropy has them of TPV */
    {TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60") CD("-0.01", "0", "0", "0.02") SCAMP
     "PV1_7   = 2E-3\nPV2_5   = 2E-3",
     {50.1802414225686, 59.6223433801467, 48.2259760277357, 58.6162257062379},
     2e-4},
    {TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60")
         CD("-0.01", "0", "0", "0.02") "PV1_0   = 0\nPV1_1   = 1.02\nPV1_2   = 1E-3\n"
                                       "PV2_0   = 0\nPV2_1   = 0.98\nPV2_2   = 2E-3",
     {50.1808049385552, 59.6276607908206, 48.2101307720069, 58.6238045949363},
     2e-4},
    {TYPE("RA---TAN-SIP", "DEC--TAN-SIP") PLACE("50", "60") CD("-0.01", "0", "0", "0.02") SCAMP
     "PV1_7   = 2E-3\nA_ORDER = 2\nB_ORDER = 2\nA_2_0   = 1E-4\nB_1_1   = -2E-4",
     {50.1777913864810, 59.6192012501053, 48.2318718101685, 58.6234974725289},
     2e-4},
    /* SIP without its code, and both: astropy takes SCAMP's, unless they are of the first order */
    {TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60") CD("-0.01", "0", "0", "0.02") SCAMP
     "PV1_7   = 2E-3\nPV2_5   = 2E-3\nA_ORDER = 2\nB_ORDER = 2\nA_2_0   = 1E-4\n"
     "B_1_1   = -2E-4",
     {50.1802414225686, 59.6223433801467, 48.2259760277357, 58.6162257062379},
     2e-4},
    {TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60") CD("-0.01", "0", "0", "0.02") SCAMP
     "A_ORDER = 2\nB_ORDER = 2\nA_2_0   = 1E-4\nB_1_1   = -2E-4",
     {50.1777913864810, 59.6192012501053, 48.2318718101685, 58.6234974725289},
     2e-4},
    /* left over of SIN, as CASA writes them */
    {TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60")
         CD("-0.01", "0", "0", "0.02") "PV2_1   = 0\nPV2_2   = 0",
     {50.1779551795879, 59.6198849997227, 48.2491387417269, 58.5983749853833},
     2e-4},
    /* the longitude's own, at their defaults */
    {TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60")
         CD("-0.01", "0", "0", "0.02") "PV1_1   = 0\nPV1_2   = 90\nPV1_3   = 180\nPV1_4   = 60",
     {50.1779551795879, 59.6198849997227, 48.2491387417269, 58.5983749853833},
     2e-4},
    {SIN PLACE("50", "-30") STEP("-0.01", "0.02") CUBE "PV2_1   = 0.001\nPV2_2   = 0.002",
     {50.1043232905140, -30.3799644796642, 48.9310064405524, -31.3859269475646},
     2e-4},
    {TYPE("RA---ZEA", "DEC--ZEA") PLACE("50", "60") STEP("-0.5", "0.5") "LONPOLE = 170",
     {59.6644223998668, 50.9813508775858, 13.7303352957510, 6.5323069654276},
     0.25},
};

static void positions(void **state) {
    static const double x[] = {0, 100.25}, y[] = {0, -50.5};
    (void)state;
    for (size_t i = 0; i < sizeof skies / sizeof *skies; i++) {
        struct srcfind_image image;
        struct error error;
        struct wcs *wcs = wcs_of(skies[i].cards, &image), *copy = wcs_copy(wcs);
        double lon[2], lat[2], lon_by_copy[2], lat_by_copy[2];
        assert_int_equal(wcs_positions(wcs, 2, x, y, lon, lat, &error), SRCFIND_OK);
        for (int j = 0; j < 2; j++) {
            assert_within(lon[j], skies[i].sky[2 * j], 1e-11);
            assert_within(lat[j], skies[i].sky[2 * j + 1], 1e-11);
        }
        assert_within(image.pixel_area / skies[i].area, 1, 1e-14);
        wcs_close(wcs);
        assert_int_equal(wcs_positions(copy, 2, x, y, lon_by_copy, lat_by_copy, &error),
                         SRCFIND_OK);
        ASSERT_SAME(lon, lon_by_copy);
        ASSERT_SAME(lat, lat_by_copy);
        wcs_close(copy);
    }
}

/* --- polynomials, by their definition --- */

/* The term m of TPV's polynomial, https://fits.gsfc.nasa.gov/registry/tpvwcs.html. */
static double tpv_term(int m, double x, double y) {
    static const struct {
        int degree, first;
    } blocks[] = {{1, 1}, {2, 4}, {3, 7}, {4, 12}, {5, 17}, {6, 24}, {7, 31}};
    static const int radial[] = {3, 11, 23, 39};
    for (int i = 0; i < 4; i++)
        if (m == radial[i])
            return pow(hypot(x, y), 2 * i + 1);
    for (int i = 6; i >= 0; i--)
        if (m >= blocks[i].first)
            return pow(x, blocks[i].degree - (m - blocks[i].first)) * pow(y, m - blocks[i].first);
    return 1;
}

/* The polynomial of an axis, whose PVi_1 is 1 if there is no such card. */
static double polynomial(const char *cards, int axis, double x, double y) {
    double sum = 0;
    for (int m = 0; m < 40; m++) {
        char keyword[16];
        snprintf(keyword, sizeof keyword, "PV%d_%-4d=", axis, m);
        const char *card = strstr(cards, keyword);
        const double value = card ? strtod(card + 9, NULL) : m == 1 ? 1 : 0;
        sum += value != 0 ? value * tpv_term(m, x, y) : 0;
    }
    return sum;
}

/* The position at xi and eta, in degrees, of the plane that touches the sphere at 50, 60. */
static void tangent(double xi, double eta, double *lon, double *lat) {
    const double degree = M_PI / 180, pole = 60 * degree;
    const double across = cos(pole) - eta * degree * sin(pole);
    *lon = 50 + atan2(xi * degree, across) / degree;
    *lat = atan2(sin(pole) + eta * degree * cos(pole), hypot(xi * degree, across)) / degree;
}

/* One scale in all spellings, with a turn of 30 degrees or without one. */
static const struct {
    const char *cards;
    double xi[2], eta[2]; /* degrees per pixel along x and y */
    bool is_swapped;      /* the latitude first */
} scales[] = {
    {PLACE("50", "60") CD("-0.01", "0", "0", "0.02"), {-0.01, 0}, {0, 0.02}, false},
    {PLACE("50", "60") STEP("-0.01", "0.02"), {-0.01, 0}, {0, 0.02}, false},
    {PLACE("50", "60") STEP("-0.01", "0.02") "PC1_1   = 1\nPC2_2   = 1\n",
     {-0.01, 0},
     {0, 0.02},
     false},
    {PLACE("50", "60") STEP("0.1", "0.1") "PC1_1   = -0.1\nPC1_2   = 0.03\nPC2_1   = 0.04\n"
                                          "PC2_2   = 0.2\n",
     {-0.01, 0.003},
     {0.004, 0.02},
     false},
    {PLACE("50", "60") CD("-0.01", "0.003", "0.004", "0.02"), {-0.01, 0.003}, {0.004, 0.02}, false},
    {PLACE("180000", "216000") CD("-36", "10.8", "14.4", "72") "CUNIT1  = 'arcsec'\n"
                                                               "CUNIT2  = 'arcsec'\n",
     {-0.01, 0.003},
     {0.004, 0.02},
     false},
    {PLACE("180000", "3600") STEP("-36", "1.2") "CUNIT1  = 'arcsec'\nCUNIT2  = 'arcmin'\n",
     {-0.01, 0},
     {0, 0.02},
     false},
    {PLACE("50", "60") STEP("-0.02", "0.02") "CROTA2  = 30\n",
     {-0.017320508075688773, -0.01},
     {-0.01, 0.017320508075688773},
     false},
    {PLACE("60", "50") STEP("0.02", "-0.01"), {0, -0.01}, {0.02, 0}, true},
    {PLACE("60", "50") CD("0.004", "0.02", "-0.01", "0.003"), {-0.01, 0.003}, {0.004, 0.02}, true},
};

/* Asserts that positions are those of the cards' polynomials on a scale, and pixels those of the
 * positions; with `is_linear` the polynomials do not count. */
static void assert_polynomials(size_t scale, const char *code, const char *cards, bool is_linear) {
    static const double x[] = {0, 60.25, 40}, y[] = {0, -30.5, 5};
    const bool swapped = scales[scale].is_swapped;
    char text[1024];
    double lon[3], lat[3], x_again[3], y_again[3];
    struct srcfind_image image;
    struct error error;
    snprintf(text, sizeof text, "CTYPE1  = '%s%s'\nCTYPE2  = '%s%s'\n%s%s",
             swapped ? "DEC--" : "RA---", code, swapped ? "RA---" : "DEC--", code,
             scales[scale].cards, cards);
    struct wcs *wcs = wcs_of(text, &image);
    if (!wcs)
        fail_msg("%s: there is no sky in\n%s", image.no_sky, text);
    assert_int_equal(wcs_positions(wcs, 3, x, y, lon, lat, &error), SRCFIND_OK);
    assert_int_equal(wcs_pixels(wcs, 3, lon, lat, x_again, y_again, &error), SRCFIND_OK);
    wcs_close(wcs);
    for (int i = 0; i < 3; i++) {
        const double *xi = scales[scale].xi, *eta = scales[scale].eta, dx = x[i] - 9,
                     dy = y[i] - 19;
        const double u = xi[0] * dx + xi[1] * dy, v = eta[0] * dx + eta[1] * dy;
        double true_lon, true_lat;
        tangent(is_linear ? u : polynomial(cards, 1 + swapped, u, v),
                is_linear ? v : polynomial(cards, 2 - swapped, v, u), &true_lon, &true_lat);
        if (!(fabs(lon[i] - true_lon) < 1e-10 && fabs(lat[i] - true_lat) < 1e-10))
            fail_msg("%s scale %zu: %.12f %.12f is not %.12f %.12f with\n%s", code, scale, lon[i],
                     lat[i], true_lon, true_lat, cards);
        assert_within(x_again[i], x[i], 1e-6);
        assert_within(y_again[i], y[i], 1e-6);
    }
}

/* One scale in all spellings gives the same positions; linear terms that are missing are 1. */
static void polynomials(void **state) {
    static const struct {
        const char *cards;
        bool is_of_scamp; /* in a TAN projection, in whichever order the axes are */
    } known[] = {
        {"PV1_1   = 1.01\nPV2_1   = 0.99\n", true},
        {"PV1_0   = 1E-3\nPV1_1   = 1.01\nPV2_0   = -2E-3\nPV2_1   = 0.99\nPV2_2   = 0.03\n", true},
        {"PV1_1   = 1\nPV1_4   = 1E-2\nPV2_1   = 1\nPV2_4   = 2E-2\nPV2_6   = -1E-2\n", true},
        {"PV1_1   = 1.01\nPV1_7   = 2E-2\nPV2_1   = 1.02\nPV2_10  = 1E-2\nPV2_8   = 3E-2\n", true},
        {"PV1_1   = 1\nPV1_3   = 1E-2\nPV1_11  = 1E-3\nPV2_1   = 1\nPV2_12  = 1E-2\n", true},
        {"PV1_1   = 1\nPV1_17  = 1E-2\nPV1_24  = 1E-3\nPV2_1   = 1\nPV2_39  = 1E-3\n", true},
        {"PV1_5   = 1E-2\nPV2_5   = -2E-2\n", true},
        {"PV1_7   = 1E-2\nPV2_1   = 1.01\nPV2_7   = 1E-2\n", true},
        {"PV1_2   = 1E-2\nPV1_9   = 1E-2\nPV2_2   = 1E-2\nPV2_6   = 1E-2\n", false},
        {"PV1_1   = 1.01\nPV1_4   = 1E-2\n", false},
        {"PV2_1   = 1.01\nPV2_4   = 1E-2\n", false},
        {"PV2_0   = 1E-3\n", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t j = 0; j < sizeof scales / sizeof *scales; j++) {
            assert_polynomials(j, "TPV", known[i].cards, false);
            if (known[i].is_of_scamp)
                assert_polynomials(j, "TAN", known[i].cards, false);
        }
    }
    for (size_t j = 0; j < sizeof scales / sizeof *scales; j++)
        if (!scales[j].is_swapped) { /* alone, and no term of TAN's longitude */
            assert_polynomials(j, "TAN", "PV1_9   = 1E-2\n", false);
            assert_polynomials(j, "TPV", "", false);
        }
}

/* What another projection left over changes nothing. */
static void left_over(void **state) {
    static const char *const known[] = {
        "PV2_1   = 1\nPV2_2   = 0\n",
        "PV2_1   = 1\nPV2_3   = -50\n",                            /* ZPN */
        "PV2_0   = 0\nPV2_1   = 1\nPV2_3   = -50\nPV2_5   = 8\n",  /* ZPN */
        "PV2_1   = 2\nPV2_2   = 180\nPV2_3   = 60\n",              /* SZP */
        "PV2_1   = 45\nPV2_2   = 25\n",                            /* COE */
        "PV2_1   = 0\nPV2_2   = 0\n",                              /* SIN */
        "PV1_1   = 0\nPV1_2   = 90\nPV2_1   = 1\nPV2_3   = -50\n", /* phi0, theta0 */
        "PV1_1   = 0\nPV2_1   = 0\nPV1_5   = 0\nPV2_5   = 0\n",
        "PV2_35  = 1\n"};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t j = 0; j < sizeof scales / sizeof *scales; j++)
            if (!scales[j].is_swapped)
                assert_polynomials(j, "TAN", known[i], true);
}

/* Pixels beside the sky have no position, and longitudes are 0 ... 360 whatever CRVAL1 is. */
static void odd_positions(void **state) {
    static const double x[] = {9, 400, 9.5, 8.5}, y[] = {19, 19, 19, 19};
    static const char *const longitudes[] = {"0", "-360", "-1E-20", "720"};
    struct error error;
    (void)state;
    for (int i = 0; i < 4; i++) {
        char cards[512];
        double lon[4], lat[4];
        struct srcfind_image image;
        snprintf(cards, sizeof cards, SIN STEP("-0.25", "0.25") PLACE("%s", "0"), longitudes[i]);
        struct wcs *wcs = wcs_of(cards, &image);
        assert_int_equal(wcs_positions(wcs, 4, x, y, lon, lat, &error), SRCFIND_OK);
        assert_true(lon[0] >= 0 && lon[0] < 1e-12 && fabs(lat[0]) < 1e-12);
        assert_true(isnan(lon[1]) && isnan(lat[1])); /* 97 degrees from the centre */
        assert_within(lon[2], 359.875, 1e-6);
        assert_within(lon[3], 0.125, 1e-6);
        assert_int_equal(wcs_positions(wcs, 0, NULL, NULL, NULL, NULL, &error), SRCFIND_OK);
        wcs_close(wcs);
    }
}

/* Asserts that wcs_pixels gives the pixels of the positions that wcs_positions gives. */
static void assert_inverse(struct wcs *wcs) {
    static const double x[] = {0, 100.25, 9, -31.5, 55.75}, y[] = {0, -50.5, 19, 40.125, 63};
    double lon[5], lat[5], x_again[5], y_again[5];
    struct error error;
    assert_int_equal(wcs_positions(wcs, 5, x, y, lon, lat, &error), SRCFIND_OK);
    assert_int_equal(wcs_pixels(wcs, 5, lon, lat, x_again, y_again, &error), SRCFIND_OK);
    for (int i = 0; i < 5; i++) {
        assert_within(x_again[i], x[i], 1e-9);
        assert_within(y_again[i], y[i], 1e-9);
    }
    for (int i = 0; i < 5; i++)
        lon[i] += i % 2 ? 360 : -720;
    assert_int_equal(wcs_pixels(wcs, 5, lon, lat, x_again, y_again, &error), SRCFIND_OK);
    for (int i = 0; i < 5; i++)
        assert_within(x_again[i], x[i], 1e-9);
}

/* Opens plane 4, 2 of a cube with four axes. */
static struct wcs *wcs_of_cube(const char *cards, struct srcfind_image *image) {
    struct header header = header_of(cards);
    struct wcs *wcs;
    struct error error;
    *image = image_empty_metadata();
    image->n_axes = 4;
    image->plane[0] = 3;
    image->plane[1] = 1;
    for (int i = 2; i < 4; i++)
        header_indexed(&header, "NAXIS", i + 1, &image->axes[i]);
    assert_int_equal(wcs_open(&header, image, &wcs, &error), SRCFIND_OK);
    header_clear(&header);
    return wcs;
}

/* All projections, frames, orders of the axes; planes of cubes, whose further axes may turn with
 * the first ones. */
static void pixels_of_positions(void **state) {
    static const char *const cubes[] = {
        SIN PLACE("50", "-89.75") STEP("-0.01", "0.02") CUBE,
        TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60") STEP("-0.01", "0.02") CUBE,
        SIN PLACE("50", "60") STEP("-0.01", "0.02") CUBE "PC1_3   = 0.5\nPC2_3   = -7",
        TYPE("GLAT-SIN", "GLON-SIN") PLACE("2", "30") STEP("0.01", "-0.01") VELOCITY};
    (void)state;
    for (size_t i = 0; i < sizeof skies / sizeof *skies; i++) {
        struct srcfind_image image;
        struct wcs *wcs = wcs_of(skies[i].cards, &image);
        assert_inverse(wcs);
        wcs_close(wcs);
    }
    for (size_t i = 0; i < sizeof cubes / sizeof *cubes; i++) {
        struct srcfind_image image;
        struct wcs *wcs = wcs_of_cube(cubes[i], &image);
        assert_inverse(wcs);
        wcs_close(wcs);
    }
}

/* A further axis changes no position, whether WCSLIB can use it or not. */
static void further_axes(void **state) {
    static const char *const skies_of[] = {
        USUAL, TYPE("DEC--TAN", "RA---TAN") PLACE("60", "50") CD("0.01", "0.002", "0.003", "-0.02"),
        TYPE("GLON-CAR", "GLAT-CAR") PLACE("359.75", "0")
            STEP("-0.01", "0.02") "PC1_2   = 0.2\nPC2_1   = -0.1\n",
        TYPE("RA---TAN-SIP", "DEC--TAN-SIP") PLACE("50", "60")
            CD("-0.01", "0", "0",
               "0.02") "A_ORDER = 2\nB_ORDER = 2\nA_2_0   = 1E-4\nB_1_1   = -2E-4\n"};
    static const char *const further[] = {
        CUBE,
        VELOCITY,
        "CTYPE3  = 'FREQ'\nCRVAL3  = 1.4E9\nCRPIX3  = 1\nCDELT3  = 0",
        "CTYPE3  = 'VELO-LSR'\nCRVAL3  = 10\nCRPIX3  = 1\nCDELT3  = 1\nCUNIT3  = 'KM/S'",
        "CTYPE3  = 'FREQ'\nCRVAL3  = 1.4E9\nCDELT3  = 1E6\nCUNIT3  = 'furlong'",
        "CTYPE3  = 'FREQ'\nCRVAL3  = '1.4E9'\nCDELT3  = east\nCRPIX3  = NaN",
        "CTYPE3  = 'FREQ-LOG'\nCRVAL3  = 0\nCRPIX3  = 1\nCDELT3  = 1E6",
        "CTYPE3  = 'VOPT-F2W'\nCRVAL3  = 1E6\nCRPIX3  = 1\nCDELT3  = 1E3",
        "CTYPE3  = 'FREQ-XYZ'\nCRVAL3  = 1\nCDELT3  = 1",
        "CTYPE3  = 'WAVE-TAB'\nCRVAL3  = 1\nCDELT3  = 1",
        "CTYPE3  = 'LINEAR'\nCRVAL3  = 1\nCDELT3  = -1\n%s3_1   = 7\n%s3_3   = 1",
        "CTYPE3  = 'STOKES'\nCRVAL3  = 1\nCDELT3  = 0\nCTYPE4  = 'FREQ'\nCDELT4  = 0",
        "CTYPE3  = 'FREQ-LSR'\nCDELT3  = 1\nCTYPE4  = 'FREQ-F2W'\nCDELT4  = 1",
        "CTYPE3  = 'RA---TAN'\nCDELT3  = 1\nCRVAL3  = 1",
        /* CD of this axis alone: the sky has its own scales */
        "CTYPE3  = 'FREQ'\nCRVAL3  = 1.4E9\nCRPIX3  = 1\nCDELT3  = 0\nCD3_3   = 0",
        "CTYPE3  = 'FREQ'\nCRVAL3  = 1.4E9\nCRPIX3  = 1\nCD003003= 1E6",
        "CTYPE3  = 'FREQ'\nCRVAL3  = 1.4E9\nCRPIX3  = 1\nCD3_1   = 7\nCD03_03 = 0",
        "CTYPE3  = 'FREQ'\nCRVAL3  = 1.4E9\nCRPIX3  = 1\nCDELT3  = 0\nPC3_3   = 0",
        "CTYPE3  = 'CUBEFACE'\nCDELT3  = 1\nCTYPE4  = 'CUBEFACE'\nCDELT4  = 1",
    };
    static const double x[] = {0, 100.25, 9}, y[] = {0, -50.5, 19};
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof skies_of / sizeof *skies_of; i++) {
        double lon[3], lat[3], x_again[3], y_again[3];
        struct srcfind_image flat;
        struct wcs *wcs = wcs_of(skies_of[i], &flat);
        assert_int_equal(wcs_positions(wcs, 3, x, y, lon, lat, &error), SRCFIND_OK);
        assert_int_equal(wcs_pixels(wcs, 3, lon, lat, x_again, y_again, &error), SRCFIND_OK);
        wcs_close(wcs);
        for (size_t j = 0; j < sizeof further / sizeof *further; j++) {
            double at_lon[3], at_lat[3], at_x[3], at_y[3];
            char cards[1024];
            struct srcfind_image image;
            const char *matrix = strstr(skies_of[i], "CD1_1") ? "CD" : "PC";
            const int n = snprintf(cards, sizeof cards, "%s", skies_of[i]);
            snprintf(cards + n, sizeof cards - (size_t)n, further[j], matrix, matrix);
            wcs = wcs_of_cube(cards, &image);
            if (!wcs)
                fail_msg("%s: there is no sky beside\n%s", image.no_sky, further[j]);
            assert_int_equal(wcs_positions(wcs, 3, x, y, at_lon, at_lat, &error), SRCFIND_OK);
            assert_int_equal(wcs_pixels(wcs, 3, lon, lat, at_x, at_y, &error), SRCFIND_OK);
            wcs_close(wcs);
            ASSERT_SAME(at_lon, lon);
            ASSERT_SAME(at_lat, lat);
            ASSERT_SAME(at_x, x_again);
            ASSERT_SAME(at_y, y_again);
            assert_true(image.pixel_area == flat.pixel_area);
            assert_string_equal(image.frame, flat.frame);
        }
    }
}

/* Rows of CD without cards are those of CDELT and CROTA. */
static void rows_of_cd(void **state) {
    static const struct {
        const char *cards;
        double lon, lat; /* degrees of x and y from 0, 0 per pixel along x */
    } known[] = {
        {STEP("-0.01", "0.02") "CD3_3   = 1", -0.01, 0},
        {STEP("-0.01", "0.01") "CROTA2  = 90\nCD3_3   = 1", 0, -0.01},
        {STEP("-0.01", "0.01") "CROTA2  = 90\nCD003003= 0", 0, -0.01},
        {"CD1_1   = -0.03\nCDELT1  = 7\nCDELT2  = 0.02", -0.03, 0},
        {"CD2_1   = 0.04\nCD2_2   = 0.01\nCDELT1  = -0.02\nCDELT2  = 7", -0.02, 0.04},
        {STEP("-0.01", "0.02") "PC1_1   = 2\nCD3_3   = 1\nCD1_1   = 9", -0.02, 0},
        {STEP("-0.01", "0.02") "CD1_1A  = 5\nCD3_3   = 1", -0.01, 0},
    };
    const double x = 10, y = 19;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char cards[512];
        double lon, lat;
        struct srcfind_image image;
        struct error error;
        snprintf(cards, sizeof cards, TYPE("RA---CAR", "DEC--CAR") PLACE("50", "0") "%s",
                 known[i].cards);
        struct wcs *wcs = wcs_of_cube(cards, &image);
        if (!wcs)
            fail_msg("%s: there is no sky in\n%s", image.no_sky, known[i].cards);
        assert_int_equal(wcs_positions(wcs, 1, &x, &y, &lon, &lat, &error), SRCFIND_OK);
        wcs_close(wcs);
        assert_within(lon, 50 + known[i].lon, 1e-12);
        assert_within(lat, known[i].lat, 1e-12);
    }
}

/* Cylindrical projections go on beyond half a turn of native longitude, as the strips of galactic
 * surveys do whose reference point is at longitude 0. Positions by astropy, unchecked. */
static void beyond_half_a_turn(void **state) {
    static const struct {
        const char *cards;
        double sky[4];
    } known[] = {
        {TYPE("GLON-CAR", "GLAT-CAR"), {64.5, 15.5, 244.5, -24.5}},
        {TYPE("GLON-CEA", "GLAT-CEA"), {64.5, 15.695571331654, 244.5, -25.315705431174}},
        {TYPE("RA---MER", "DEC--MER"), {64.5, 15.314327640024, 244.5, -23.785791613209}},
        {TYPE("RA---CYP", "DEC--CYP") "PV2_1   = 1\nPV2_2   = 0.5\n",
         {119, 20.446869938102, 119, -31.822569646906}},
        {TYPE("RA", "DEC"), {64.5, 15.5, 244.5, -24.5}}, /* without a projection */
        {TYPE("GLAT-CAR", "GLON-CAR"), {0, 0, 0, 0}},    /* there and back alone */
        {TYPE("GLON-CAR", "GLAT-CAR") "CROTA2  = 3\n", {0, 0, 0, 0}},
    };
    static const double x[] = {-800, 1000}, y[] = {50, -30};
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int j = 0; j < 2; j++) {
            struct srcfind_image image = image_empty_metadata();
            struct wcs *wcs, *copy;
            char cards[512];
            double lon, lat, x_again, y_again;
            snprintf(cards, sizeof cards,
                     "%sCRPIX1  = %g\nCRPIX2  = %g\nCRVAL%d  = 10\n" STEP("-0.5", "0.5"),
                     known[i].cards, i == 5 ? 20 - y[j] : 30 - x[j], i == 5 ? 30 - x[j] : 20 - y[j],
                     i == 5 ? 2 : 1);
            struct header header = header_of(cards);
            image.n_axes = 2;
            image.width = image.height = 3; /* and the first pixel is where x and y say */
            assert_int_equal(wcs_open(&header, &image, &wcs, &error), SRCFIND_OK);
            header_clear(&header);
            const double zero = 0;
            copy = wcs_copy(wcs);
            assert_int_equal(wcs_positions(copy, 1, &zero, &zero, &lon, &lat, &error), SRCFIND_OK);
            if (i < 5) {
                assert_within(lon, known[i].sky[2 * j], 1e-9);
                assert_within(lat, known[i].sky[2 * j + 1], 1e-9);
            }
            assert_int_equal(wcs_pixels(copy, 1, &lon, &lat, &x_again, &y_again, &error),
                             SRCFIND_OK);
            assert_within(x_again, 0, 1e-9);
            assert_within(y_again, 0, 1e-9);
            wcs_close(copy);
            wcs_close(wcs);
        }
    }
}

/* Pixels that only a rounded CDELT puts beyond the edge of the sky have a position; those beside
 * the sky have none. */
static void edges(void **state) {
    static const struct {
        const char *cards;
        double x, y;     /* from the reference pixel */
        double lon, lat; /* NaN: it is beside the sky */
    } known[] = {
        {TYPE("RA---CAR", "DEC--CAR") STEP("-1.000000000001", "1.000000000001"), -180, 45, 180, 45},
        {TYPE("RA---CAR", "DEC--CAR") STEP("-1.000000000001", "1.000000000001"), 180, -90, 0, -90},
        {TYPE("RA---CAR", "DEC--CAR") STEP("-1.0000001", "1.0000001"), 0, 90, 0, 90},
        {TYPE("RA---CAR", "DEC--CAR") STEP("-1", "1"), 0, 90.02, NAN, NAN},
        {TYPE("RA---CAR", "DEC--CAR") STEP("-1", "1"), 0, -95, NAN, NAN},
        {TYPE("RA---CEA", "DEC--CEA") STEP("-1", "1"), 12, 57.29577951309, 348, 90},
        {TYPE("RA---CEA", "DEC--CEA") STEP("-1", "1"), 12, 57.3, NAN, NAN},
        {TYPE("RA---SFL", "DEC--SFL") STEP("-1.000000000001", "1"), 180, 0, 180, 0},
        {TYPE("RA---SFL", "DEC--SFL") STEP("-1", "1"), 180, 60, NAN, NAN},
        {TYPE("RA---AIT", "DEC--AIT") STEP("-1", "1"), 160, 75, NAN, NAN},
        {TYPE("RA---SIN", "DEC--SIN") STEP("-1", "1"), 0, 57.2958, NAN, NAN},
        {TYPE("RA---SIN", "DEC--SIN") STEP("-1", "1"), 58, 0, NAN, NAN},
    };
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct srcfind_image image;
        char cards[512];
        double lon, lat;
        const double x = known[i].x + 9, y = known[i].y + 19;
        snprintf(cards, sizeof cards, "%s" PLACE("0", "0"), known[i].cards);
        struct wcs *wcs = wcs_of(cards, &image);
        assert_int_equal(wcs_positions(wcs, 1, &x, &y, &lon, &lat, &error), SRCFIND_OK);
        wcs_close(wcs);
        if (isnan(known[i].lon) != isnan(lon))
            fail_msg("edge %zu: %g %g", i, lon, lat);
        if (isnan(lon))
            continue;
        const double east = remainder(lon - known[i].lon, 360) * cos(lat * M_PI / 180);
        assert_within(east, 0, 1e-5);
        assert_within(lat, known[i].lat, i == 5 ? 0.02 : 1e-5); /* CEA is flat there */
    }
}

/* Positions on the other side of the sky, or none at all, have no pixel, and spoil no other one. */
static void positions_without_a_pixel(void **state) {
    static const char *const projections[] = {SIN PLACE("50", "60") STEP("-0.25", "0.25"),
                                              TYPE("RA---TAN", "DEC--TAN") PLACE("50", "60")
                                                  STEP("-0.25", "0.25")};
    const double lon[] = {230, 50, NAN, 50, INFINITY, 50}, lat[] = {-60, 60, 60, NAN, 60, -31};
    struct error error;
    (void)state;
    for (int i = 0; i < 2; i++) {
        double x[6], y[6];
        struct srcfind_image image;
        struct wcs *wcs = wcs_of(projections[i], &image);
        assert_int_equal(wcs_pixels(wcs, 6, lon, lat, x, y, &error), SRCFIND_OK);
        for (int j = 0; j < 6; j++)
            assert_true(j == 1 || (isnan(x[j]) && isnan(y[j])));
        assert_within(x[1], 9, 1e-12);
        assert_within(y[1], 19, 1e-12);
        assert_int_equal(wcs_pixels(wcs, 0, NULL, NULL, NULL, NULL, &error), SRCFIND_OK);
        wcs_close(wcs);
    }
}

static void headers_without_a_sky(void **state) {
    static const struct {
        const char *cards, *reason;
    } known[] = {
        {"", ""},
        {"OBJECT  = 'M 31'", ""},
        {PLACE("50", "60") STEP("-0.01", "0.01"), ""},
        {TYPE("LINEAR", "LINEAR") PLACE("50", "60") STEP("-0.01", "0.01"),
         "axis 1 is LINEAR, axis 2 LINEAR"},
        {TYPE("RA---SIN", "LINEAR") PLACE("50", "60") STEP("-0.01", "0.01"),
         "axis 1 is RA---SIN, axis 2 LINEAR"},
        {TYPE("RA---SIN", "DEC--TAN") PLACE("50", "60") STEP("-0.01", "0.01"),
         "WCSLIB says: Inconsistent projection types (expected DEC--SIN, got DEC--TAN in CTYPE2): "
         "axis 1 is RA---SIN, axis 2 DEC--TAN: correct"},
        {TYPE("RA---XYZ", "DEC--XYZ") PLACE("50", "60") STEP("-0.01", "0.01"),
         "WCSLIB says: Unrecognized projection code (XYZ in CTYPE1): axis 1 is RA---XYZ, axis 2 "
         "DEC--XYZ"},
        {TYPE("RA---TAB", "DEC--TAB") PLACE("50", "60") STEP("-0.01", "0.01"),
         "WCSLIB says: Unrecognized projection code (tab in CTYPE1): axis 1 is RA---TAB, axis 2 "
         "DEC--TAB"},
        /* what is refused at depth: WCSLIB's words name the card */
        {TYPE("RA---TAN-SIP", "DEC--TAN-SIP") PLACE("50", "60")
             STEP("1", "1") "A_ORDER = 10\nA_5_5   = 1",
         "WCSLIB says: Invalid powers (5, 5) for SIP on axis 1: DP1.SIP.FWD.5_5: axis 1 is "
         "RA---TAN-SIP, axis 2 DEC--TAN-SIP: correct"},
        {SIN PLACE("50", "60") STEP("1", "1") "PV1_7   = 1",
         "WCSLIB says: PV1_7 : Unrecognized coordinate transformation parameter: axis 1 is"},
        /* words of several lines become one line, and all of them fit */
        {SIN PLACE("50", "100") STEP("1", "1"),
         "WCSLIB says: Ill-conditioned coordinate transformation parameters No valid solution for "
         "latp "
         "for these values of phip, phi0, and theta0: axis 1 is RA---SIN, axis 2 DEC--SIN: "
         "correct"},
        {TYPE("RA---CAR", "DEC--CAR") PLACE("50", "30") STEP("1", "1") "LONPOLE = 90",
         "WCSLIB says: Invalid coordinate description: lat0 == 0 is required for |phip - phi0| = "
         "90 "
         "and theta0 == 0: axis 1 is RA---CAR, axis 2 DEC--CAR: correct the header"},
        {TYPE("RA---CAR", "DEC--CAR") PLACE("50", "30") STEP("1", "1") "LONPOLE = 100",
         "WCSLIB says: Invalid coordinate description: |lat0| <= 10.000 is required for these "
         "values of phip, phi0, and theta0: axis 1 is RA---CAR, axis 2 DEC--CAR: correct the "
         "header"},
        {"CTYPE1  = 'RA---SIN'\nCTYPE2  = 'FREQ'\nCTYPE3  = 'DEC--SIN'\nCDELT1  = 1\nCDELT2  = 1",
         "its plane is not the sky: axis 1 is RA---SIN, axis 2 FREQ, axis 3 DEC--SIN"},
        {"CTYPE1  = 'FREQ'\nCTYPE2  = 'RA---SIN'\nCTYPE3  = 'DEC--SIN'\nCDELT1  = 1\nCDELT2  = 1",
         "its plane is not the sky: axis 1 is FREQ, axis 2 RA---SIN, axis 3 DEC--SIN"},
        {"CTYPE3  = 'GLAT-CAR'\nCTYPE4  = 'GLON-CAR'\nCDELT1  = 1\nCDELT2  = 1",
         "its plane is not the sky: axis 1 is without CTYPE, axis 2 without CTYPE, axis 3 "
         "GLAT-CAR, axis 4 GLON-CAR"},
        {"CTYPE1A = 'RA---SIN'\nCTYPE2A = 'DEC--SIN'\nCDELT1A = 1\nCDELT2A = 1", ""},
        {SIN PLACE("50", "60"), "there is no CDELT1"},
        {SIN PLACE("50", "60") "CDELT1  = 1", "there is no CDELT2"},
        {SIN PLACE("50", "60") "CDELT2  = 1", "there is no CDELT1"},
        {SIN PLACE("50", "60") STEP("0", "0.01"), "CDELT1 is 0: correct the header"},
        /* WCSLIB takes rows of CD that are 0 for left out, and pixels of a degree instead */
        {SIN PLACE("50", "60") CD("0", "0", "0", "0"), "CD1_1 and CD1_2 are 0"},
        {SIN PLACE("50", "60") CD("0", "0", "0", "0") STEP("-0.01", "0.01"),
         "CD1_1 and CD1_2 are 0"},
        {SIN PLACE("50", "60") CD("-0.01", "0", "0", "0"), "CD2_1 and CD2_2 are 0"},
        {SIN PLACE("50", "60") "CD1_1   = 0.01", "there is no CDELT2"},
        {SIN PLACE("50", "60") "CD1_1   = 0.01\nCD2_2   = 0\nCDELT2  = 1", "CD2_1 and CD2_2 are 0"},
        {SIN PLACE("50", "60") STEP("1E-200", "1E-200"), "the area of a pixel is 0 square degrees"},
        {SIN PLACE("50", "60") STEP("1E200", "1E200"), "the area of a pixel is inf square degrees"},
        {SIN PLACE("50", "60") CD("1", "2", "2", "4"),
         "WCSLIB says: Linear transformation matrix is singular"},
        {SIN PLACE("50", "60") CD("1", "0x2", "0", "1"), "CD1_2 is no number: 0x2"},
        {SIN PLACE("50", "60") STEP("1", "1") "PC1_1   = 1\nPC1_2   = 1\nPC2_1   = 1\nPC2_2   = 1",
         "WCSLIB says: Linear transformation matrix is singular"},
        {SIN PLACE("50", "60") STEP("1", "1") "PC1_1   = 0\nPC2_2   = 0",
         "WCSLIB says: Linear transformation matrix is singular"},
        {SIN PLACE("50", "60") STEP("-0.01", "0.01") "CUNIT2  = 'furlong'",
         "CUNIT2 is no angle: furlong: correct"},
        {SIN PLACE("50", "60") STEP("-0.01", "0.01") "CUNIT1  = 'furlong '",
         "CUNIT1 is no angle: furlong: correct"},
        {SIN PLACE("NaN", "60") STEP("-0.01", "0.01"), "CRVAL1 is no number: NaN"},
        {SIN PLACE("'50'", "60") STEP("-0.01", "0.01"),
         "CRVAL1 is no number: '50': correct the header"},
        {SIN PLACE("'x       '", "60") STEP("-0.01", "0.01"), "CRVAL1 is no number: 'x': correct"},
        {TYPE("ra---sin", "dec--sin") PLACE("50", "60") STEP("-0.01", "0.01"),
         "axis 1 is ra---sin, axis 2 dec--sin: write CTYPE1 and CTYPE2 in capital letters"},
        {TYPE("glat-car", "GLON-car") PLACE("50", "60") STEP("-0.01", "0.01"),
         "axis 1 is glat-car, axis 2 GLON-car: write CTYPE1"},
        {SIN PLACE("50", "60") STEP("-0.01", "0.01") "LONPOLE = east",
         "LONPOLE is no number: east"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct srcfind_image image;
        if (wcs_of(known[i].cards, &image))
            print_error("there is a sky in:\n%s\n", known[i].cards);
        assert_true(isnan(image.pixel_area) && isnan(image.equinox) && !*image.frame);
        assert_true(!*image.lon_name && !*image.lat_name);
        if (strncmp(image.no_sky, known[i].reason, strlen(known[i].reason)) != 0 ||
            (*image.no_sky && !*known[i].reason))
            fail_msg("%s is not %s", image.no_sky, known[i].reason);
    }
}

/* FITS standard 4.0, section 8.3: the frame without RADESYS follows from EQUINOX. */
static void frames(void **state) {
    static const struct {
        const char *cards, *frame;
        double equinox;
    } known[] = {
        {SIN, "ICRS", NAN},
        {SIN "EQUINOX = 1983.9", "FK4", 1983.9},
        {SIN "EQUINOX = 1984.0", "FK5", 1984},
        {SIN "EPOCH   = 1950.0", "FK4", 1950},
        {SIN "RADESYS = 'FK5'\nEQUINOX = 1950", "FK5", 1950},
        {SIN "EPOCH   = 0.0", "ICRS", NAN}, /* is no epoch */
        {SIN "EQUINOX = 0", "ICRS", NAN},
        {SIN "RADESYS = 'FK4'\nEQUINOX = 0", "FK4", 1950},
        {SIN "RADESYS = 'icrs'\nEQUINOX = 2000", "ICRS", NAN},
        {SIN "RADESYS = ' fk5 '", "FK5", 2000},
        {SIN "RADECSYS= 'FK5-'", "FK5", 2000},
        {SIN "RADESYS = 'fk4'\nEQUINOX = 1950", "FK4", 1950},
        {SIN "RADESYS = 'fk4-no-e'", "FK4-NO-E", 1950},
        {SIN "RADESYS = 'J2000'", "FK5", 2000},
        {SIN "RADESYS = 'mine'", "MINE", NAN},
        {TYPE("ELON-SIN", "ELAT-SIN") "RADESYS = 'fk5'", "ECLIPTIC", 2000},
        {TYPE("GLAT-SIN", "GLON-SIN"), "GALACTIC", NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char cards[512];
        struct srcfind_image image;
        snprintf(cards, sizeof cards, PLACE("50", "60") STEP("-1", "1") "%s", known[i].cards);
        struct wcs *wcs = wcs_of(cards, &image);
        assert_non_null(wcs);
        assert_string_equal(image.frame, known[i].frame);
        assert_true(image.equinox == known[i].equinox ||
                    (isnan(image.equinox) && isnan(known[i].equinox)));
        wcs_close(wcs);
    }
}

/* That of the plane, also beside coordinates that WCSLIB refuses; that of the line where there is
 * no spectral axis. */
static void frequencies(void **state) {
    static const struct {
        const char *cards;
        double frequency;
    } known[] = {
        {USUAL CUBE "RESTFRQ = 1E9", 1.402e9},
        {TYPE("RA---XYZ", "DEC--XYZ") STEP("-1", "1") CUBE, 1.402e9},
        {SIN PLACE("50", "60") STEP("0", "0") CUBE, 1.402e9},
        {USUAL "FREQ    = 3E9\nRESTFREQ= 2E9", 2e9},
        {USUAL "CTYPE3  = 'FREQ'\nCUNIT3  = 'MHz'\nCRVAL3  = 1400\nCDELT3  = 0.5\nCRPIX3  = 1",
         1.401e9},
        {USUAL "CTYPE3  = 'FREQ'\nCUNIT3  = 'GHz'\nCRVAL3  = 1.4\nCDELT3  = 0\nCRPIX3  = 1", 1.4e9},
        {USUAL LINE("'kHz'", "1.4E6", "500") "CTYPE4  = 'STOKES'\nCDELT4  = 0", 1.401e9},
        {USUAL LINE("'ghz'", "1.4", "0.0005") "RESTFRQ = 1E9", 1.401e9},
        {TYPE("RA---XYZ", "DEC--XYZ") LINE("'MHz'", "1400", "0.5"), 1.401e9},
        {USUAL "CTYPE3  = 'STOKES'\nCDELT3  = 0\nCTYPE4  = 'FREQ'\nCUNIT4  = 'MHZ'\n"
               "CRVAL4  = 1400\nCRPIX4  = 1\nCDELT4  = 1",
         1.4e9},
        {USUAL LINE("'Hz'", "1.4E9", "5E5") "PC3_1   = 1E-3", 1.401e9},
        {USUAL LINE("'Hz'", "1.4E9", "5E5") "CD4_4   = 7", 1.401e9},
        {USUAL LINE("'Hz'", "1.4E9", "0") "CD3_3   = 0", 1.4e9},
        {USUAL LINE("'Hz'", "1.4E9", "0") "PC3_3   = 0", 1.4e9},
        {USUAL "CTYPE3  = 'Freq'\nCRPIX3  = 1\nCRVAL3  = 1.4\nCDELT3  = 0.001\nCUNIT3  = 'GHz'",
         1.402e9},
        {USUAL "CTYPE3  = 'Freq-tab'\nCRVAL3  = 1\nCDELT3  = 1", NAN},
        /* the reference pixel lies elsewhere */
        {USUAL "CTYPE3  = 'FREQ'\nCRPIX3  = -1399\nCRVAL3  = 0\nCDELT3  = 1E6", 1.402e9},
        {USUAL "CTYPE3  = 'FREQ'\nCUNIT3  = 'GHz'\nCRPIX3  = 1401\nCRVAL3  = 0\nCDELT3  = -1E-3",
         1.398e9},
        {USUAL "CTYPE3  = 'FREQ'\nCRPIX3  = -1409\nCRVAL3  = -1E7\nCD3_3   = 1E6", 1.402e9},
        {USUAL "CTYPE3  = 'FREQ'", NAN},
        {USUAL "CTYPE3  = 'FREQ'\nCRPIX3  = -1399\nCRVAL3  = 0", NAN},
        {USUAL "CTYPE3  = 'FREQ'\nCRVAL3  = 0\nCDELT3  = 1E6", NAN},
        {USUAL "CTYPE3  = 'FREQ-LOG'\nCRPIX3  = -1399\nCRVAL3  = 0\nCDELT3  = 1E6", NAN},
        /* what is no frequency */
        {USUAL LINE("'Hz'", "'1.4E9'", "1E6"), NAN},
        {USUAL LINE("'Hz'", "'1.4E9'", "1E6") "RESTFRQ = 1E9", NAN},
        {USUAL LINE("'Hz'", "0", "1E6"), NAN},
        {USUAL LINE("'Hz'", "-1E6", "1E6"), NAN},
        {USUAL LINE("'Hz'", "NaN", "1E6"), NAN},
        {USUAL LINE("'Hz'", "1.4E9", "'1E6'"), NAN},
        {USUAL LINE("'Hz'", "1E6", "-1E6"), NAN}, /* below 0 in this plane */
        {USUAL LINE("'m/s'", "1.4E9", "1E6"), NAN},
        {USUAL "CTYPE3  = 'FREQ-TAB'\nCRVAL3  = 1\nCDELT3  = 1", NAN},
        {USUAL "RESTFRQ = 0\nRESTFREQ= 'none'\nFREQ    = 3E9", 3e9},
        {USUAL "RESTFRQ = -1\nFREQ    = NaN", NAN},
        {USUAL "FREQ    = '1.4E9'", NAN},
        {USUAL "CTYPE3  = 'FREQ-LOG'\nCRVAL3  = 0\nCDELT3  = 1", NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct srcfind_image image;
        struct wcs *wcs = wcs_of_cube(known[i].cards, &image);
        if (isnan(known[i].frequency))
            assert_true(isnan(image.frequency));
        else
            assert_within(image.frequency, known[i].frequency, 1e-3);
        wcs_close(wcs);
    }
}

#define SPECTRAL(type, unit, value, step)                                                          \
    USUAL "CTYPE3  = '" type "'\nCUNIT3  = '" unit "'\nCRPIX3  = 1\nCRVAL3  = " value              \
          "\nCDELT3  = " step "\n"
#define OF_LINE "RESTFRQ = 1.4E9\n"

/* That of the third plane by astropy 5.2: sptr('FREQ-???') and wcs_pix2world. Where WCSLIB cannot
 * convert, there is none: the line's is not that of the plane. */
static void frequencies_of_other_axes(void **state) {
    static const struct {
        const char *cards;
        double frequency;
    } known[] = {
        {USUAL VELOCITY "RESTFRQ = 1E9", 999993328.71809602}, /* 1E9 (1 - 2000 / c) */
        {SPECTRAL("VRAD", "m/s", "1E6", "2E4") OF_LINE, 1395143306.77391},
        {SPECTRAL("VRAD", "km/s", "1E3", "20") OF_LINE, 1395143306.77391},
        {SPECTRAL("VRAD", "KM/S", "1E3", "20") OF_LINE, 1395143306.77391},
        {SPECTRAL("VRAD    ", "KM/S    ", "1E3", "20") OF_LINE, 1395143306.77391},
        {SPECTRAL("VRAD", "M/S     ", "1E6", "2E4") OF_LINE, 1395143306.77391},
        {SPECTRAL("vrad", "m/s", "1E6", "2E4") OF_LINE, 1395143306.77391},
        {SPECTRAL("VRAD", "", "1E6", "2E4") OF_LINE, 1395143306.77391},
        {SPECTRAL("VOPT", "m/s", "1E7", "2E4") OF_LINE, 1354633545.85013},
        {SPECTRAL("VOPT-F2W", "m/s", "1E7", "2E4") OF_LINE, 1354633523.26616},
        {SPECTRAL("VELO-F2V", "m/s", "1E7", "2E4") OF_LINE, 1353873663.9207},
        {SPECTRAL("VELO-W2V", "m/s", "1E7", "2E4") OF_LINE, 1353873688.07663},
        {SPECTRAL("VELO", "m/s", "1E7", "2E4") OF_LINE, 1353873675.19291},
        {SPECTRAL("VELO-LSR", "m/s", "1E7", "2E4") OF_LINE "VELREF  = 257", 1353114230.77895},
        {SPECTRAL("VELO-HEL", "m/s", "1E7", "2E4") OF_LINE "VELREF  = 2", 1354633545.85013},
        {SPECTRAL("VELO-OBS", "m/s", "1E7", "2E4") OF_LINE, 1354633545.85013},
        {SPECTRAL("FELO-HEL", "m/s", "1E7", "2E4") OF_LINE, 1354633523.26616},
        {SPECTRAL("FELO", "m/s", "1E7", "2E4") OF_LINE, 1354633523.26616},
        {SPECTRAL("FELO-LSR", "m/s", "1E7", "2E4") "RESTFREQ= 1.4E9\nVELREF  = 1",
         1354633523.26616},
        {SPECTRAL("ZOPT", "", "0.1", "1E-3") "RESTWAV = 0.21", 1295447489.41319},
        {SPECTRAL("BETA", "", "0.1", "1E-3") OF_LINE, 1263791432.17108},
        {SPECTRAL("WAVE", "cm", "21", "0.1"), 1414115367.92453},
        {SPECTRAL("WAVE-LOG", "m", "0.21", "1E-3"), 1414051641.4464114},
        {SPECTRAL("WAVE-F2W", "m", "0.21", "1E-3") OF_LINE, 1413987103.49206},
        {SPECTRAL("AWAV", "Angstrom", "5000", "1"), 599178032107990},
        {SPECTRAL("AWAV-V2A", "Angstrom", "5000", "1") "RESTWAV = 5E-7", 599177984148997},
        {SPECTRAL("ENER", "eV", "1E-5", "1E-7"), 2466346829.28077},
        {SPECTRAL("WAVN", "/m", "5", "0.1"), 1558920781.6},
        {SPECTRAL("AFRQ", "rad/s", "9E9", "1E6"), 1432712797.71324},
        /* beside coordinates that WCSLIB refuses, an axis of frequencies, other axes */
        {TYPE("RA---XYZ", "DEC--XYZ") "CDELT1  = 1\nCDELT2  = 1\n" VELOCITY "RESTFRQ = 1E9",
         999993328.71809602},
        {USUAL VELOCITY "CTYPE4  = 'FREQ'\nCRVAL4  = 1.3E9\nCRPIX4  = 1\nRESTFRQ = 1E9", 1.3e9},
        {USUAL VELOCITY "PC3_1   = 1E-3\nRESTFRQ = 1E9", 999993328.71809602},
        /* axes that are not spectral, or have one plane */
        {SPECTRAL("STOKES", "", "1", "1") OF_LINE "NAXIS3  = 4", 1.4e9},
        {SPECTRAL("TIME", "s", "1", "1") OF_LINE "NAXIS3  = 4", 1.4e9},
        {SPECTRAL("VLSR", "m/s", "1E6", "2E4") OF_LINE "NAXIS3  = 1", 1.4e9},
        /* what cannot be converted */
        {SPECTRAL("VLSR", "m/s", "1E6", "2E4") OF_LINE "NAXIS3  = 5", NAN},
        {SPECTRAL("VEL", "km/s", "1E3", "20") OF_LINE "NAXIS3  = 5", NAN},
        {SPECTRAL("VHEL-OPT", "km/s", "1E3", "20") OF_LINE "NAXIS3  = 5", NAN},
        {SPECTRAL("CHANNEL", "", "1", "1") "RESTFREQ= 1.4E9\nNAXIS3  = 5", NAN},
        {SPECTRAL("", "", "1", "1") "FREQ    = 1.4E9\nNAXIS3  = 5", NAN},
        {USUAL OF_LINE "NAXIS3  = 5", NAN},
        {SPECTRAL("STOKES", "", "1", "1") OF_LINE "NAXIS3  = 4\nCTYPE4  = 'VLSR'\nNAXIS4  = 3",
         NAN},
        {SPECTRAL("VRAD", "m/s", "1E6", "2E4"), NAN},
        {SPECTRAL("VRAD", "m/s", "1E6", "2E4") "FREQ    = 1.4E9", NAN},
        {SPECTRAL("VRAD", "m/s", "1E6", "2E4") "RESTFRQ = '1.4E9'", NAN},
        {SPECTRAL("VRAD", "m/s", "1E6", "2E4") "RESTFRQ = -1.4E9", NAN},
        {SPECTRAL("VRAD", "m/s", "3E8", "2E4") OF_LINE, NAN}, /* below 0 */
        {SPECTRAL("VELO", "m/s", "3E8", "2E4") OF_LINE, NAN}, /* faster than light */
        {SPECTRAL("VRAD", "m/s", "'1E6'", "2E4") OF_LINE, NAN},
        {SPECTRAL("VRAD", "m/s", "1E6", "x") OF_LINE, NAN},
        {SPECTRAL("VRAD", "Hz", "1E6", "2E4") OF_LINE, NAN},
        {SPECTRAL("VRAD", "furlong", "1E6", "2E4") OF_LINE, NAN},
        {SPECTRAL("VRAD-XYZ", "m/s", "1E6", "2E4") OF_LINE, NAN},
        {SPECTRAL("VELOCITY", "m/s", "1E6", "2E4") OF_LINE, NAN},
        {SPECTRAL("VELO-LSR", "m/s", "1E6", "2E4") OF_LINE "VELREF  = 9", NAN},
        {SPECTRAL("VOPT-TAB", "m/s", "1E6", "2E4") OF_LINE, NAN},
        {SPECTRAL("FREQ-TAB", "Hz", "1E6", "2E4") OF_LINE, NAN},
        {SPECTRAL("WAVE", "m", "0", "0") OF_LINE, NAN},
        {SPECTRAL("WAVE", "m", "-1", "0") OF_LINE, NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct srcfind_image image;
        wcs_close(wcs_of_cube(known[i].cards, &image));
        if (isnan(known[i].frequency) != isnan(image.frequency) ||
            fabs(image.frequency / known[i].frequency - 1) > 1e-13)
            fail_msg("%.15g is not %.15g in\n%s", image.frequency, known[i].frequency,
                     known[i].cards);
    }
}

/* Each call may be refused: an error with a message, and nothing is lost. */
static void refused_memory(void **state) {
    struct header header = header_of(skies[0].cards);
    struct srcfind_image image = image_empty_metadata();
    struct wcs *wcs = NULL, *copy = NULL;
    struct error error;
    const double x = 0, y = 0;
    double lon = NAN, lat, x_again = NAN, y_again;
    int n = 0;
    (void)state;
    for (; !wcs; n++) {
        calls_until_refused = n + 1;
        if (wcs_open(&header, &image, &wcs, &error) != SRCFIND_OK) {
            assert_string_equal(error.text, "out of memory while reading a header");
            assert_null(wcs);
        }
    }
    assert_in_range(n, 4, 20); /* the struct, the cards, the scanner's memory; and then all of it */
    for (n = 0; !copy; n++) {
        calls_until_refused = n + 1;
        copy = wcs_copy(wcs);
    }
    assert_in_range(n, 3, 20);
    for (n = 0; isnan(lon); n++) {
        calls_until_refused = n + 1;
        if (wcs_positions(copy, 1, &x, &y, &lon, &lat, &error) != SRCFIND_OK)
            assert_string_equal(error.text, "out of memory while computing sky coordinates");
    }
    assert_in_range(n, 3, 20);
    for (n = 0; isnan(x_again); n++) {
        calls_until_refused = n + 1;
        if (wcs_pixels(copy, 1, &lon, &lat, &x_again, &y_again, &error) != SRCFIND_OK)
            assert_string_equal(error.text, "out of memory while computing pixel coordinates");
    }
    assert_in_range(n, 3, 20);
    calls_until_refused = 0;
    wcs_close(copy);
    wcs_close(wcs);
    wcs_close(NULL);
    header_clear(&header);
}

/* The number of cards that WCSLIB gets of one. */
static int cards_of(const char *card) {
    struct header header = header_of(card);
    int n;
    free(wcs_cards_make(&header, &n, NULL));
    header_clear(&header);
    return n - 1; /* WCSAXES is added */
}

/* WCSLIB does not get a card whose text does not end, and has no room for an end. */
static void open_texts(void **state) {
    char card[CARD + 1];
    (void)state;
    assert_int_equal(cards_of("CTYPE3  = 'it''s'"), 1);
    assert_int_equal(cards_of("CTYPE3  = 'FELO-HEL"), 1); /* there is room */
    snprintf(card, sizeof card, "CTYPE3  =%*s'F'", CARD - 12, "");
    assert_int_equal(cards_of(card), 1);
    snprintf(card, sizeof card, "CTYPE3  =%*s'F", CARD - 11, "");
    assert_int_equal(cards_of(card), 0);
    snprintf(card, sizeof card, "CTYPE3  =%*s'", CARD - 10, "");
    assert_int_equal(cards_of(card), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_texts),
        cmocka_unit_test(positions),
        cmocka_unit_test(polynomials),
        cmocka_unit_test(left_over),
        cmocka_unit_test(odd_positions),
        cmocka_unit_test(pixels_of_positions),
        cmocka_unit_test(further_axes),
        cmocka_unit_test(rows_of_cd),
        cmocka_unit_test(beyond_half_a_turn),
        cmocka_unit_test(edges),
        cmocka_unit_test(positions_without_a_pixel),
        cmocka_unit_test(headers_without_a_sky),
        cmocka_unit_test(frames),
        cmocka_unit_test(frequencies),
        cmocka_unit_test(frequencies_of_other_axes),
        cmocka_unit_test(refused_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
