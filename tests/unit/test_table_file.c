/* Tables in files: what is read of sound ones, and one line of error for the others. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "catalogues.h"
#include "input/positions.h"
#include "input/read_table.h"
#include "temporary.h"

enum { FILE_PATH = TEMPORARY_PATH + 16 };

static char directory[TEMPORARY_PATH];

static int calls_left = -1; /* until memory runs out for one call; -1: never */

static bool fails(void) {
    return calls_left >= 0 && calls_left-- == 0;
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        return fails() ? NULL : __real_##name arguments;                                           \
    }
WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

static const char *path_of(const char *name) {
    static char path[FILE_PATH];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static const char *write_bytes(const char *name, const char *bytes, size_t size) {
    const char *path = path_of(name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
    return path;
}

static const char *write_text(const char *name, const char *text) {
    return write_bytes(name, text, strlen(text));
}

static struct table_file read_file(const char *path) {
    struct table_file table;
    struct error error;
    if (read_table(path, NULL, &table, &error) != SRCFIND_OK)
        fail_msg("%s", error.text);
    return table;
}

static struct table_file read_text(const char *name, const char *text) {
    return read_file(write_text(name, text));
}

/* A cell as a text, whatever its kind: `` if empty. */
static const char *cell(const struct table_file *table, int64_t row, int i) {
    static char text[64];
    const struct table_file_column *column = &table->columns[i];
    text[0] = '\0';
    if (column->kind == SRCFIND_STRING)
        return table_file_text(column, row);
    if (column->kind == SRCFIND_INTEGER && column->integers[row] != INT64_MIN)
        snprintf(text, sizeof text, "%lld", (long long)column->integers[row]);
    if (column->kind == SRCFIND_REAL && !isnan(column->reals[row]))
        snprintf(text, sizeof text, "%.17gr", column->reals[row]);
    return text;
}

/* A table is: names, and cells in the order of rows, each followed by `|`. */
static void assert_table(const char *name, const char *text, const char *expected) {
    struct table_file table = read_text(name, text);
    char all[4096] = "";
    for (int i = 0; i < table.n_columns; i++)
        sprintf(all + strlen(all), "%s|", table.columns[i].name);
    for (int64_t row = 0; row < table.n_rows; row++)
        for (int i = 0; i < table.n_columns; i++)
            sprintf(all + strlen(all), "%s|", cell(&table, row, i));
    assert_string_equal(all, expected);
    table_file_clear(&table);
}

static void assert_fails(const char *path, const char *words) {
    struct table_file table;
    struct error error;
    assert_int_equal(read_table(path, NULL, &table, &error), SRCFIND_ERROR_INPUT);
    table_file_clear(&table);
    assert_null(strchr(error.text, '\n'));
    assert_memory_equal(error.text, path, strlen(path));
    if (!strstr(error.text, words))
        fail_msg("%s: not in: %s", words, error.text);
}

static void assert_text_fails(const char *name, const char *text, const char *words) {
    assert_fails(write_text(name, text), words);
}

/* --- CSV --- */

static void csv(void **state) {
    (void)state;
    assert_table("a.csv", "a,b,c\n1,2.5,x\n,,\n-3,1e5,\"y, \"\"z\"\"\"\n",
                 "a|b|c|1|2.5r|x||||-3|100000r|y, \"z\"|");
    assert_table("a.csv", "\xef\xbb\xbf a , b\r\n 1 ,\t2 \r\n\r\n3,4", "a|b|1|2|3|4|");
    assert_table("a.CSV", "a,b\r1,2\r3,4\r", "a|b|1|2|3|4|");
    assert_table("a.csv", "# by hand\n\n#and more\na,b\n1,2\n", "a|b|1|2|");
    assert_table("a.csv", "\"a\nb\" ,\"c\"\n\"1\",\"x\ny\"\n", "a\nb|c|1|x\ny|");
}

/* Names in the last comment, as PyBDSF and NumPy write them. */
static void names_in_a_comment(void **state) {
    (void)state;
    assert_table("a.csv",
                 "# Source list for \"x, y\n# Equinox : 2000.0 \n\n# Source_id, RA \n  0,  1.5 \n",
                 "Source_id|RA|0|1.5r|");
    assert_table("a.csv", "#RA,DEC\n", "RA|DEC|");
    assert_table("a.csv", "# one, two\nRA,DEC\n1,2\n", "RA|DEC|1|2|");
    assert_table("a.csv", "# one, two, three\n1,2\n3,4\n", "1|2|3|4|");
}

/* As TOPCAT, Aegean, awk and spreadsheets write them: what is between the names is between cells.
 */
static void other_delimiters(void **state) {
    (void)state;
    assert_table("a.csv", "a\tb c\td\n1\t2, 3\t\n\t x y \t4\n", "a|b c|d|1|2, 3|||x y|4|");
    assert_table("a.tsv", "a\tb\r\n\"x\ty\"\t1\r\n", "a|b|x\ty|1|");
    assert_table("a.tab", "#a\tb\n1\t2\n", "a|b|1|2|");
    assert_table("a.txt", "# made by hand, one day\n a;b \n 1 ; 2.5\n;\n", "a|b|1|2.5r|||");
    assert_table("a.csv", "a|b\n1|x;y\n", "a|b|1|x;y|");
    assert_table("a.txt", "|a|b|\n|1|2|\n", "|a|b|||1|2||");
    assert_table("a.csv", "a b  c\n1 2.5\t x\n  3   4 \"y z\"  \n", "a|b|c|1|2.5r|x|3|4r|y z|");
    assert_table("a.txt", "# a   b\n  1   2\n  3   4\n", "a|b|1|2|3|4|");
    assert_table("a.txt", "# two words\na b\n1 2\n", "a|b|1|2|");
    assert_table("a.txt", "# a b\n", "a|b|");
    assert_table("a.csv", "a b, c\n1 2, 3\n", "a b|c|1 2|3|"); /* commas count first */
    assert_table("a.csv", "\"a b\"\n1\n", "a b|1|");
    assert_table("a.csv", "a\n1\n", "a|1|");
}

/* An error has the line, and says what is looked for between cells. */
static void bad_delimiters(void **state) {
    static const char *const separators[][2] = {
        {",", "`,`"}, {";", "`;`"}, {"|", "`|`"}, {"\t", "a tab"}, {" ", "a blank"}};
    char text[64], words[128];
    (void)state;
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        snprintf(text, sizeof text, "a%sb\n1%s2\n3/4\n", separators[i][0], separators[i][0]);
        snprintf(words, sizeof words,
                 "line 3 has 1 cells, but there are 2 columns: is the file truncated, or is "
                 "something else than %s between its cells?",
                 separators[i][1]);
        assert_text_fails("a.txt", text, words);
        snprintf(text, sizeof text, "a%sb\n1%s2%s3\n", separators[i][0], separators[i][0],
                 separators[i][0]);
        snprintf(words, sizeof words,
                 "line 2 has more cells than the 2 columns: a text with %s in it needs quotes",
                 separators[i][1]);
        assert_text_fails("a.txt", text, words);
    }
}

static void kinds(void **state) {
    (void)state;
    struct table_file table = read_text("a.csv", "i,r,t,late,none,big,nan\n"
                                                 "1,1,x,007,,9223372036854775807,nan\n"
                                                 ",2.5,,1.50,,9223372036854775808,inf\n"
                                                 "-3,,1,a,,1,1\n");
    static const enum srcfind_kind expected[] = {SRCFIND_INTEGER, SRCFIND_REAL, SRCFIND_STRING,
                                                 SRCFIND_STRING,  SRCFIND_REAL, SRCFIND_REAL,
                                                 SRCFIND_REAL};
    static const char *const late[] = {"007", "1.50", "a"};
    (void)state;
    for (int i = 0; i < table.n_columns; i++)
        assert_int_equal(table.columns[i].kind, expected[i]);
    for (int row = 0; row < 3; row++)
        assert_string_equal(cell(&table, row, 3), late[row]);
    assert_true(table.columns[0].integers[1] == INT64_MIN && table.columns[0].integers[2] == -3);
    assert_true(table.columns[1].reals[0] == 1 && isnan(table.columns[1].reals[2]));
    assert_string_equal(cell(&table, 1, 2), "");
    assert_true(table.columns[5].reals[0] == 0x1p63 && table.columns[5].reals[2] == 1);
    assert_true(isnan(table.columns[6].reals[0]) && isinf(table.columns[6].reals[1]));
    table_file_clear(&table);
}

/* Kinds that change after thousands of rows, and rows that do not fit into the first allocation. */
static void many_rows(void **state) {
    enum { N = 5000 };
    char *text = malloc(N * 64), *to = text;
    (void)state;
    to += sprintf(to, "i,r,t,e\n");
    for (int row = 0; row < N; row++)
        to += sprintf(to, "%d,%s,%s,%s\n", row,
                      row == N - 1 ? "0.5"
                      : row % 7    ? "3"
                                   : "",
                      row == N - 1 ? "x" : "10", row == N - 1 ? "y" : "");
    struct table_file table = read_text("a.csv", text);
    assert_int_equal(table.n_rows, N);
    for (int row = 0; row < N - 1; row++) {
        assert_true(table.columns[0].integers[row] == row);
        assert_true(row % 7 ? table.columns[1].reals[row] == 3
                            : isnan(table.columns[1].reals[row]));
        assert_string_equal(table_file_text(&table.columns[2], row), "10");
        assert_string_equal(table_file_text(&table.columns[3], row), "");
    }
    assert_string_equal(table_file_text(&table.columns[2], N - 1), "x");
    assert_string_equal(table_file_text(&table.columns[3], N - 1), "y");
    table_file_clear(&table);
    free(text);
}

static void bad_csv(void **state) {
    char *long_line = malloc(3 << 20);
    (void)state;
    assert_text_fails("a.csv", "", "no line with the names");
    assert_text_fails("a.csv", "# only\n\n# comments\n", "no line with the names");
    assert_text_fails("a.csv", "a,b\n1,2\n1\n", "line 3 has 1 cells, but there are 2 columns");
    assert_text_fails("a.csv", "# c\r\na,b\r\n1,2\r\n\r\n\"x\r\ny\",1\r\n1\r\n",
                      "line 7 has 1 cells");
    assert_text_fails("a.csv", "a,b\n1,2,3\n", "line 2 has more cells than the 2 columns");
    assert_text_fails("a.csv", "a,b\n1,\"2\n3,4\n", "a quote is opened in line 2 and never closed");
    assert_text_fails("a.csv", "a,b\n\"1\"x,2\n",
                      "line 2: a cell goes on behind its closing quote");
    assert_text_fails("a.csv", "a,b\n\"1\" x,2\n",
                      "line 2: a cell goes on behind its closing quote");
    assert_text_fails("a.csv", "RA,b,RA\n1,2,3\n", "columns 1 and 3 have one name, RA");
    assert_text_fails("a.csv", "\"a\nb\",\"a\nb\"\n1,2\n", "have one name, a?b");
    assert_text_fails("a.txt", "# ra dec name e\n# deg deg\n187.5 -3 a 0.00 0.00\n",
                      "no line with the names of columns is recognised, and columns 4 and 5 of the "
                      "first row are both 0.00: write the names");
    assert_text_fails("a.txt", "RA DEC 150 150\n1 2 3 4\n", "columns 3 and 4 have one name, 150");
    assert_text_fails("a.txt",
                      "  Source RA DEC Xposn Yposn Peak_flux Total_flux SNR Maj Flags\n deg deg\n",
                      "rounded numbers, to be read by eye: write the catalogue as CSV (-f csv)");
    assert_fails(write_bytes("a.csv", "a,b\n1,\0\n", 8), "line 2 has a NUL byte");
    memset(long_line, '1', 3 << 20);
    memcpy(long_line, "a\n", 2);
    assert_fails(write_bytes("a.csv", long_line, 3 << 20), "line 2 has more than 1048576 bytes");
    long_line[2] = '"';
    long_line[(3 << 20) - 1] = '"';
    assert_fails(write_bytes("a.csv", long_line, 3 << 20), "line 2 has more than 1048576 bytes");
    memset(long_line, ',', 5000);
    assert_fails(write_bytes("a.csv", long_line, 5000), "line 1 has more than 4096 cells");
    free(long_line);
}

/* --- ECSV --- */

static const char ecsv_columns[] =
    "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: i, datatype: int64}\n"
    "# - {name: r, unit: deg, datatype: float64, description: 'it''s, {here'}\n"
    "# - name: t\n#   datatype: string\n#   meta: !!omap\n#   - {datatype: int64}\n"
    "# schema: astropy-2.0\n";

static void ecsv(void **state) {
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", ecsv_columns,
             "i r t\n1 2 3\n# aside\n\"\"  nan \"\"\n-4 1e3 \"a \"\"b\"\"\"\n");
    assert_table("a.ecsv", text, "i|r|t|1|2r|3||||-4|1000r|a \"b\"|");
    snprintf(text, sizeof text, "%s# delimiter: ','\n%s", ecsv_columns, "i,r,t\n1,,007\n,2,\n");
    assert_table("a.ecsv", text, "i|r|t|1||007||2r||");
}

