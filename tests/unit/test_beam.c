/* Restoring beams: keywords, AIPS's history, CASA's tables, and what is no beam. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <unistd.h>

#include "input/beam.h"
#include "sky.h"

static const struct beam_option no_option = {NAN, NAN, NAN};

/* What is found for pixels of 1e-6 square degrees, in a cube of n channels and two Stokes planes;
 * file may be NULL. */
static struct srcfind_image find_in_planes(const char *cards, const struct beam_option *option,
                                           struct fits_file *file, int n, int channel, int stokes) {
    struct header header = header_of(cards);
    struct srcfind_image image = image_empty_metadata();
    struct error error;
    const int64_t axes[] = {50, 40, n, 2}, plane[] = {channel, stokes};
    image.n_axes = 4;
    memcpy(image.axes, axes, sizeof axes);
    memcpy(image.plane, plane, sizeof plane);
    image.pixel_area = 1e-6;
    assert_int_equal(beam_find(&header, file, option, &image, &error), SRCFIND_OK);
    header_clear(&header);
    return image;
}

/* The same at Stokes 1. */
static struct srcfind_image find_in_cube(const char *cards, const struct beam_option *option,
                                         struct fits_file *file, int n, int channel) {
    return find_in_planes(cards, option, file, n, channel, 1);
}

/* The same at channel 2 of three. */
static struct srcfind_image find(const char *cards, const struct beam_option *option,
                                 struct fits_file *file) {
    return find_in_cube(cards, option, file, 3, 2);
}

static void assert_beam(const struct srcfind_image *image, const char *source, double major,
                        double minor, double angle) {
    assert_string_equal(image->beam_source, source);
    assert_within(image->beam.major, major, 1e-15);
    assert_within(image->beam.minor, minor, 1e-15);
    assert_within(image->beam.angle, angle, 1e-12);
    /* pi / (4 ln 2) = 1.1330900354567985 */
    assert_within(image->beam_pixels / (1.1330900354567985 * major * minor / 1e-6), 1, 1e-14);
}

static void assert_no_beam(const struct srcfind_image *image) {
    assert_string_equal(image->beam_source, "");
    assert_true(isnan(image->beam.major) && isnan(image->beam.minor) && isnan(image->beam.angle));
    assert_true(isnan(image->beam_pixels));
}

#define KEYWORDS "BMAJ    = 3E-3\nBMIN    = 2E-3\nBPA     = -30\n"
#define HISTORY "HISTORY AIPS   CLEAN BMAJ=  1.7599E-03 BMIN=  1.5740E-03 BPA=   2.61\n"

