/* Values of keywords in the text of a header. */
#include <stdio.h>
#include <stdlib.h>

#include "input/fits/header.h"
#include "input/wcs_cards.h"
#include "unit.h"

static struct header header_of(const char *const *cards, int n) {
    struct header h = {calloc((size_t)n * CARD + 1, 1), n};
    for (int i = 0; i < n; i++) {
        char card[CARD + 1];
        snprintf(card, sizeof card, "%-80s", cards[i]);
        memcpy(h.cards + i * CARD, card, CARD);
    }
    return h;
}

static void numbers(void **state) {
    static const char *const cards[] = {
        "NAXIS1  =                  512 / width",
        "CDELT1  =           -6.67D-02",
        "CDELT2  = 6.67d-02/no blank before",
        "CROTA2  = 'text'",
        "BMAJ    = 1.5e-3 arcsec",
        "NAXIS1  = 7",
        "BLANK   = -32768.0",
        "BZERO   = 9.E+99999",
        "CRVAL1  =",
        "EQUINOX   2000.0",
        "NAXIS2  = 99999999999999999999",
        "BLANK64 = -9223372036854775808",
        "FRACTION= 1.5",
        "BSCALE  = +1.0E0",
    };
    struct header h = header_of(cards, sizeof cards / sizeof *cards);
    double real = 42;
    int64_t integer = 42;
    (void)state;
    assert_true(header_integer(&h, "NAXIS1", &integer) && integer == 512);
    assert_true(header_indexed(&h, "NAXIS", 1, &integer) && integer == 512);
    assert_true(header_real(&h, "CDELT1", &real) && real == -6.67e-2);
    assert_true(header_real(&h, "CDELT2", &real) && real == 6.67e-2);
    assert_true(header_real(&h, "BSCALE", &real) && real == 1);
    assert_true(header_real(&h, "BMAJ", &real) && real == 1.5e-3);
    assert_true(header_integer(&h, "BLANK", &integer) && integer == -32768);
    assert_true(header_integer(&h, "BLANK64", &integer) && integer == INT64_MIN);
    assert_true(header_integer(&h, "BLANK", &integer));
    assert_false(header_integer(&h, "NAXIS2", &integer));
    assert_false(header_integer(&h, "FRACTION", &integer));
    assert_false(header_real(&h, "CROTA2", &real));
    assert_false(header_real(&h, "BZERO", &real));
    assert_false(header_real(&h, "CRVAL1", &real));
    assert_false(header_real(&h, "EQUINOX", &real));
    assert_false(header_real(&h, "NAXIS", &real));
    assert_true(real == 1.5e-3 && integer == -32768);
    header_clear(&h);
}

static void texts(void **state) {
    static const char *const cards[] = {
        "BUNIT   = 'JY/BEAM '           / unit",
        "OBJECT  = 'O''Neill''s  star  '",
        "EMPTY   = ''",
        "UNENDED = 'to the end of the card",
        "NUMBER  = 5",
        "LOGICAL =                    T",
        "FALSE   =                    F / no",
        "STRANGE = 'a\tb'",
    };
    struct header h = header_of(cards, sizeof cards / sizeof *cards);
    char text[32] = "";
    bool logical = false;
    (void)state;
    assert_true(header_text(&h, "BUNIT", text, sizeof text));
    assert_string_equal(text, "JY/BEAM");
    assert_true(header_text(&h, "OBJECT", text, sizeof text));
    assert_string_equal(text, "O'Neill's  star");
    assert_true(header_text(&h, "OBJECT", text, 4));
    assert_string_equal(text, "O'N");
    assert_true(header_text(&h, "EMPTY", text, sizeof text));
    assert_string_equal(text, "");
    assert_true(header_text(&h, "UNENDED", text, sizeof text));
    assert_string_equal(text, "to the end of the card");
    assert_true(header_text(&h, "STRANGE", text, sizeof text));
    assert_string_equal(text, "a?b");
    assert_false(header_text(&h, "NUMBER", text, sizeof text));
    assert_true(header_logical(&h, "LOGICAL", &logical) && logical);
    assert_true(header_logical(&h, "FALSE", &logical) && !logical);
    assert_false(header_logical(&h, "NUMBER", &logical));
    header_clear(&h);
}