static void metadata_of_ecsv(void **state) {
    static const char *const metas[] = {
        "# meta:\n#   image: \"d/\\u00e4 \\\"x\\\".fits\"\n#   "
        "BMAJ: 1.0e-05\n#   RADESYS: GALACTIC\n#   BPA: 30\n",
        "# meta: {RADESYS: GALACTIC, BMAJ: 1e-5, image: "
        "\"d/\xc3\xa4 \\\"x\\\".fits\", BPA: 30.0, deep: {a: 1, BMAJ: 3, b: [1, 2]}}\n",
        "# meta: !!omap\n# - comments: [a, RADESYS: no]\n# - "
        "RADESYS: GALACTIC\n# - {BMAJ: 1e-05}\n# - BPA: 3.0e+1\n"
        "# - image: 'd/\xc3\xa4 \"x\".fits'\n"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%s%s", ecsv_columns, metas[i], "i r t\n");
        struct table_file table = read_text("a.ecsv", text);
        assert_string_equal(table.image.frame, "GALACTIC");
        assert_true(table.image.beam.major == 1e-5 && isnan(table.image.beam.minor) &&
                    table.image.beam.angle == 30);
        assert_string_equal(table.image.path, "d/\xc3\xa4 \"x\".fits");
        table_file_clear(&table);
    }
}