static void sources(void **state) {
    static const struct {
        const char *cards, *source;
        double major, minor, angle;
    } known[] = {
        {KEYWORDS HISTORY, "keywords", 3e-3, 2e-3, -30},
        {"BMAJ    = 3D-03", "keywords", 3e-3, 3e-3, 0},
        {"BMAJ    = 3E-3\nBPA     = 'north'", "keywords", 3e-3, 3e-3, 0},
        /* the larger axis is the major one */
        {"BMAJ    = 2E-3\nBMIN    = 3E-3", "keywords", 3e-3, 2e-3, 90},
        {"BMAJ    = 2E-3\nBMIN    = 3E-3\nBPA     = 120", "keywords", 3e-3, 2e-3, 30},
        {"HISTORY AIPS   CLEAN BMAJ=  2E-03 BMIN=  3E-03 BPA=  -80", "history", 3e-3, 2e-3, 10},
        {HISTORY, "history", 1.7599e-3, 1.5740e-3, 2.61},
        {"BMAJ    = 0\n" HISTORY, "history", 1.7599e-3, 1.5740e-3, 2.61},
        /* the last one holds, if it is whole and a beam */
        {HISTORY "HISTORY AIPS   CLEAN BMAJ=4.E-03 BMIN=3.D-03 BPA=-2.5 and more", "history", 4e-3,
         3e-3, -2.5},
        {HISTORY "HISTORY AIPS   CLEAN BMAJ=  4.0E-03 BMIN=  3.0E-03", "history", 1.7599e-3,
         1.5740e-3, 2.61},
        {HISTORY "HISTORY AIPS   CLEAN BMAJ=  x BMIN=  1 BPA=   2", "history", 1.7599e-3, 1.5740e-3,
         2.61},
        {HISTORY "HISTORY AIPS   CLEAN BMAJ=  1 BMIN= -1 BPA=   2", "history", 1.7599e-3, 1.5740e-3,
         2.61},
        {HISTORY "HISTORY AIPS   CLEAN BMAJ=  1.2E-38 BMIN=  1.2E-38 BPA=   2", "history",
         1.7599e-3, 1.5740e-3, 2.61},
        {HISTORY "HISTORY restoration: 1 by 0.003 (mas) at pa 82 (deg)", "history", 1.7599e-3,
         1.5740e-3, 2.61},
        {"BMAJ    = 1.17549435E-38\nBMIN    = 1.17549435E-38\n" HISTORY, "history", 1.7599e-3,
         1.5740e-3, 2.61},
        /* a thousandth of a pixel, which is 1E-3 degrees wide */
        {"BMAJ    = 1.01E-6", "keywords", 1.01e-6, 1.01e-6, 0},
        {"BMAJ    = 1.01E-6\nBMIN    = 1.02E-6", "keywords", 1.02e-6, 1.01e-6, 90},
        {"HISTORY restoration: 1.8 by 0.9 (arcsec) at pa 82 (deg)", "history", 5e-4, 2.5e-4, 82},
        {"HISTORY   Restoration: 0.3 by 0.15 (arcmin) at pa -1.5 (rad) of plane 0", "history", 5e-3,
         2.5e-3, -85.94366926962348},
        {"HISTORY restoration: 1800 by 900 (mas) at pa 0(deg)", "history", 5e-4, 2.5e-4, 0},
        {HISTORY "HISTORY restoration: 1.8 by 0.9 (arcsec) at pa 82 (deg)", "history", 5e-4, 2.5e-4,
         82},
        {"HISTORY restoration: 1.8 by 0.9 (arcsec) at pa 82 (deg)\n" HISTORY, "history", 1.7599e-3,
         1.5740e-3, 2.61},
        {HISTORY "HISTORY restoration: 1.8 by 0.9 (Jy) at pa 82 (deg)\n"
                 "HISTORY restoration: 1.8 by 0.9 at pa 82\n"
                 "HISTORY restoration: 1.8 by 0.9 (arcsec) at pa\n"
                 "HISTORY restoration: 1.8 by x (arcsec) at pa 82 (deg)\n"
                 "HISTORY restoration: 0 by 0 (arcsec) at pa 82 (deg)\n"
                 "HISTORY restoration: 1.8 by 0.9 (arcsec",
         "history", 1.7599e-3, 1.5740e-3, 2.61},
        {HISTORY "HISTORY AIPS   CONVL BMAJ=  1 BMIN=  1 BPA=   2", "history", 1.7599e-3, 1.5740e-3,
         2.61},
    };
    static const struct beam_option option = {36, 18, 45}, incomplete = {36, NAN, 45};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct srcfind_image image = find(known[i].cards, &no_option, NULL);
        assert_beam(&image, known[i].source, known[i].major, known[i].minor, known[i].angle);
    }
    const struct srcfind_image given = find(KEYWORDS, &option, NULL);
    assert_beam(&given, "option", 0.01, 0.005, 45);
    assert_true(!given.beam_is_turned);
    const struct srcfind_image turned = find("BMAJ    = 2E-3\nBMIN    = 3E-3", &no_option, NULL);
    assert_true(turned.beam_is_turned);
    const struct srcfind_image half = find(KEYWORDS, &incomplete, NULL);
    assert_beam(&half, "keywords", 3e-3, 2e-3, -30);
}

