/* Rows as bytes, and the tables that are made of them. */
#include "catalogues.h"
#include "output/row_bytes.h"

enum { NAME = 2, S_CODE = 3 }; /* of `cells` */

/* A number takes 8 bytes, a text those of its column. */
static void widths_of_columns(void **state) {
    struct srcfind_catalogue *c = catalogue_of(0, "");
    size_t widths[MOST_COLUMNS], sum = 0;
    (void)state;
    const size_t n = row_bytes_widths(&c->table, widths);
    for (int i = 0; i < N_CELLS; i++) {
        assert_int_equal(widths[i], i == NAME ? 31 : i == S_CODE ? 1 : 8);
        sum += widths[i];
    }
    assert_true(n == sum && n <= ROW_MOST_BYTES);
    srcfind_catalogue_destroy(c);
}

/* Cells follow each other, big-endian; a text has zeros behind it, and what is empty is NaN or the
 * least integer. */
static void bytes_of_a_row(void **state) {
    static const unsigned char name[] = "J1\0\0", one[8] = {0, 0, 0, 0, 0, 0, 0, 1},
                               least[8] = {0x80}, nan[2] = {0x7f, 0xf8};
    struct srcfind_catalogue *c = catalogue_of(1, "");
    struct srcfind_source row = {.id = 1,
                                 .name = "J1",
                                 .s_code = "C",
                                 .n_gaussians = 1,
                                 .lon = INFINITY,
                                 .lat = -2,
                                 .n_pixels = SRCFIND_EMPTY};
    const struct rows rows = rows_of_sources(&row, 1);
    unsigned char bytes[ROW_MOST_BYTES];
    size_t widths[MOST_COLUMNS], at = 0;
    const int lon = column_called("RA"), n_pix = column_called("N_pix");
    (void)state;
    const size_t n = row_bytes_widths(&c->table, widths);
    widths[NAME] = 4;
    memset(bytes, 'x', sizeof bytes);
    assert_int_equal(row_bytes_put(&c->table, &rows, 0, widths, bytes), n - 31 + 4);
    assert_int_equal(bytes[n - 31 + 4], 'x');
    assert_memory_equal(bytes, one, 8);
    assert_memory_equal(bytes + 16, name, 4);
    assert_memory_equal(bytes + 20, "C", 1);
    assert_memory_equal(bytes + 21, one, 8); /* N_Gaus */
    assert_memory_equal(bytes + 29, nan, 2);
    assert_memory_equal(bytes + 37, "\xc0\0\0\0\0\0\0", 8);
    for (int i = 0; i < n_pix; i++)
        at += widths[i];
    assert_memory_equal(bytes + at, least, 8);
    for (int i = 0; i < N_CELLS; i++)
        assert_int_equal(row_cell_is_empty(&rows, 0, &c->table.columns.column[i]),
                         i == lon || i == n_pix);
    *row.name = '\0';
    assert_true(row_cell_is_empty(&rows, 0, &c->table.columns.column[NAME]));
    srcfind_catalogue_destroy(c);
}

/* FITS names the integer of empty cells; the data follow the header. */
static void fits_table(void **state) {
    struct srcfind_catalogue *c = catalogue_of(11, "image.fits");
    unsigned char row[ROW_MOST_BYTES];
    size_t widths[MOST_COLUMNS], size;
    char *bytes = bytes_of(&fits_writer, c, NULL, &size);
    const size_t n = row_bytes_widths(&c->table, widths), n_rows = 11;
    (void)state;
    const size_t data = size - (n_rows * n + 2879) / 2880 * 2880;
    bytes[data - 1] = '\0'; /* the last of the blanks behind END */
    assert_non_null(strstr(bytes, "TNULL23 = -9223372036854775808"));
    assert_non_null(strstr(bytes, "TFORM4  = '1A "));
    assert_non_null(strstr(bytes, "TFORM3  = '31A"));
    assert_null(strstr(bytes, "TNULL1 "));
    for (size_t k = 0; k < n_rows; k++) {
        const struct rows rows = rows_of_sources(result_of(c)->sources.rows + k, 1);
        row_bytes_put(&c->table, &rows, 0, widths, row);
        assert_memory_equal(bytes + data + k * n, row, n);
    }
    free(bytes);
    srcfind_catalogue_destroy(c);
}

/* The value of a digit of base64. */
static unsigned value_of(char digit) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return (unsigned)(strchr(digits, digit) - digits);
}

/* Decodes a line of base64; returns the number of bytes. */
static size_t decode(const char *line, unsigned char *bytes) {
    size_t n = 0;
    for (; *line != '\n'; line += 4) {
        const unsigned three = value_of(line[0]) << 18 | value_of(line[1]) << 12 |
                               value_of(line[2]) << 6 | value_of(line[3]);
        for (int shift = 16; shift >= 0; shift -= 8)
            bytes[n++] = (unsigned char)(three >> shift);
    }
    return n;
}

/* In VOTable a bit says that a cell is empty, of an integer, too; texts have two characters or
 * more, since what reads them does not agree on one. */
static void votable(void **state) {
    enum { ROWS = 11 };
    struct srcfind_catalogue *c = catalogue_of(ROWS, "image.fits");
    size_t widths[MOST_COLUMNS], at = 0;
    char *text = text_of(&votable_writer, c, NULL),
         *rows = malloc(ROWS * writer_row_bytes(&votable_writer, &c->table));
    struct rows all = rows_of_sources(result_of(c)->sources.rows, ROWS);
    all.are_last = true;
    const size_t size = votable_writer.rows.format(&c->table, &all, rows);
    (void)state;
    assert_non_null(strstr(text, "name=\"S_Code\" datatype=\"char\" arraysize=\"2\""));
    for (int k = 0; k < ROWS; k++) {
        unsigned char bytes[2 * ROW_MOST_BYTES];
        const size_t n = decode(rows + at, bytes);
        at += n / 3 * 4 + 1;
        assert_in_range(n, (N_CELLS + 7) / 8 + row_bytes_widths(&c->table, widths) + 1,
                        sizeof bytes);
        for (int i = 0; i < N_CELLS; i++)
            assert_int_equal(bytes[i / 8] >> (7 - i % 8) & 1,
                             row_cell_is_empty(&all, k, &c->table.columns.column[i]));
    }
    assert_int_equal(at, size);
    free(rows);
    free(text);
    srcfind_catalogue_destroy(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_of_columns),
        cmocka_unit_test(bytes_of_a_row),
        cmocka_unit_test(fits_table),
        cmocka_unit_test(votable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