static void bad_ecsv(void **state) {
    static const char *const rows[][2] = {
        {"i r t\n1 x y\n", "line 12: r is `x`, not a number"},
        {"i r t\n1.5 1 y\n", "line 12: i is `1.5`, not a whole number"},
        {"i r t\n1 2\n", "line 12 has 2 cells"},
        {"i r t\n1 2 3 4\n", "line 12 has more cells"},
        {"i r\n1 2\n", "the header has 3 columns, but line 11 has 2 names"},
        {"", "no line with the names"},
    };
    char text[2048];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(text, sizeof text, "%s%s", ecsv_columns, rows[i][0]);
        assert_text_fails("a.ecsv", text, rows[i][1]);
    }
    assert_text_fails("a.ecsv", "a,b\n1,2\n", "line 1 is not `# %ECSV 1.0`");
    assert_text_fails("a.ecsv", "# %ECSV 1.0\n# ---\na b\n1 2\n", "the header has 0 columns");
    assert_text_fails(
        "a.ecsv", "# %ECSV 1.0\n# datatype: {{{[[[\"\n# meta: \"\\\n# - - - -\n# :::\na b\n", "");
}

/* --- JSON --- */

#define COLUMNS "\"columns\":[{\"name\":\"i\"},{\"name\":\"r\"},{\"name\":\"t\"}]"

static void json(void **state) {
    (void)state;
    assert_table("a.json",
                 "{\"x\":[{},\"]}\",[1,2,{\"a\":null}]]," COLUMNS
                 ",\n\"sources\":[\n{\"i\":1,\"r\":0.1,\"t\":\"x\"},\n{\"t\":\"a\\u00e4\\\"\\\\\","
                 "\"i\":null,\"r\":2}\n,{\"t\":null,\"r\":null,\"i\":null}]}\n",
                 "i|r|t|1|0.10000000000000001r|x||2r|a\xc3\xa4\"\\||||");
    assert_table("a.json", "{" COLUMNS ",\"sources\":[]}", "i|r|t|");
    struct table_file table =
        read_text("a.json", "{\"image\":{\"path\":\"a.fits\",\"frame\":\"ICRS\",\"beam\":{\"major_"
                            "deg\":0.5,\"minor_deg\":0.25,"
                            "\"angle_deg\":null}}," COLUMNS ",\"sources\":[]}");
    assert_string_equal(table.image.frame, "ICRS");
    assert_string_equal(table.image.path, "a.fits");
    assert_true(table.image.beam.major == 0.5 && table.image.beam.minor == 0.25 &&
                isnan(table.image.beam.angle));
    table_file_clear(&table);
    table = read_text(
        "a.json", "{\"images\":[{\"image\":{\"path\":\"a.fits\",\"frame\":\"FK5\"}},{}]," COLUMNS
                  ",\"sources\":[]}");
    assert_string_equal(table.image.frame, "FK5");
    assert_null(table.image.path);
    table_file_clear(&table);
}