static void absurd_beams(void **state) {
    static const char *const headers[] = {
        "",
        "BMIN    = 2E-3\nBPA     = 30",
        "BMAJ    = 0",
        "BMAJ    = -3E-3\nBMIN    = -2E-3",
        "BMAJ    = -1\nBMIN    = -1\nBPA     = -1",
        "BMAJ    = -1\nBMIN    = 3E-3",
        "BMAJ    = 1.17549435E-38\nBMIN    = 1.17549435E-38\nBPA     = 0",
        "BMAJ    = 3E-3\nBMIN    = 1.17549435E-38",
        "BMAJ    = 3E-3\nBMIN    = 0.99E-6",
        "BMAJ    = 0.99E-6\nBMIN    = 3E-3",
        "BMAJ    = 0.99E-6",
        "HISTORY AIPS   CLEAN BMAJ=  9.9E-07 BMIN=  9.9E-07 BPA=   0.0",
        "HISTORY restoration: 1.2e-38 by 1.2e-38 (arcsec) at pa 82 (deg)",
        "BMAJ    = 3E-3\nBMIN    = 0",
        "BMAJ    = NaN",
        "BMAJ    = 1E999",
        "BMAJ    = 1E300",  /* an area of infinity */
        "BMAJ    = 1E-300", /* and of 0, which fluxes would be divided by */
        "BMAJ    = 'wide'",
        "HISTORY AIPS   CLEAN BMAJ=  0.0 BMIN=  0.0 BPA=   0.0",
        "COMMENT AIPS   CLEAN BMAJ=  1.0 BMIN=  1.0 BPA=   0.0",
        "CASAMBM =                    T", /* in no file */
    };
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const struct srcfind_image image = find(headers[i], &no_option, NULL);
        assert_no_beam(&image);
    }
}

/* Without sky coordinates a beam has no area in pixels. */
static void unknown_pixels(void **state) {
    struct header header = header_of(KEYWORDS);
    struct srcfind_image image = image_empty_metadata();
    struct error error;
    (void)state;
    assert_int_equal(beam_find(&header, NULL, &no_option, &image, &error), SRCFIND_OK);
    header_clear(&header);
    assert_string_equal(image.beam_source, "keywords");
    assert_true(image.beam.major == 3e-3 && isnan(image.beam_pixels));
    header = header_of("BMAJ    = 1.17549435E-38\nBMIN    = 1.17549435E-38");
    image = image_empty_metadata();
    assert_int_equal(beam_find(&header, NULL, &no_option, &image, &error), SRCFIND_OK);
    header_clear(&header);
    assert_no_beam(&image);
}

/* The option's beam is not replaced by another one without a word. */
static void absurd_options(void **state) {
    static const struct beam_option options[] = {
        {3.5e-3, 3.5e-3, 0}, {36, 3.5e-3, 0}, {1e-30, 1e-30, 0}, {1e300, 1e300, 0}};
    static char path[] = "a.fits";
    struct header header = header_of(KEYWORDS);
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct srcfind_image image = image_empty_metadata();
        struct error error;
        image.path = path;
        image.pixel_area = 1e-6;
        assert_int_equal(beam_find(&header, NULL, &options[i], &image, &error),
                         SRCFIND_ERROR_INPUT);
        assert_non_null(strstr(error.text, "a.fits: --beam "));
        assert_non_null(strstr(error.text, "at least a thousandth of a pixel, 0.0036 arcsec"));
    }
    header_clear(&header);
}

/* --- tables --- */

struct beams_row {
    float major, minor, angle;
    int32_t channel, stokes;
};

static void put_header(const char *lines, FILE *stream) {
    struct header header = header_of(lines);
    fwrite(header.cards, CARD, (size_t)header.n_cards, stream);
    fprintf(stream, "%-*s", (int)(2880 - header.n_cards * CARD), "END");
    header_clear(&header);
}

static void put_bits(uint32_t bits, FILE *stream) {
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(bits >> shift & 255), stream);
}

