#include "input/position_list.h"

#include <math.h>
#include <string.h>

#include "common/parse_angle.h"
#include "input/tables/builder.h"

struct piece {
    const char *text;
    size_t length;
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_coordinate(struct piece p) {
    double degrees;
    return parse_number(p.text, p.length).kind != NUMBER_NONE ||
           parse_angle(p.text, p.length, false, &degrees);
}

static struct piece trimmed(const char *begin, const char *end) {
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    return (struct piece){begin, (size_t)(end - begin)};
}

/* Divides a position in the middle of its words: two numbers, or 2 x 2 or 2 x 3 parts of angles. */
static const char *middle_of(struct piece p) {
    const char *words[6], *end = p.text + p.length;
    size_t n = 0;
    for (const char *c = p.text; c < end; c++)
        if (!is_blank(*c) && (c == p.text || is_blank(c[-1]))) {
            if (n == sizeof words / sizeof *words)
                return NULL;
            words[n++] = c;
        }
    return n > 0 && n % 2 == 0 ? words[n / 2] : NULL;
}

/* The two coordinates of a position; false if it is none. */
static bool divide(struct piece p, struct piece pair[2]) {
    const char *comma = memchr(p.text, ',', p.length), *end = p.text + p.length;
    const char *middle = comma ? comma : middle_of(p);
    if (!middle)
        return false;
    pair[0] = trimmed(p.text, middle);
    pair[1] = trimmed(middle + (comma != NULL), end);
    return is_coordinate(pair[0]) && is_coordinate(pair[1]);
}

/* Takes the next position of *text, and moves behind it. */
static bool next_position(const char **text, struct piece pair[2]) {
    const size_t length = strcspn(*text, ";");
    const struct piece position = trimmed(*text, *text + length);
    *text += length + ((*text)[length] == ';');
    return divide(position, pair);
}

bool position_list_is(const char *text) {
    struct piece pair[2];
    if (!*text)
        return false;
    while (*text)
        if (!next_position(&text, pair))
            return false;
    return true;
}

static enum srcfind_status add_row(struct builder *builder, const struct piece pair[2]) {
    bool ok = builder_begin_row(builder);
    for (int i = 0; ok && i < 2; i++)
        ok = builder_set_text(builder, i, pair[i].text, pair[i].length) == BUILDER_OK;
    if (ok)
        builder_end_row(builder);
    return ok ? SRCFIND_OK : SRCFIND_ERROR_MEMORY;
}

enum srcfind_status position_list_read(const char *text, const char *lon, const char *lat,
                                       struct table_file *table, struct error *error) {
    struct builder builder = {0};
    struct piece pair[2];
    *table = (struct table_file){.image = {.beam = {NAN, NAN, NAN}, .equinox = NAN}};
    bool ok = builder_add_column(&builder, lon, strlen(lon)) &&
              builder_add_column(&builder, lat, strlen(lat));
    for (int i = 0; ok && i < 2; i++)
        builder_declare(&builder, i, SRCFIND_STRING);
    while (ok && *text)
        ok = next_position(&text, pair) && add_row(&builder, pair) == SRCFIND_OK;
    ok = ok && builder_finish(&builder, table);
    builder_clear(&builder);
    return ok ? SRCFIND_OK : error_memory(error, "reading positions");
}