static void bad_json(void **state) {
    static const char *const documents[][2] = {
        {"", "the file ends in line 1"},
        {"[]", "the file is not a catalogue of srcfind, which is one object"},
        {"{}", "line 1: a string in quotes is missing"},
        {"{\"a\":1}", "no member `sources`"},
        {"{\"sources\":[]}", "without `columns` before"},
        {"{" COLUMNS ",\"sources\":[{\"i\":1}", "the file ends in line 1"},
        {"{" COLUMNS ",\"sources\":[]", "the file ends in line 1"},
        {"{" COLUMNS ",\"sources\":[]}\nx", "line 2: something follows"},
        {"{" COLUMNS ",\"sources\":[],\"sources\":[]}", "`sources` is there twice"},
        {"{" COLUMNS "," COLUMNS "}", "`columns` is there twice"},
        {"{\"columns\":[{}],\"sources\":[]}", "has one without a name"},
        {"{\"columns\":[{\"name\":\"a\"},{\"name\":\"a\"}],\"sources\":[]}", "have one name, a"},
        {"{" COLUMNS ",\"sources\":{}}", "`sources` is not an array"},
        {"{" COLUMNS ",\n\"sources\":[1]}", "line 2: a source is not an object"},
        {"{" COLUMNS ",\"sources\":[{\"z\":1}]}", "is not in `columns`"},
        {"{" COLUMNS ",\"sources\":[{\"i\":1,\"i\":1}]}", "two members of one name"},
        {"{" COLUMNS ",\"sources\":[{\"i\":[1]}]}", "is not a number, a string or null"},
        {"{" COLUMNS ",\"sources\":[{\"i\":nan}]}", "is not a number, a string or null"},
        {"{" COLUMNS ",\"sources\":[{\"i\":\"\\x\"}]}", "a bad escape"},
        {"{" COLUMNS ",\"sources\":[{\"i\":\"x}]}", "the file ends"},
        {"{" COLUMNS ",\"sources\":[{}]}", "a source lacks a member"},
        {"{" COLUMNS ",\"sources\":[{\"i\":1,\"r\":2}]}", "a source lacks a member"},
        {"{" COLUMNS
         ",\"sources\":[{\"i\":1,\"r\":1,\"t\":\"\"},{\"i\":\"x\",\"r\":1,\"t\":\"\"}]}",
         "has strings and numbers"},
        {"{" COLUMNS
         ",\"sources\":[{\"i\":\"x\",\"r\":1,\"t\":\"\"},{\"i\":1,\"r\":1,\"t\":\"\"}]}",
         "has strings and numbers"},
        {"{\"a\":[1,2}}", "no member `sources`"},
        {"{\"a\":]}", "do not match"},
        {"{\"image\":{\"path\":}}", "not valid JSON"},
        {"{\"image\":{\"hdu\":1\033}}", "not valid JSON"},
        {"{\"background\":{\"n\":1\033}}", "not valid JSON"},
        {"{\"background\":{\"n\":\0331}}", "not valid JSON"},
        {"{\"background\":{\"n\":01}}", "not valid JSON"},
        {"{\"background\":{\"n\":1.}}", "not valid JSON"},
        {"{\"background\":{\"n\":-.5}}", "not valid JSON"},
        {"{\"background\":{\"n\":1.e7}}", "not valid JSON"},
        {"{\"background\":{\"n\":1e}}", "not valid JSON"},
        {"{\"background\":{\"n\":+1}}", "not valid JSON"},
        {"{\"background\":{\"n\":[-1.5e-7,0,0.25E+3,null,true,1.}}", "not valid JSON"},
        {"{\"image\":{\"path\":\"a\nb\"}}", "a string has a control character"},
    };
    char deep[2000] = "{\"a\":";
    (void)state;
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        assert_text_fails("a.json", documents[i][0], documents[i][1]);
    memset(deep + 5, '[', 1000);
    assert_text_fails("a.json", deep, "nested too deeply");
    memcpy(deep, "{\"image\":", 9);
    assert_text_fails("a.json", deep, "nested too deeply");
}

/* --- files --- */

static void files(void **state) {
    (void)state;
    assert_fails(path_of("none.csv"), "No such file");
    assert_text_fails("a.reg", "", "a.reg: there is no region with a centre in it");
    assert_text_fails("a.rgn", "",
                      "a.rgn: catalogues are read from .csv, .ecsv, .json, .fits and .vot "
                      "(.votable, .xml), tables of text from .tsv, .tab and .txt, and positions "
                      "from regions of DS9 (.reg)");
    assert_text_fails("a.dat", "RA DEC\n1 2\n", "or rename it if it is a table of text");
    assert_text_fails("a", "", "catalogues are read from");
    assert_text_fails("a.fits", "a,b\n", "not a FITS file");
    mkdir(path_of("d.csv"), 0777);
    assert_fails(path_of("d.csv"), "a directory, not a file");
    assert_int_equal(mkfifo(path_of("f.csv"), 0666), 0);
    assert_fails(path_of("f.csv"), "a device, pipe or socket, not a file");
}

static void write_packed(const char *name, const char *text, int64_t times) {
    gzFile file = gzopen(path_of(name), "wb");
    for (int64_t i = 0; i < times; i++)
        gzwrite(file, text, (unsigned)strlen(text));
    gzclose(file);
}

static void packed(void **state) {
    struct stat info;
    (void)state;
    write_packed("a.csv.gz", "a,b\n1,2\n", 1);
    struct table_file table = read_file(path_of("a.csv.gz"));
    assert_true(table.n_rows == 1 && table.columns[1].integers[0] == 2);
    table_file_clear(&table);
    assert_int_equal(stat(path_of("a.csv.gz"), &info), 0);
    assert_int_equal(truncate(path_of("a.csv.gz"), info.st_size - 9), 0);
    assert_fails(path_of("a.csv.gz"), "truncated");
    write_packed("a.csv.gz", "1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", 3 << 20);
    assert_fails(path_of("a.csv.gz"), "unpacks to more than 100 times its size");
    write_packed("a.csv.gz", "a\n1\n2\n", 1);
    write_packed("b.csv.GZ", "", 0);
    assert_fails(path_of("b.csv.GZ"), "no line with the names");
}

static void columns(void **state) {
    struct table_file table = read_text("a.csv", "ra,RA,Dec\n1,2,3\n");
    (void)state;
    assert_ptr_equal(table_file_column(&table, "RA"), &table.columns[1]);
    assert_ptr_equal(table_file_column(&table, "ra"), &table.columns[0]);
    assert_ptr_equal(table_file_column(&table, "DEC"), &table.columns[2]);
    assert_null(table_file_column(&table, "De"));
    table_file_clear(&table);
}

/* --- tables that are shared --- */

/* Writes a text of one length, and sets the time of the file. */
static void write_version(const char *name, const char *text, time_t seconds) {
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, write_text(name, text), times, 0), 0);
}

static struct taken_table *take(struct shared_table *shared, const char *name) {
    struct taken_table *taken;
    struct error error;
    if (shared_table_take(shared, path_of(name), NULL, NULL, &taken, &error) != SRCFIND_OK)
        fail_msg("%s", error.text);
    return taken;
}