/* A file with an image without pixels and a table, which says that it has n rows. */
static struct fits_file file_of(const char *cards, const struct beams_row *rows, int n_rows,
                                int n) {
    static char path[64];
    const int memory = memfd_create("image", MFD_CLOEXEC);
    char text[1024];
    struct fits_file file;
    struct error error;
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    FILE *stream = fdopen(memory, "w");
    assert_non_null(stream);
    put_header("SIMPLE  =                    T\nBITPIX  = 8\nNAXIS   = 0", stream);
    snprintf(text, sizeof text,
             "XTENSION= 'BINTABLE'\nBITPIX  = 8\nNAXIS   = 2\nNAXIS1  = 20\nNAXIS2  = %d\n"
             "PCOUNT  = 0\nGCOUNT  = 1\nTFIELDS = 5\nTFORM1  = '1E'\nTFORM2  = '1E'\n"
             "TFORM3  = '1E'\nTFORM4  = '1J'\nTFORM5  = '1J'\n%s",
             n, cards);
    put_header(text, stream);
    for (int i = 0; i < n_rows; i++) {
        put_bits(exact_bits(rows[i].major), stream);
        put_bits(exact_bits(rows[i].minor), stream);
        put_bits(exact_bits(rows[i].angle), stream);
        put_bits((uint32_t)rows[i].channel, stream);
        put_bits((uint32_t)rows[i].stokes, stream);
    }
    assert_int_equal(fflush(stream), 0);
    assert_int_equal(fits_file_open(&file, path, &error), SRCFIND_OK);
    fclose(stream); /* `file` stays open */
    return file;
}

#define AXES "CASAMBM =                    T\nCTYPE3  = 'FREQ'\nCTYPE4  = 'STOKES'\n"
#define SIZES "TTYPE1  = 'BMAJ'\nTTYPE2  = 'BMIN'\nTTYPE3  = 'BPA'\n"
#define PLANES "TTYPE4  = 'CHAN'\nTTYPE5  = 'POL'\n"
#define NAMED "EXTNAME = 'BEAMS'\n"

