/* Values of keywords in the text of a header. */
#include <stdio.h>
#include <stdlib.h>

#include "fits/header.h"
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

static void for_wcslib(void **state) {
    static const char *const cards[] = {
        "CDELT1  =           -6.67D-02 / D stays here",
        "OBJECT  = '1.5D3'",
        "HISTORY   1.5D3 \x80\x1b",
    };
    struct header h = header_of(cards, 3);
    char *text = header_for_wcslib(&h);
    (void)state;
    assert_memory_equal(text, "CDELT1  =           -6.67E-02 / D stays here", 44);
    assert_memory_equal(text + CARD, "OBJECT  = '1.5D3'", 17);
    assert_memory_equal(text + 2 * CARD, "HISTORY   1.5D3   ", 18);
    assert_int_equal(text[3 * CARD], '\0');
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
