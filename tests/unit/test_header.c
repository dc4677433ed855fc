/* Values of keywords in the text of a header. */
#include <stdio.h>
#include <stdlib.h>

#include "input/fits/header.h"
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

/* The cards that WCSLIB dies of are mended or left out, and the others stay. */
static void for_wcslib(void **state) {
    static const char *const cards[][2] = {
        {"CDELT1  =           -6.67D-02 / D stays here",
         "CDELT1  =           -6.67E-02 / D stays here"},
        {"OBJECT  = '1.5D3'", "OBJECT  = '1.5D3'"},
        {"CRVAL1  = 'it''s' / 'no'", "CRVAL1  = 'it''s' / 'no'"},
        {"CTYPE1  = '\x80RA\x1b", "CTYPE1  = ' RA "},
        {"SIMPLE  =                    T", "SIMPLE  =                    T"},
        {"A_1_1   =   =                0.002", NULL},
        {"A_1_1   = 1.5x", NULL},
        {"B_1_1   = 'text'", NULL},
        {"AP_2_0  =                 2D-3", "AP_2_0  =                 2E-3"},
        {"CTYPE2  = 'DEC' CRPIX", NULL},
        {"CTYPE2  = 'DEC'x", NULL},
        {"NAXIS   = 1420000000.0", NULL},
        {"WCSAXESA= 100", NULL},
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
    char *text = header_for_wcslib(&h, &n_cards);
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
        cmocka_unit_test(numbers),
        cmocka_unit_test(texts),
        cmocka_unit_test(for_wcslib),
        cmocka_unit_test(repeated_keywords),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