/* Takes a table and gives it back; returns its only number. */
static int64_t take_number(struct shared_table *shared, const char *name) {
    struct taken_table *taken = take(shared, name);
    const int64_t number = taken->table.columns[0].integers[0];
    shared_table_give(shared, taken);
    return number;
}

/* A file that looks unchanged is not read again: here it did change, and nobody can tell. */
static void a_table_is_read_once(void **state) {
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    (void)state;
    write_version("a.csv", "RA\n1\n", 1000);
    assert_int_equal(take_number(shared, "a.csv"), 1);
    write_version("a.csv", "RA\n2\n", 1000);
    assert_int_equal(take_number(shared, "a.csv"), 1);
    struct shared_table *other = shared_table_share(shared);
    shared_table_release(shared);
    assert_int_equal(take_number(other, "a.csv"), 1);
    write_version("a.txt", "RA\n3\n", 1000);
    assert_int_equal(take_number(other, "a.txt"), 3);
    assert_int_equal(take_number(other, "a.csv"), 2);
    shared_table_release(other);
    assert_null(shared_table_share(NULL));
    shared_table_release(NULL);
}

/* A file that was changed is read again; who has the former table keeps it. */
static void a_changed_table_is_read_again(void **state) {
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    struct taken_table *none;
    struct error error;
    (void)state;
    write_version("a.csv", "RA\n1\n", 1000);
    struct taken_table *former = take(shared, "a.csv");
    write_version("a.csv", "RA\n2\n", 1001);
    assert_int_equal(take_number(shared, "a.csv"), 2);
    write_version("a.csv", "RA\n34\n", 1001);
    assert_int_equal(take_number(shared, "a.csv"), 34);
    assert_int_equal(former->table.columns[0].integers[0], 1);
    shared_table_give(shared, former);
    write_version("a.csv", "RA\n\"\n", 1002);
    assert_int_equal(shared_table_take(shared, path_of("a.csv"), NULL, NULL, &none, &error),
                     SRCFIND_ERROR_INPUT);
    assert_null(none);
    unlink(path_of("a.csv"));
    assert_int_equal(shared_table_take(shared, path_of("a.csv"), NULL, NULL, &none, &error),
                     SRCFIND_ERROR_INPUT);
    assert_non_null(strstr(error.text, "No such file"));
    shared_table_give(shared, none);
    shared_table_release(shared);
}

/* Cells that neither a position nor a model is made of take no memory. */
static void unused_cells_go(void **state) {
    static const char names[] = "RA,dec,GLON,HPLT,source_ID,XPOSN,Yposn,Name,Comment,"
                                "E_Total_flux\n1,2,3,4,5,6,7,x,y,8\n";
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    (void)state;
    write_text("a.csv", names);
    struct taken_table *taken = take(shared, "a.csv");
    assert_int_equal(taken->table.n_columns, 10);
    for (int i = 0; i < 8; i++)
        assert_non_null(taken->table.columns[i].integers);
    assert_string_equal(taken->table.columns[8].name, "Comment");
    assert_null(taken->table.columns[8].starts);
    assert_null(taken->table.columns[8].bytes);
    assert_null(taken->table.columns[9].integers);
    shared_table_give(shared, taken);
    shared_table_release(shared);
}

/* --- positions --- */

/* Reads positions as a single search does. */
static enum srcfind_status read_once(const char *path, const char *frame, const char *lon,
                                     const char *lat, struct positions *positions,
                                     struct error *error) {
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    *positions = (struct positions){0};
    const enum srcfind_status status =
        shared ? positions_read(shared, path, frame, 2000, lon, lat, true, positions, error)
               : error_memory(error, "sharing a catalogue");
    shared_table_release(shared);
    return status;
}

static struct positions read_positions(const char *text, const char *lon, const char *lat) {
    struct positions positions;
    struct error error;
    if (read_once(write_text("a.csv", text), "ICRS", lon, lat, &positions, &error) != SRCFIND_OK)
        fail_msg("%s", error.text);
    return positions;
}

static void assert_positions(const char *text, const char *lon, const char *lat, bool celestial,
                             double x, double y) {
    struct positions positions = read_positions(text, lon, lat);
    assert_int_equal(positions.n, 1);
    assert_int_equal(positions.id[0], 1);
    assert_int_equal(positions.celestial, celestial);
    assert_true(positions.x[0] == x && positions.y[0] == y);
    positions_clear(&positions);
}

static void positions_of_columns(void **state) {
    (void)state;
    assert_positions("ra,Xposn,Yposn,DEC\n1,2,3,4\n", "RA", "DEC", true, 1, 4);
    assert_positions("ra,Xposn,Yposn,DEC\n1,2,3,4\n", "", "", false, 2, 3);
    assert_positions("ra,xposn,yposn\n1,2,3\n", "RA", "DEC", false, 2, 3);
    assert_positions("glon,GLAT\n1,2.5\n", "GLON", "GLAT", true, 1, 2.5);
    assert_positions("lon,lat\n1,2.5\n", "GLON", "GLAT", true, 1, 2.5);
    assert_positions("LON,LAT\n1,2.5\n", "HPLN", "HPLT", true, 1, 2.5);
    assert_positions("HPLN,HPLT\n1,2.5\n", "HPLN", "HPLT", true, 1, 2.5);
}

/* Images of one run, each with the columns of its own coordinates. */
static void positions_of_several_frames(void **state) {
    static const struct {
        const char *lon, *lat;
        bool celestial;
        double x, y;
    } images[] = {{"RA", "DEC", true, 1, 2},
                  {"GLON", "GLAT", true, 3, 4},
                  {"", "", false, 7, 8},
                  {"ELON", "ELAT", true, 5, 6},
                  {"RA", "DEC", true, 1, 2}};
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    const char *path =
        write_text("a.csv", "RA,DEC,GLON,GLAT,LON,LAT,Xposn,Yposn\n1,2,3,4,5,6,7,8\n");
    (void)state;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        struct positions p;
        struct error error;
        assert_int_equal(
            positions_read(shared, path, "", NAN, images[i].lon, images[i].lat, true, &p, &error),
            SRCFIND_OK);
        assert_int_equal(p.n, 1);
        assert_int_equal(p.celestial, images[i].celestial);
        assert_true(p.x[0] == images[i].x && p.y[0] == images[i].y);
        positions_clear(&p);
    }
    shared_table_release(shared);
}