/* Cards that are nearly FITS are mended, others left out. */
static void repairs(void **state) {
    static const char *const cards[][2] = {
        {"CDELT1  =           -6.67D-02 / D stays here",
         "CDELT1  =           -6.67E-02 / D stays here"},
        {"OBJECT  = '1.5D3'", "OBJECT  = '1.5D3'"},
        {"CRVAL1  = 'it''s' / 'no'", "CRVAL1  = 'it''s' / 'no'"},
        {"CTYPE1  = '\x80RA\x1b", "CTYPE1  = ' RA "},
        {"SIMPLE  =                    T", "SIMPLE  =                    T"},
        {"A_1_1   =   =                0.002", NULL},
        {"A_1_1   = 1.5x", NULL},
        {"AP_2_0  =                 2D-3", "AP_2_0  =                 2E-3"},
        {"CTYPE2  = 'DEC' CRPIX", NULL},
        {"CTYPE2  = 'DEC'x", NULL},
        {"CRPIX1  =", NULL},
        {"CRPIX1  =3.0", NULL},
        {"HISTORY   1.5D3 \x80\x1b", NULL},
        {"        = 3.0", NULL},
    };
    enum { CARDS = sizeof cards / sizeof *cards };
    const char *given[CARDS];
    int n_cards, n = 0;
    (void)state;
    for (int i = 0; i < CARDS; i++)
        given[i] = cards[i][0];
    struct header h = header_of(given, CARDS);
    char *text = header_repair(&h, &n_cards);
    for (int i = 0; i < CARDS; i++) {
        if (cards[i][1])
            assert_memory_equal(text + CARD * n++, cards[i][1], strlen(cards[i][1]));
    }
    assert_int_equal(n_cards, n);
    assert_int_equal(text[n * CARD], '\0');
    assert_int_equal(text[4 * CARD - 1], '\''); /* closed */
    free(text);
    header_clear(&h);
}

/* Asserts which cards WCSLIB gets: those that begin with a blank are left out. */
static void assert_kept(const char *const *lines, int n, const char *left_out) {
    const char *cards[64];
    char text[SRCFIND_REASON];
    int n_cards, at = 1; /* behind the number of axes */
    for (int i = 0; i < n; i++)
        cards[i] = lines[i] + (*lines[i] == ' ');
    struct header h = header_of(cards, n);
    char *kept = wcs_cards_make(&h, &n_cards, text);
    assert_memory_equal(kept, "WCSAXES =                    2 ", 31);
    at += n_cards > 1 && memcmp(kept + CARD, "PLATEID = '    '", 16) == 0;
    for (int i = 0; i < n; i++)
        if (*lines[i] != ' ' &&
            (at >= n_cards || memcmp(kept + CARD * at++, cards[i], strlen(cards[i])) != 0))
            fail_msg("%s is left out", cards[i]);
    if (at < n_cards)
        fail_msg("%.80s is kept", kept + CARD * at);
    assert_string_equal(text, left_out);
    free(kept);
    header_clear(&h);
}

#define ASSERT_KEPT(left_out, ...)                                                                 \
    do {                                                                                           \
        const char *const lines[] = {__VA_ARGS__};                                                 \
        assert_kept(lines, sizeof lines / sizeof *lines, left_out);                                \
    } while (0)

