/* Ticks: their labels, and the coordinates of the points where they are. */
#include <string.h>

#include "output/picture/ticks.h"
#include "sky.h"

enum { SIDE = 256, MOST = 6 };

/* Coordinates of an image of SIDE x SIDE pixels, around its centre. */
#define SKY(types, lon, lat, step)                                                                 \
    types "CRPIX1  = 128.5\nCRPIX2  = 128.5\nCRVAL1  = " lon "\nCRVAL2  = " lat                    \
          "\nCDELT1  = -" step "\nCDELT2  = " step "\n"
#define EQUATORIAL(projection) "CTYPE1  = 'RA---" projection "'\nCTYPE2  = 'DEC--" projection "'\n"

static const char usual[] = SKY(EQUATORIAL("SIN"), "187.5", "12.0", "0.001");
static const char origin[] = SKY(EQUATORIAL("TAN"), "0", "0", "0.01");
static const char narrow[] = SKY(EQUATORIAL("TAN"), "83.6", "-5.4", "1E-7");
static const char galactic[] =
    SKY("CTYPE1  = 'GLON-CAR'\nCTYPE2  = 'GLAT-CAR'\n", "0.1", "0", "0.001");
static const char wide[] = SKY(EQUATORIAL("CAR"), "90", "0", "0.7");
static const char whole_sky[] = SKY(EQUATORIAL("AIT"), "90", "0", "1.4");
static const char beyond[] = SKY(EQUATORIAL("CAR"), "90", "0", "5");
static const char pole[] = SKY(EQUATORIAL("TAN"), "250", "-48.84", "0.3905");

/* The ticks of an edge: their labels, and the coordinates of the first one and the next. */
static const struct {
    const char *cards;
    bool is_vertical;
    const char *labels;
    double first, step; /* degrees, or pixels */
} edges[] = {
    {usual, false, "12h30m20s 12h30m00s 12h29m40s ", 187.5 + 1 / 12.0, -1 / 12.0},
    {usual, true, "+11°55′ +12°00′ +12°05′ ", 12 - 1 / 12.0, 1 / 12.0},
    {origin, false, "00h04m 00h02m 00h00m 23h58m 23h56m ", 1, -0.5},
    {origin, true, "−01°00′ −00°30′ +00°00′ +00°30′ +01°00′ ", -1, 0.5},
    {narrow, false, "05h34m24.002s 05h34m24.000s 05h34m23.998s ", 83.6 + 1 / 120e3, -1 / 120e3},
    {narrow, true, "−05°24′00.04″ −05°24′00.02″ −05°24′00.00″ −05°23′59.98″ −05°23′59.96″ ",
     -5.4 - 1 / 90e3, 1 / 180e3},
    {galactic, false, "0.20° 0.15° 0.10° 0.05° 0.00° ", 0.2, -0.05},
    {galactic, true, "−0.10° −0.05° +0.00° +0.05° +0.10° ", -0.1, 0.05},
    {wide, false, "10h 08h 06h 04h 02h ", 150, -30},
    {wide, true, "−60° −30° +00° +30° +60° ", -60, 30},
    {whole_sky, false, "0 50 100 150 200 250 ", 0, 50}, /* the edges are off the sky */
    {whole_sky, true, "0 50 100 150 200 250 ", 0, 50},
    {beyond, true, "0 50 100 150 200 250 ", 0, 50}, /* most of the edge is beyond the poles */
    {pole, false, "0 50 100 150 200 250 ", 0, 50},  /* all hours within a few pixels */
};

/* The coordinate at a tick, in degrees or pixels. */
static double coordinate_at(struct wcs *wcs, const struct ticks *ticks, bool is_vertical,
                            const struct tick *tick) {
    const double x = is_vertical ? -0.5 : tick->at, y = is_vertical ? tick->at : -0.5;
    double lon, lat;
    struct error error;
    assert_int_equal(wcs_positions(wcs, 1, &x, &y, &lon, &lat, &error), SRCFIND_OK);
    return ticks->coordinate == COORDINATE_LON   ? lon
           : ticks->coordinate == COORDINATE_LAT ? lat
                                                 : tick->at;
}

static void labels_and_places(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        const struct edge edge = {edges[i].is_vertical, SIDE};
        struct srcfind_image image;
        struct wcs *wcs = wcs_of(edges[i].cards, &image);
        struct ticks ticks;
        struct error error;
        char labels[1024] = "";
        assert_int_equal(ticks_find(wcs, &image, &edge,
                                    edge.is_vertical ? COORDINATE_LAT : COORDINATE_LON, MOST,
                                    &ticks, &error),
                         SRCFIND_OK);
        for (int k = 0; k < ticks.n; k++) {
            const double at = coordinate_at(wcs, &ticks, edge.is_vertical, &ticks.ticks[k]);
            const double away = at - edges[i].first - k * edges[i].step;
            assert_within(remainder(away, 360), 0, 1e-6 * fabs(edges[i].step));
            strcat(strcat(labels, ticks.ticks[k].label), " ");
        }
        assert_string_equal(labels, edges[i].labels);
        wcs_close(wcs);
    }
}

/* Without sky coordinates pixels are numbered, one by one at most. */
static void pixels(void **state) {
    static const struct {
        int64_t length;
        const char *labels;
    } lengths[] = {
        {1, "0 "}, {3, "0 1 2 "}, {9, "0 2 4 6 8 "}, {100000, "0 20000 40000 60000 80000 "}};
    const struct srcfind_image image = image_empty_metadata();
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct edge edge = {false, lengths[i].length};
        struct ticks ticks;
        struct error error;
        char labels[256] = "";
        assert_int_equal(ticks_find(NULL, &image, &edge, COORDINATE_LON, MOST, &ticks, &error),
                         SRCFIND_OK);
        for (int k = 0; k < ticks.n; k++) {
            assert_within(ticks.ticks[k].at, strtod(ticks.ticks[k].label, NULL), 1e-6);
            strcat(strcat(labels, ticks.ticks[k].label), " ");
        }
        assert_string_equal(labels, lengths[i].labels);
    }
}

/* Pixels of a part are numbered as those of the whole image. */
static void pixels_of_a_part(void **state) {
    const struct srcfind_image image = {.width = 100, .height = 100, .first_x = 950, .first_y = 7};
    static const char *const labels[] = {"950", "10"};
    (void)state;
    for (int vertical = 0; vertical < 2; vertical++) {
        const struct edge edge = {vertical, 100};
        const double first = vertical ? 7 : 950;
        struct ticks ticks;
        struct error error;
        assert_int_equal(ticks_find(NULL, &image, &edge, COORDINATE_LON, 10, &ticks, &error),
                         SRCFIND_OK);
        assert_string_equal(ticks.ticks[0].label, labels[vertical]);
        for (int k = 0; k < ticks.n; k++)
            assert_within(first + ticks.ticks[k].at, strtod(ticks.ticks[k].label, NULL), 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels_and_places),
                                       cmocka_unit_test(pixels_of_a_part),
                                       cmocka_unit_test(pixels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