static void positions_of_rows(void **state) {
    struct positions p = read_positions(
        "Source_id,RA,DEC\n7,1,2\n9,,2\n8,1,nan\n3,inf,2\n4,-99,-99\n5,-1,-90\n", "RA", "DEC");
    static const int64_t ids[] = {7, 9, 8, 3, 4, 5};
    (void)state;
    assert_int_equal(p.n, 6);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(p.id[i], ids[i]);
        assert_int_equal(isnan(p.x[i]), i > 0 && i < 5);
        assert_int_equal(isnan(p.y[i]), i > 0 && i < 5);
    }
    assert_true(p.x[5] == 359 && p.y[5] == -90);
    positions_clear(&p);
    p = read_positions("source_id,Xposn,Yposn\na,1000,2000\nb,3,-4\n", "RA", "DEC");
    assert_true(p.id[0] == 1 && p.id[1] == 2 && p.y[0] == 2000 && p.y[1] == -4);
    positions_clear(&p);
    p = read_positions("source_id,Xposn,Yposn\n5,1,2\n,3,4\n", "RA", "DEC");
    assert_true(p.id[0] == 1 && p.id[1] == 2);
    positions_clear(&p);
}

static void bad_positions(void **state) {
    static const char *const cases[][4] = {
        {"RA,DEC\n1,2\n12:61:00,-5\n", "RA", "DEC",
         "RA of row 2 is `12:61:00`, not a number: positions are degrees, as 187.5"},
        {"Xposn,Yposn\n12:30:00,1\n", "", "", "is `12:30:00`, not a number of a pixel"},
        {"RA,dec\n1,2\n1,x\n", "RA", "DEC", "dec of row 2 is `x`, not a number"},
        {"RA,DEC\n1,2\n", "GLON", "GLAT",
         "its positions are RA and DEC, but the image has GLON and GLAT"},
        {"RA,DEC,Xposn,Yposn\n1,2,3,4\n", "GLON", "GLAT", "its positions are RA and DEC"},
        {"glon,glat\n1,2\n", "RA", "DEC",
         "its positions are GLON and GLAT, but the image has RA and DEC"},
        {"lon,lat\n1,2\n", "RA", "DEC", "its positions are LON and LAT"},
        {"RA,b\n1,2\n", "RA", "DEC",
         "there are no columns RA and DEC (degrees), nor Xposn and Yposn"},
        {"RA,DEC\n1,2\n", "", "", "the image has no sky coordinates"},
        {"Xposn,Yposn\n1,x\n", "", "", "Yposn of row 1 is `x`, not a number of a pixel"},
    };
    struct positions positions;
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_once(write_text("a.csv", cases[i][0]), "ICRS", cases[i][1],
                                   cases[i][2], &positions, &error),
                         SRCFIND_ERROR_INPUT);
        if (!strstr(error.text, cases[i][3]))
            fail_msg("%s: not in: %s", cases[i][3], error.text);
        positions_clear(&positions);
    }
}

/* Degrees and pixels are taken, and other units are not taken for them. */
static void units(void **state) {
    static const struct {
        const char *ra, *x, *error; /* units; part of the error with sky coordinates, and without */
    } cases[] = {
        {"deg", "pix", NULL},
        {"Degree", "pixel", NULL},
        {"rad", "pix", "unit of RA is rad: convert the column to degrees"},
        {"hourangle", "pix", "unit of RA is hourangle"},
        {"deg", "mm", "unit of Xposn is mm: convert"},
    };
    struct positions positions;
    struct error error;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 2; k++) {
            const bool sky = strcmp(cases[i].x, "mm") != 0;
            char text[512];
            snprintf(text, sizeof text,
                     k ? "{\"columns\":[{\"name\":\"RA\",\"unit\":\"%s\"},{\"name\":\"DEC\"},{"
                         "\"name\":\"Xposn\",\"unit\":\"%s\"},{\"name\":\"Yposn\",\"unit\":null}],"
                         "\"sources\":[{\"RA\":1,\"DEC\":2,\"Xposn\":3,\"Yposn\":4}]}"
                       : "# %%ECSV 1.0\n# ---\n# datatype:\n# - {name: RA, unit: %s, datatype: "
                         "float64}\n"
                         "# - {name: DEC, datatype: float64}\n# - {name: Xposn, datatype: float64, "
                         "unit: "
                         "%s}\n# - {name: Yposn, datatype: float64}\nRA DEC Xposn Yposn\n1 2 3 4\n",
                     cases[i].ra, cases[i].x);
            const enum srcfind_status status =
                read_once(write_text(k ? "a.json" : "a.ecsv", text), "ICRS", sky ? "RA" : "",
                          sky ? "DEC" : "", &positions, &error);
            assert_int_equal(status, cases[i].error ? SRCFIND_ERROR_INPUT : SRCFIND_OK);
            if (cases[i].error)
                assert_non_null(strstr(error.text, cases[i].error));
            positions_clear(&positions);
        }
}

static void frames(void **state) {
    static const char text[] =
        "{\"image\":{\"frame\":\" fk5-\"},\"columns\":[{\"name\":\"RA\"},{\"name\":\"DEC\"},{"
        "\"name\":\"Xposn\"},"
        "{\"name\":\"Yposn\"}],\"sources\":[{\"RA\":1,\"DEC\":2,\"Xposn\":3,\"Yposn\":4}]}";
    struct positions positions;
    struct error error;
    (void)state;
    assert_int_equal(read_once(write_text("a.json", text), "fk5", "RA", "DEC", &positions, &error),
                     SRCFIND_OK);
    positions_clear(&positions);
    assert_int_equal(read_once(path_of("a.json"), "ICRS", "RA", "DEC", &positions, &error),
                     SRCFIND_ERROR_INPUT);
    assert_non_null(strstr(error.text, "its frame is FK5, but the frame of the image is ICRS"));
    positions_clear(&positions);
    assert_int_equal(read_once(path_of("a.json"), "", "", "", &positions, &error), SRCFIND_OK);
    positions_clear(&positions);
}

/* --- fluxes --- */