/* The rows are in no order; the image is channel 2 of 1 ... 3, which is CHAN 1, and POL 0. */
static void tables(void **state) {
    static const struct beams_row rows[] = {{36, 18, 10, 2, 0},
                                            {72, 36, 20, 1, 1},
                                            {18, 9, 30, 1, 0},
                                            {9, 9, 40, 0, 0},
                                            {1, 1, 1, 0, 1}};
    static const struct {
        const char *image, *table;
        double major, minor, angle; /* 0: no beam */
        int n_rows, n;
    } known[] = {
        {AXES, NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {AXES, "EXTNAME = 'beams'\n" SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {AXES, NAMED SIZES PLANES "TUNIT1  = 'deg'\nTUNIT2  = 'arcmin'", 18, 0.15, 30, 5, 5},
        {AXES, NAMED "TTYPE1  = 'BMAJ'\nTTYPE2  = 'BMIN'\n" PLANES, 0.005, 0.0025, 0, 5, 5},
        {AXES, NAMED SIZES, 0.02, 0.01, 20, 3, 3}, /* one row a channel: the second */
        {AXES, NAMED SIZES, 0, 0, 0, 5, 5},        /* of which Stokes parameter? */
        {AXES, NAMED SIZES, 0.01, 0.005, 10, 1, 1},
        {"CASAMBM =                    T\nCTYPE3  = 'VRAD'", NAMED SIZES, 0.02, 0.01, 20, 3, 3},
        {AXES, NAMED SIZES PLANES, 0, 0, 0, 2, 2},   /* no row of this plane */
        {AXES, NAMED SIZES PLANES, 0, 0, 0, 2, 500}, /* cut off */
        {AXES, NAMED SIZES PLANES "TUNIT1  = 'Jy'", 0, 0, 0, 5, 5},
        {AXES, NAMED PLANES, 0, 0, 0, 5, 5},
        {AXES, SIZES PLANES, 0, 0, 0, 5, 5},
        /* also where nothing announces it */
        {"CTYPE3  = 'FREQ'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CASAMBM =                    F\nCTYPE3  = 'FREQ'", NAMED SIZES PLANES, 0.005, 0.0025, 30,
         5, 5},
        /* other spectral axes, and one that does not say what it is */
        {"CTYPE3  = 'AWAV'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CTYPE3  = 'WAVE-LOG'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CTYPE3  = 'freq'\nCTYPE4  = 'Stokes'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CTYPE3  = 'stokes'\nCTYPE4  = 'awav'", NAMED SIZES PLANES, 1 / 3600., 1 / 3600., 1, 5, 5},
        {"CTYPE3  = 'ENER'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CTYPE3  = ''\nCTYPE4  = 'STOKES'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CTYPE4  = 'STOKES'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        {"CTYPE3  = 'CHANNEL'\nCTYPE4  = 'STOKES'", NAMED SIZES PLANES, 0.005, 0.0025, 30, 5, 5},
        /* Stokes before the channels: CHAN 0, POL 1 */
        {"CTYPE3  = 'STOKES'\nCTYPE4  = 'AWAV'", NAMED SIZES PLANES, 1 / 3600., 1 / 3600., 1, 5, 5},
        {"CTYPE3  = 'STOKES'", NAMED SIZES PLANES, 1 / 3600., 1 / 3600., 1, 5, 5},
        /* two axes of planes that do not say what they are */
        {"CTYPE3  = ''\nCTYPE4  = 'TIME'", NAMED SIZES PLANES, 0, 0, 0, 5, 5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct fits_file file = file_of(known[i].table, rows, known[i].n_rows, known[i].n);
        const struct srcfind_image image = find(known[i].image, &no_option, &file);
        if (known[i].major > 0)
            assert_beam(&image, "table", known[i].major, known[i].minor, known[i].angle);
        else
            assert_no_beam(&image);
        assert_int_equal(image.beam_row_is_missing,
                         known[i].major == 0 && strstr(known[i].table, "EXTNAME"));
        fits_file_close(&file);
    }
}

/* Which row is that of channel 2 of 1 ... 3 and Stokes 1 of 1 ... 2. CASA counts from 0; programs
 * that count from 1 have rows up to the last channel, and none of 0. */
static void numbers_of_rows(void **state) {
    static const struct {
        int n, channels[7], stokes[7];
        int row; /* from 1; 0: none */
        bool has_no_stokes;
    } known[] = {
        {3, {0, 1, 2}, {0}, 2, false},
        {3, {2, 1, 0}, {0}, 2, false},
        {3, {1, 2, 0}, {0}, 1, false},
        {3, {2, 0, 1}, {0}, 3, false},
        {3, {1, 2, 3}, {0}, 2, false},
        {3, {3, 2, 1}, {0}, 2, false},
        {3, {2, 3, 1}, {0}, 1, false},
        {3, {1, 2, 3}, {0}, 2, true},
        {3, {3, 1, 2}, {0}, 3, true},
        {6, {1, 1, 2, 2, 3, 3}, {1, 2, 1, 2, 1, 2}, 3, false},
        {6, {1, 2, 3, 1, 2, 3}, {2, 2, 2, 1, 1, 1}, 5, false},
        {6, {1, 2, 3, 1, 2, 3}, {1, 1, 1, 0, 0, 0}, 5, false},
        {6, {0, 1, 2, 0, 1, 2}, {2, 2, 2, 1, 1, 1}, 5, false},
        /* one column is sure, and the other may begin at 1 */
        {3, {1, 2, 3}, {1, 1, 1}, 2, false},
        {3, {1, 2, 3}, {2, 2, 2}, 0, false},
        {2, {1, 2}, {1, 2}, 0, false},
        {4, {1, 2, 1, 2}, {1, 1, 2, 2}, 2, false},
        {3, {0, 1, 2}, {1, 1, 1}, 0, false},
        /* CHAN 1 of which Stokes parameter? */
        {6, {0, 1, 2, 0, 1, 2}, {0}, 0, true},
        {6, {1, 2, 3, 1, 2, 3}, {0}, 0, true},
        {4, {0, 1, 2, 0}, {0}, 2, true},
        /* some of the rows: what can be CASA's numbers is */
        {2, {1, 2}, {0}, 1, false},
        {2, {2, 3}, {0}, 1, false},
        {2, {1, 3}, {0}, 0, false},
        {2, {0, 2}, {0}, 0, false},
        {1, {1}, {0}, 1, false},
        {1, {2}, {0}, 0, false},
        {1, {3}, {0}, 0, false},
        /* neither */
        {3, {0, 1, 3}, {0}, 2, false},
        {3, {3, 1, 0}, {0}, 2, false},
        {3, {1, 2, 4}, {0}, 1, false},
        {3, {1, 3, 4}, {0}, 1, false},
        {3, {-1, 2, 3}, {0}, 0, false},
        {3, {84215045, -7, 1936287828}, {0}, 0, false},
        {3, {0, 1, 2}, {84215045, 77, -5}, 0, false},
        {3, {0, 1, 1}, {0}, 2, false},
        {3, {1, 0, 1}, {0}, 3, false}, /* the search begins at the row of the index */
        {3, {1, 1, 2}, {0}, 2, false},
        {3, {1, 1, 2}, {0, 1, 0}, 1, false},
        {4, {0, 0, 2, 1}, {0}, 4, false},
        {7, {9, 9, 9, 9, 9, 9, 1}, {0}, 0, false}, /* of 6 planes */
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct beams_row rows[7];
        const int n = known[i].n;
        for (int k = 0; k < n; k++)
            rows[k] = (struct beams_row){(float)(36 * (k + 1)), 9, 30, known[i].channels[k],
                                         known[i].stokes[k]};
        struct fits_file file =
            file_of(known[i].has_no_stokes ? NAMED SIZES "TTYPE4  = 'CHAN'" : NAMED SIZES PLANES,
                    rows, n, n);
        const struct srcfind_image image = find(AXES, &no_option, &file);
        if (known[i].row > 0)
            assert_beam(&image, "table", 0.01 * known[i].row, 0.0025, 30);
        else
            assert_no_beam(&image);
        fits_file_close(&file);
    }
}

/* Numbers that are not whole count as junk, which some table may have by mistake. */
static void broken_numbers(void **state) {
    static const struct beams_row rows[] = {
        {36, 18, 1, 0, 0}, {72, 36, 2.5F, 0, 0}, {9, 9, 3, 0, 0}};
    struct fits_file file =
        file_of(NAMED "TTYPE1  = 'BMAJ'\nTTYPE2  = 'BMIN'\nTTYPE3  = 'CHAN'", rows, 3, 3);
    const struct srcfind_image image = find(AXES, &no_option, &file);
    (void)state;
    assert_beam(&image, "table", 0.01, 0.005, 0);
    fits_file_close(&file);
}

/* Without CHAN the rows are the channels in order, but for one row, which is that of all. What
 * follows the table's rows in the file is none. */
static void rows_in_order(void **state) {
    static const struct beams_row rows[] = {
        {36, 9, 30, 0, 0}, {72, 9, 30, 0, 0}, {108, 9, 30, 0, 0}};
    (void)state;
    for (int n = 1; n <= 3; n++) {
        struct fits_file file = file_of(NAMED SIZES, rows, 3, n);
        for (int channel = 1; channel <= 3; channel++) {
            const struct srcfind_image image = find_in_cube(AXES, &no_option, &file, 3, channel);
            const struct srcfind_image other =
                find_in_cube(AXES KEYWORDS, &no_option, &file, 3, channel);
            if (channel > n && n > 1)
                assert_no_beam(&image);
            else
                assert_beam(&image, "table", n == 1 ? 0.01 : 0.01 * channel, 0.0025, 30);
            assert_true(isnan(other.row_beam.major) == (channel > n && n > 1));
        }
        fits_file_close(&file);
    }
}

/* Rows without CHAN: in a cube of 3 channels and 2 Stokes parameters those of a POL are its
 * channels in order, and one row of a POL is that of all its channels. Without POL, too, they could
 * be in the order of either axis: then all that may be meant must have one beam. */
static void rows_without_channels(void **state) {
    static const struct {
        const char *columns;
        int n, widths[6], stokes[6];
        int beams[2][3]; /* by Stokes and channel; 0: none */
    } known[] = {
        {"POL", 6, {1, 2, 3, 4, 5, 6}, {0, 0, 0, 1, 1, 1}, {{1, 2, 3}, {4, 5, 6}}},
        {"POL", 6, {1, 2, 3, 4, 5, 6}, {0, 1, 0, 1, 0, 1}, {{1, 3, 5}, {2, 4, 6}}},
        {"POL", 6, {1, 2, 3, 4, 5, 6}, {2, 2, 2, 1, 1, 1}, {{4, 5, 6}, {1, 2, 3}}},
        {"POL", 3, {1, 2, 3}, {0, 0, 0}, {{1, 2, 3}, {0}}},
        {"POL", 2, {1, 2}, {0, 1}, {{1, 1, 1}, {2, 2, 2}}},
        {"POL", 5, {1, 2, 3, 4, 5}, {0, 0, 0, 1, 1}, {{1, 2, 3}, {4, 5, 0}}},
        {"", 3, {1, 2, 3}, {0}, {{1, 2, 3}, {1, 2, 3}}},
        {"", 1, {1}, {0}, {{1, 1, 1}, {1, 1, 1}}},
        {"", 6, {1, 2, 3, 4, 5, 6}, {0}, {{0}, {0}}},
        {"", 6, {1, 2, 3, 1, 2, 3}, {0}, {{0}, {0}}},
        {"", 6, {1, 1, 1, 1, 1, 1}, {0}, {{1, 1, 1}, {1, 1, 1}}},
        {"", 6, {1, 1, 2, 1, 2, 2}, {0}, {{1, 0, 2}, {1, 0, 2}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct beams_row rows[6];
        char cards[256];
        for (int k = 0; k < known[i].n; k++)
            rows[k] =
                (struct beams_row){(float)(36 * known[i].widths[k]), 9, 30, 0, known[i].stokes[k]};
        snprintf(cards, sizeof cards, NAMED SIZES "TTYPE5  = '%s'", known[i].columns);
        struct fits_file file = file_of(cards, rows, known[i].n, known[i].n);
        for (int plane = 0; plane < 6; plane++) {
            const int width = known[i].beams[plane / 3][plane % 3];
            const struct srcfind_image image =
                find_in_planes(AXES, &no_option, &file, 3, plane % 3 + 1, plane / 3 + 1);
            if (width > 0)
                assert_beam(&image, "table", 0.01 * width, 0.0025, 30);
            else
                assert_no_beam(&image);
            assert_int_equal(image.beam_row_is_missing, width == 0);
        }
        fits_file_close(&file);
    }
}

/* A cube of Stokes parameters alone has a row for each. */
static void rows_of_stokes(void **state) {
    static const struct beams_row rows[] = {{36, 9, 30, 0, 0}, {72, 9, 30, 0, 0}};
    struct fits_file file = file_of(NAMED SIZES, rows, 2, 2);
    (void)state;
    for (int stokes = 1; stokes <= 2; stokes++) {
        const struct srcfind_image image = find_in_planes(AXES, &no_option, &file, 1, 1, stokes);
        assert_beam(&image, "table", 0.01 * stokes, 0.0025, 30);
    }
    fits_file_close(&file);
}

/* Of a table that is read in several pieces. */
static void many_rows(void **state) {
    enum { N = 1000 };
    static struct beams_row rows[N];
    (void)state;
    for (int first = 0; first < 2; first++) {
        for (int i = 0; i < N; i++)
            rows[i] = (struct beams_row){(float)(i + 1), 1, 30, i + first, 0};
        struct fits_file file = file_of(NAMED SIZES PLANES, rows, N, N);
        for (int channel = 1; channel <= N; channel++) {
            const struct srcfind_image image = find_in_cube(AXES, &no_option, &file, N, channel);
            assert_within(3600 * image.beam.major, channel, 1e-9);
        }
        fits_file_close(&file);
    }
}

/* Keywords come first; that the plane has another beam in the table is kept for a note. */
static void rows_beside_keywords(void **state) {
    static const struct beams_row rows[] = {{36, 18, 10, 0, 0}, {9, 18, 30, 1, 0}};
    static const struct {
        const char *image;
        double major, minor, angle; /* of the row; 0: nothing to note */
    } known[] = {
        {AXES KEYWORDS, 0.005, 0.0025, 120},
        {"CTYPE3  = 'FREQ'\nCTYPE4  = 'STOKES'\n" KEYWORDS, 0.005, 0.0025, 120},
        {AXES HISTORY, 0.005, 0.0025, 120},
        {AXES "BMAJ    = 5.01E-3\nBMIN    = 2.49E-3\nBPA     = -60.5", 0, 0, 0},
        {AXES "BMAJ    = 5E-3\nBMIN    = 2.5E-3\nBPA     = 30", 0.005, 0.0025, 120},
        {AXES "BMAJ    = 5.1E-3\nBMIN    = 2.5E-3\nBPA     = 120", 0.005, 0.0025, 120},
        {"CTYPE3  = 'STOKES'\nCTYPE4  = 'FREQ'\n" KEYWORDS, 0, 0, 0}, /* no row of this plane */
        {AXES, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct fits_file file = file_of(NAMED SIZES PLANES, rows, 2, 2);
        const struct srcfind_image image = find(known[i].image, &no_option, &file);
        assert_string_equal(image.beam_source, strstr(known[i].image, "HIST")   ? "history"
                                               : strstr(known[i].image, "BMAJ") ? "keywords"
                                                                                : "table");
        assert_true(isnan(image.row_beam.major) == (known[i].major == 0));
        assert_false(image.beam_row_is_missing);
        if (known[i].major > 0) {
            assert_within(image.row_beam.major, known[i].major, 1e-15);
            assert_within(image.row_beam.minor, known[i].minor, 1e-15);
            assert_within(image.row_beam.angle, known[i].angle, 1e-12);
        }
        fits_file_close(&file);
    }
}

static void absurd_tables(void **state) {
    static const float sizes[] = {0, -9, -1, NAN, INFINITY, 1.17549435e-38F, 3.5e-3F};
    (void)state;
    for (int i = 0; i < 14; i++) {
        const struct beams_row wide = {sizes[i / 2], 9, 30, 1, 0},
                               narrow = {9, sizes[i / 2], 30, 1, 0};
        struct fits_file file = file_of(NAMED SIZES PLANES, i % 2 ? &wide : &narrow, 1, 1);
        const struct srcfind_image image = find(AXES, &no_option, &file);
        assert_no_beam(&image);
        assert_true(image.beam_row_is_missing);
        /* a plane of a cube that has no beam does not have that of another plane */
        struct srcfind_image other = find(AXES KEYWORDS, &no_option, &file);
        assert_beam(&other, "keywords", 3e-3, 2e-3, -30);
        assert_true(other.row_beam.major == 0 && !other.beam_row_is_missing);
        beam_take_row(&other);
        assert_no_beam(&other);
        assert_true(other.beam_row_is_missing);
        fits_file_close(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),         cmocka_unit_test(absurd_beams),
        cmocka_unit_test(unknown_pixels),  cmocka_unit_test(tables),
        cmocka_unit_test(absurd_tables),   cmocka_unit_test(rows_beside_keywords),
        cmocka_unit_test(numbers_of_rows), cmocka_unit_test(broken_numbers),
        cmocka_unit_test(rows_in_order),   cmocka_unit_test(many_rows),
        cmocka_unit_test(absurd_options),  cmocka_unit_test(rows_without_channels),
        cmocka_unit_test(rows_of_stokes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
