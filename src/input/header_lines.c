#include "input/header_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/text_stream.h"

enum { KEYWORD = 8, VALUE = 10 }; /* the length of a keyword, and where the value begins */

/* Keywords of cards that tell how the image is stored; `*` stands for any end. */
static bool is_storage(const char *keyword) {
    static const char *const names[] = {
        "SIMPLE",   "XTENSION", "BITPIX",   "NAXIS*",   "EXTEND",   "PCOUNT",  "GCOUNT",
        "TFIELDS",  "TTYPE*",   "TFORM*",   "THEAP",    "BSCALE",   "BZERO",   "BLANK",
        "CHECKSUM", "DATASUM",  "EXTNAME",  "EXTVER",   "ZIMAGE",   "ZSIMPLE", "ZTENSION",
        "ZEXTEND",  "ZBITPIX",  "ZNAXIS*",  "ZTILE*",   "ZCMPTYPE", "ZNAME*",  "ZVAL*",
        "ZMASKCMP", "ZBLANK",   "ZQUANTIZ", "ZDITHER0", "ZPCOUNT",  "ZGCOUNT", "ZHECKSUM",
        "ZDATASUM", "LONGSTRN", "HISTORY",  "COMMENT"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strcspn(names[i], "*");
        if (strncmp(keyword, names[i], length) == 0 && (names[i][length] || !keyword[length]))
            return true;
    }
    return false;
}

/* Copies bytes; those that are not printable become `?`. */
static void copy_printable(const char *from, size_t n, char *to) {
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
    to[n] = '\0';
    for (; *to; to++)
        if (!ascii_is_printable(*to))
            *to = '?';
}

/* The length of the value of a card: of a text with its quotes, or up to a comment. */
static size_t value_length(const char *value) {
    size_t n = strcspn(value, "/");
    if (*value == '\'') {
        for (n = 1; value[n] && (value[n] != '\'' || value[n + 1] == '\''); n++)
            n += value[n] == '\'';
        return n + (value[n] == '\'');
    }
    while (n > 0 && value[n - 1] == ' ')
        n--;
    return n;
}

/* Writes a text without the blanks at its end. A text without an end, or that goes on in the next
 * card, is left out. */
static void write_text(const char *keyword, const char *value, size_t n, FILE *stream) {
    size_t end = n - 1; /* the closing quote */
    if (n < 2 || value[end] != '\'' || value[end - 1] == '&')
        return;
    while (end > 1 && value[end - 1] == ' ')
        end--;
    fprintf(stream, "%s = %.*s'\n", keyword, (int)end, value);
}

/* Writes a number with E in its exponent, where FITS may have D. */
static void write_number(const char *value, size_t n, FILE *stream) {
    for (size_t i = 0; i < n; i++)
        fputc(value[i] == 'D' || value[i] == 'd' ? 'E' : value[i], stream);
    fputc('\n', stream);
}

static void write_line(const char *keyword, const char *value, FILE *stream) {
    const size_t n = value_length(value);
    const bool is_logical = n == 1 && (*value == 'T' || *value == 'F');
    if (*value == '\'') {
        write_text(keyword, value, n, stream);
        return;
    }
    fprintf(stream, "%s = ", keyword);
    if (is_logical)
        fputs(*value == 'T' ? "True\n" : "False\n", stream);
    else
        write_number(value, n, stream);
}

static void write_card(const char *card, FILE *stream) {
    char keyword[KEYWORD + 1], value[CARD + 1];
    copy_printable(card, KEYWORD, keyword);
    keyword[strcspn(keyword, " ")] = '\0';
    copy_printable(card + VALUE, CARD - VALUE, value);
    const char *first = value + strspn(value, " ");
    if (*keyword && memcmp(card + KEYWORD, "= ", 2) == 0 && !is_storage(keyword) && *first != '/' &&
        *first)
        write_line(keyword, first, stream);
}

char *header_lines(const struct header *header, const struct srcfind_image *image) {
    struct text text = {0};
    FILE *stream = text_stream_open(&text);
    if (!stream)
        return NULL;
    fprintf(stream, "NAXIS = %d\n", image->n_axes);
    for (int i = 0; i < image->n_axes; i++)
        fprintf(stream, "NAXIS%d = %lld\n", i + 1, (long long)image->axes[i]);
    for (int64_t i = 0; i < header->n_cards; i++)
        write_card(header->cards + CARD * i, stream);
    if (fclose(stream) == 0)
        return text.at;
    free(text.at);
    return NULL;
}