static enum srcfind_status read_models(const char *name, const char *text,
                                       const struct flux_units *units, struct positions *positions,
                                       struct error *error) {
    const struct srcfind_image image = {.frame = "ICRS", .lon_name = "RA", .lat_name = "DEC"};
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    *positions = (struct positions){0};
    const enum srcfind_status status =
        shared
            ? positions_read_models(shared, write_text(name, text), &image, units, positions, error)
            : error_memory(error, "sharing a catalogue");
    shared_table_release(shared);
    return status;
}

/* Which column is read, and what its unit is; fluxes are in Jy, and the map in mJy/beam. */
static void fluxes_of_columns(void **state) {
    static const struct {
        const char *columns, *cells;
        double frequency, total, of_point;
    } cases[] = {
        {"Total_flux,Peak_flux,int_flux", "2,3,4", NAN, 2, NAN},
        {"peak_flux,INT_FLUX", "2,3", NAN, 3, NAN},
        {"flux_int,I1400", "2,3", NAN, 2e-3, NAN},
        {"I150,I1400,I3000", "1,2,3", NAN, 2e-3, NAN},
        {"I150,I1400,I3000", "1,2,3", 1.5e8, 1e-3, NAN},
        {"I3000,I1400,I150", "1,2,3", 2.5e9, 1e-3, NAN},
        {"I12x,I1234567,I,I-1", "1,2,3,4", NAN, 3, NAN},
        {"flux_peak,Peak_flux", "2,3", NAN, NAN, 3},
        {"flux_peak", "2", NAN, NAN, 2e-3},
        {"Total_flux,Peak_flux", ",3", NAN, NAN, NAN},
        {"Total_flux", "1e400", NAN, NAN, NAN},
        {"Total_flux", "<3", NAN, NAN, NAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct flux_units units = {"Jy", "mJy/beam", 1e-3, cases[i].frequency};
        struct positions p;
        struct error error;
        char text[256];
        snprintf(text, sizeof text, "RA,DEC,%s\n1,2,%s\n", cases[i].columns, cases[i].cells);
        assert_int_equal(read_models("a.csv", text, &units, &p, &error), SRCFIND_OK);
        assert_int_equal(p.n, 1);
        const double total = p.fluxes[0].total, of_point = p.fluxes[0].of_point;
        assert_true(isnan(cases[i].total) ? isnan(total)
                                          : fabs(total - cases[i].total) <= 1e-12 * total);
        assert_true(isnan(cases[i].of_point) ? isnan(of_point)
                                             : fabs(of_point - cases[i].of_point) < 1e-12);
        positions_clear(&p);
    }
}

static void bad_fluxes(void **state) {
    static const char head[] =
        "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: RA, datatype: float64}\n"
        "# - {name: DEC, datatype: float64}\n# - {name: ";
    static const struct {
        const char *column, *unit, *error;
    } cases[] = {
        {"Total_flux", "mJy", NULL},
        {"Total_flux", "K",
         "the unit of Total_flux is K, but the fluxes of this image are in Jy: convert"},
        {"Total_flux", "MJY", "the unit of Total_flux is MJY"},
        {"Peak_flux", "mJy/beam", NULL},
        {"Peak_flux", "deg",
         "the unit of Peak_flux is deg, but the fluxes of this image are in Jy/beam"},
        {"magnitude", "mag", "there is no column of fluxes: none of Total_flux, int_flux"},
    };
    const struct flux_units units = {"Jy", "Jy/beam", 1, NAN};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct positions p;
        struct error error;
        char text[512];
        snprintf(text, sizeof text, "%s%s, unit: %s, datatype: float64}\nRA DEC %s\n1 2 3\n", head,
                 cases[i].column, cases[i].unit, cases[i].column);
        assert_int_equal(read_models("a.ecsv", text, &units, &p, &error),
                         cases[i].error ? SRCFIND_ERROR_INPUT : SRCFIND_OK);
        if (cases[i].error && !strstr(error.text, cases[i].error))
            fail_msg("%s: not in: %s", cases[i].error, error.text);
        positions_clear(&p);
    }
}

/* What srcfind's own rows tell beside fluxes. */
static void fluxes_of_own_rows(void **state) {
    const struct flux_units units = {"Jy", "Jy/beam", 1, NAN};
    struct positions p;
    struct error error;
    (void)state;
    assert_int_equal(read_models("a.csv",
                                 "RA,DEC,Xposn,Yposn,Total_flux,S_Code,Scale,Isl_mean,Flags\n"
                                 "1,2,3,4,5,M,2,0.5,64\n1,2,,4,5,S,0,0.5,1\n1,2,3,4,5,S,2,,\n",
                                 &units, &p, &error),
                     SRCFIND_OK);
    assert_true(p.fluxes[0].is_unfitted && p.fluxes[0].is_sum && p.fluxes[0].scale == 2);
    assert_true(p.fluxes[0].beneath == 0.5 && p.fluxes[0].x == 3 && p.fluxes[0].y == 4);
    assert_true(!p.fluxes[1].is_unfitted && !p.fluxes[1].is_sum && p.fluxes[1].scale == 0);
    assert_true(isnan(p.fluxes[1].x) && isnan(p.fluxes[2].beneath) && !p.fluxes[2].is_unfitted);
    positions_clear(&p);
    assert_int_equal(
        read_models("a.csv", "RA,DEC,int_flux,flags,S_Code\n1,2,3,64,S\n", &units, &p, &error),
        SRCFIND_OK);
    assert_false(p.fluxes[0].is_unfitted); /* Aegean's flags mean something else */
    positions_clear(&p);
}

/* Shapes of models may have names that are not those of shapes in other catalogues. */
static void shapes_of_models(void **state) {
    static const char text[] = "RA,DEC,I,size,BMAJ,BMIN,PA\n1,2,3,4,36,18,7\n";
    const struct flux_units units = {"Jy", "Jy/beam", 1, NAN};
    struct positions p;
    struct error error;
    (void)state;
    assert_int_equal(read_models("a.csv", text, &units, &p, &error), SRCFIND_OK);
    assert_true(fabs(p.shapes[0].size.major - 0.01) < 1e-15 && p.shapes[0].size.angle == 7);
    assert_true(fabs(p.shapes[0].size.minor - 0.005) < 1e-15 && p.shapes[0].psf.major == 0);
    positions_clear(&p);
    p = read_positions(text, "RA", "DEC");
    assert_null(p.shapes);
    positions_clear(&p);
    assert_int_equal(read_models("a.csv", "RA,DEC,I,size\n1,2,3,36\n", &units, &p, &error),
                     SRCFIND_OK);
    assert_true(p.shapes[0].size.major == p.shapes[0].size.minor && p.shapes[0].size.angle == 0);
    positions_clear(&p);
}