/* WCSLIB gets cards of the primary coordinates that are known, and no records. */
static void for_wcslib(void **state) {
    (void)state;
    ASSERT_KEPT("", "NAXIS   = 3", " NAXIS   = 1420000000.0", " NAXIS   = 33", "WCSAXES = 32",
                " WCSAXES = -1", " WCSAXESA= 2", "CTYPE32 = 'FREQ'", " CTYPE33 = 'FREQ'",
                " CTYPE1A = 'RA---SIN'", "CTYPE1  = 'RA---SIN'", "PC1_2   = 1", "PC001002= 1",
                "CD01_02 = 1", " CD1_2A  = 1", "PV2_0   = 1", "PV2_39  = 1", " PV2_1B  = 1",
                "LONPOLE = 1", " LONPOLEA= 1", "RESTFRQ = 1", "VELREF  = 257", " PV2_    = 1",
                " DATE-OBS= '2026-01-01'", " OBJECT  = 'M 31'", " SIMPLE  = T", " MJD-OBS = 6E4",
                " RSUN_REF= 1", " TELESCOP= 'x'", " CRDER1  = 1", " CPIXEL1 = 3");
    ASSERT_KEPT("", " CPDIS1A = 'LOOKUP'", " DP1A    = 'NAXES: 2'", " CQDIS2B = 'TPD'",
                " DQ2B    = 'NAXES: 2'", " CPERR1  = 0.1", " CQERR1  = 0.1", " DVERR   = 0.1",
                " CPERR1A = 0.1", " D2IMERR1= 0.1", " DP3     = 'NAXES: 2'", " CPDIS3  = 'TPD'",
                " CPDIS1  = '  '");
    ASSERT_KEPT("distortions are left out: CPDIS1 (Lookup), CPDIS2 (LOOKUP), D2IMDIS1 (Lookup): "
                "positions are those without them, and tables as those of Hubble move "
                "positions by milliarcseconds",
                " CPDIS1  = 'Lookup'", " DP1     = 'EXTVER: 1'", " DP1     = 'NAXES: 2'",
                " DP1.AXIS.1= 1", " CPDIS2  = 'LOOKUP'", " DP2     = 'AXIS.2000000: 2'",
                " DP2     =   'OFFSET.99:1.0'", " D2IMDIS1= 'Lookup'", " D2IM1   = 'EXTVER: 1'",
                " D2IMERR1= 0.002");
    ASSERT_KEPT("distortions are left out: CQDIS2 (TPD): positions are those without them, and may "
                "be wrong by many pixels",
                " CQDIS2  = 'TPD'", " DQ2     = 'NAXES: 2'", " DQ2     = 'TPD.FWD.1: 1.0'");
    ASSERT_KEPT("distortions are left out: DP1, DP2: positions are those of SIP alone, and tables "
                "as those of Hubble move positions by milliarcseconds",
                "A_ORDER = 2", "A_2_0   = 1", "A_0_0   = 1", " A_2_1   = 1", " A_5_5   = 1",
                " A_1_1   = 'text'", "BP_ORDER= 1", "BP_1_0  = 1", " BP_1_1  = 1", " A_10_1  = 1",
                " A_1_1A  = 1", "A_DMAX  = 1", " B_DMAX  = 'x'", " A_RADIUS= 1", "B_ORDER = 0",
                "B_0_0   = 1", " DP1     = 'NAXES: 2'", " DP2     = 'NAXES: 2'");
    ASSERT_KEPT("distortions are left out: B_p_q (no B_ORDER): positions are those of SIP alone, "
                "and may be wrong by many pixels",
                "A_ORDER = 2", "A_2_0   = 1", " B_2_0   = 1");
}

#define PLATE                                                                                      \
    "CNPIX1  = 1", "CNPIX2  = 1", "PPO3    = 1", "PPO6    = 1", "XPIXELSZ= 1", "YPIXELSZ= 1",      \
        "PLTRAH  = 1", "PLTRAM  = 1", "PLTRAS  = 1", "PLTDECSN= '-       '", "PLTDECD = 1",        \
        "PLTDECM = 1", "PLTDECS = 1", "AMDX1   = 1", "AMDX2   = 1", "AMDX3   = 1", "AMDX13  = 1",  \
        "AMDY1   = 1", "AMDY2   = 1"
#define LEFT_OUT " CNPIX1  = 1", " PPO3    = 1", " AMDX1   = 1"
#define WITHOUT "positions are those without them, and may be wrong by many pixels"

/* A plate of the Digitized Sky Survey is used if nothing is missing of it. */
static void plates_for_wcslib(void **state) {
    (void)state;
    ASSERT_KEPT("", PLATE, "AMDY3   = 1", " PLTDECSN= '------'", " PLTDECSN= 'S'",
                " PLATEID = 'a name that is longer than 8 bytes'", "PPO1    = 1", " PPO7    = 1",
                " AMDX14  = 0", " AMDX21  = 0", " AMDX1   = 'x'");
    ASSERT_KEPT("distortions are left out: AMDY20 (plate): positions are those of the plate, and "
                "may be wrong by many pixels",
                PLATE, "AMDY3   = 1", " AMDY20  = 1E-3");
    ASSERT_KEPT("distortions are left out: AMDX1 (plate): " WITHOUT, LEFT_OUT);
    ASSERT_KEPT("", " CNPIX1  = 1", " PPO3    = 1", " XPIXELSZ= 'x'", " AMDX1   = 'x'");
    ASSERT_KEPT("", "A_ORDER = 2", "A_2_0   = 1", LEFT_OUT);
}