/* Wherever memory runs out, it is an error, and nothing is lost or freed twice. */
static void assert_needs_memory(const char *name) {
    enum srcfind_status status = SRCFIND_ERROR_MEMORY;
    char path[FILE_PATH];
    int n = 0;
    for (snprintf(path, sizeof path, "%s", path_of(name)); status != SRCFIND_OK; n++) {
        struct positions positions;
        struct error error;
        calls_left = n;
        status = read_once(path, "ICRS", "RA", "DEC", &positions, &error);
        const bool reached = calls_left < 0;
        calls_left = -1;
        assert_int_equal(status, reached ? SRCFIND_ERROR_MEMORY : SRCFIND_OK);
        positions_clear(&positions);
    }
    assert_in_range(n, 8, 400);
}

/* A FITS file with an ASCII table without positions, and one with a number that makes texts of its
 * column. */
static void write_ascii_tables(const char *name) {
    static const char primary[] = "SIMPLE  = T\nBITPIX  = 8\nNAXIS   = 0\nEND\n";
    static const char other[] = "XTENSION= 'TABLE'\nBITPIX  = 8\nNAXIS   = 2\nNAXIS1  = 4\n"
                                "NAXIS2  = 1\nTFIELDS = 1\nTTYPE1  = 'a'\nTFORM1  = 'A4'\n"
                                "TBCOL1  = 1\nEND\n";
    static const char sky[] =
        "XTENSION= 'TABLE'\nBITPIX  = 8\nNAXIS   = 2\nNAXIS1  = 12\nNAXIS2  = 2\nTFIELDS = 3\n"
        "TTYPE1  = 'RA'\nTFORM1  = 'F4.1'\nTBCOL1  = 1\nTTYPE2  = 'DEC'\nTFORM2  = 'F4.1'\n"
        "TBCOL2  = 5\nTTYPE3  = 'flux'\nTFORM3  = 'F4.1'\nTBCOL3  = 9\nEND\n";
    const char *const units[] = {primary, "", other, "x", sky, " 1.0 2.0 1.0 3.0 4.0****"};
    char *bytes = malloc(6 * FITS_BLOCK);
    int64_t size = 0;
    for (int i = 0; i < 6; i++) {
        const char *at = units[i];
        memset(bytes + size, ' ', FITS_BLOCK);
        if (i % 2)
            memcpy(bytes + size, at, strlen(at));
        for (int card = 0; i % 2 == 0 && *at; card++) {
            const size_t length = strcspn(at, "\n");
            memcpy(bytes + size + (ptrdiff_t)card * CARD, at, length);
            at += length + 1;
        }
        size += *units[i] ? FITS_BLOCK : 0;
    }
    write_bytes(name, bytes, (size_t)size);
    free(bytes);
}

static void little_memory(void **state) {
    static const char csv_text[] = "Source_id,RA,DEC,\"x\"\"y\"\n1,2,3,a\n,,,\"a\"\"b\"\n";
    struct srcfind_catalogue *c = catalogue_of(5, "an image.fits");
    struct error error;
    (void)state;
    strcpy(result_of(c)->image.frame, "ICRS");
    for (int i = 0; i < 5; i++)
        result_of(c)->sources.rows[i].lat = i;
    write_text("a.csv", csv_text);
    write_packed("a.csv.gz", csv_text, 1);
    assert_needs_memory("a.csv");
    assert_needs_memory("a.csv.gz");
    write_text("a.txt", "# Source_id RA DEC text\n1 2 3 \"a\"\"b\"\n");
    assert_needs_memory("a.txt");
    write_ascii_tables("b.fits");
    assert_needs_memory("b.fits");
    static const char *const names[] = {"a.ecsv", "a.json", "a.fits"};
    const struct writer *const formats[] = {&ecsv_writer, &json_writer, &fits_writer};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(save_file(&c->table, formats[i], NULL, path_of(names[i]), &error),
                         SRCFIND_OK);
        assert_needs_memory(names[i]);
    }
    srcfind_catalogue_destroy(c);
}

static int make_directory(void **state) {
    (void)state;
    return temporary_directory(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    static const char *const names[] = {"a.csv", "a.CSV",  "a.ecsv", "a.json",   "a.reg",
                                        "a",     "a.fits", "f.csv",  "a.csv.gz", "b.csv.GZ",
                                        "a.tsv", "a.tab",  "a.txt",  "a.dat"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    rmdir(path_of("d.csv"));
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),
        cmocka_unit_test(names_in_a_comment),
        cmocka_unit_test(other_delimiters),
        cmocka_unit_test(bad_delimiters),
        cmocka_unit_test(kinds),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(bad_csv),
        cmocka_unit_test(ecsv),
        cmocka_unit_test(metadata_of_ecsv),
        cmocka_unit_test(bad_ecsv),
        cmocka_unit_test(json),
        cmocka_unit_test(bad_json),
        cmocka_unit_test(files),
        cmocka_unit_test(packed),
        cmocka_unit_test(columns),
        cmocka_unit_test(a_table_is_read_once),
        cmocka_unit_test(a_changed_table_is_read_again),
        cmocka_unit_test(unused_cells_go),
        cmocka_unit_test(positions_of_columns),
        cmocka_unit_test(positions_of_several_frames),
        cmocka_unit_test(positions_of_rows),
        cmocka_unit_test(bad_positions),
        cmocka_unit_test(units),
        cmocka_unit_test(frames),
        cmocka_unit_test(fluxes_of_columns),
        cmocka_unit_test(bad_fluxes),
        cmocka_unit_test(fluxes_of_own_rows),
        cmocka_unit_test(shapes_of_models),
        cmocka_unit_test(little_memory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