#define TNX(axis, numbers) "WAT" axis "_001= 'wtype=tnx axtype=x cor = \"" numbers "\"'"
#define TERM "1. 1. 1. 0. 0. 1. 0. 1. 2. " /* one coefficient */
#define NOTE "distortions are left out: WAT1_001 (polynomials): " WITHOUT

/* Polynomials of TNX and ZPX are used if both axes have all numbers that WCSLIB reads. */
static void polynomials_for_wcslib(void **state) {
    static const char *const wrong[] = {"1. 20000. 20000. 0. 0. 1. 0. 1. 2. ",
                                        "1. 21. 1. 0. 0. 1. 0. 1. 2. ",
                                        "1. -5. 3. 1. 0. 1. 0. 1. 2. ",
                                        "1. 1. 1. 3. 0. 1. 0. 1. 2. ",
                                        "0. 1. 1. 0. 0. 1. 0. 1. 2. ",
                                        "4. 1. 1. 0. 0. 1. 0. 1. 2. ",
                                        "1.5 1. 1. 0. 0. 1. 0. 1. 2. ",
                                        "1. 2. 2. 1. 0. 1. 0. 1. 2. 3. 4. ",
                                        "1. 1. 1. 0. 0.  1. 0. 1. 2. ",
                                        " 1. 1. 1. 0. 0. 1. 0. 1. 2. ",
                                        "1. 1. 1. 0. 0. x 0. 1. 2. ",
                                        "1. 1. 1. 0. ",
                                        "1. 1. 1. 0. 0. 1. 0. 1. 2.",
                                        "1. 1e99 1. 0. 0. 1. 0. 1. 2. ",
                                        ""};
    (void)state;
    ASSERT_KEPT("", TNX("1", TERM), TNX("2", "1. 2. 2. 2. 0. 1. 0. 1. 1. 2. 3. "));
    ASSERT_KEPT("", " WAT1_001= 'wtype=tan axtype=ra'", " WAT2_001= 'wtype=tan axtype=dec'");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char card[CARD + 1];
        snprintf(card, sizeof card, " WAT2_001= 'wtype=tnx x = \"%s\"'", wrong[i]);
        ASSERT_KEPT(NOTE, " " TNX("1", TERM), card);
    }
    ASSERT_KEPT(NOTE, " " TNX("1", TERM));
    ASSERT_KEPT(NOTE, " " TNX("1", TERM), " WAT2_001= 5");
    ASSERT_KEPT(NOTE, " " TNX("1", TERM), " " TNX("2", TERM), " WAT2_000= 'x'", " WAT2_003= 'x'");
    ASSERT_KEPT(NOTE, " " TNX("1", TERM), " " TNX("2", TERM), " WAT2_002= 'x'");
    ASSERT_KEPT(NOTE, " " TNX("1", TERM), " WAT2_001= 'wtype=tnxtnxtnxtnxtnx x = \"" TERM "\"'");
    ASSERT_KEPT(NOTE, " " TNX("1", TERM), " WAT2_001= 'wtype=zpx x = \"" TERM "\"'");
    ASSERT_KEPT("", "WAT1_001= 'wtype=zpx x = \"" TERM "\"'",
                "WAT2_001= 'wtype=zpx projp1=1. projp3=-50.5 x = \"" TERM "\"'");
    ASSERT_KEPT(NOTE, " WAT1_001= 'wtype=zpx x = \"" TERM "\"'",
                " WAT2_001= 'wtype=zpx projp-5=1. x = \"" TERM "\"'");
}

static void repeated_keywords(void **state) {
    static const char *const cards[] = {"HISTORY one", "COMMENT x", "HISTORY two", "HISTORYX"};
    struct header h = header_of(cards, 4);
    int64_t i = 0;
    (void)state;
    assert_memory_equal(header_next(&h, "HISTORY", &i), "HISTORY one", 11);
    assert_memory_equal(header_next(&h, "HISTORY", &i), "HISTORY two", 11);
    assert_null(header_next(&h, "HISTORY", &i));
    header_clear(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),           cmocka_unit_test(texts),
        cmocka_unit_test(repairs),           cmocka_unit_test(for_wcslib),
        cmocka_unit_test(plates_for_wcslib), cmocka_unit_test(polynomials_for_wcslib),
        cmocka_unit_test(repeated_keywords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
