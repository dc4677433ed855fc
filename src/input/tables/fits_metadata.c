#include "input/tables/fits_metadata.h"

#include <stdio.h>
#include <string.h>

#include "common/arrays.h"
#include "input/table_metadata.h"
#include "options/options.h"

/* Reads a text that may go on in CONTINUE cards (FITS 4.0, section 4.2.1.2); *text is to be freed,
 * and NULL if there is none. */
static bool read_long_text(const struct header *header, const char *keyword, char **text) {
    int64_t i = 0;
    const char *card = header_next(header, keyword, &i);
    char part[SRCFIND_TEXT];
    int64_t length = 0, capacity = 0;
    *text = NULL;
    bool goes_on = card && header_text(header, keyword, part, sizeof part);
    while (goes_on) {
        char copy[CARD + 1] = "CONTINUE=";
        const struct header next = {copy, 1};
        const int64_t n = (int64_t)strlen(part);
        goes_on = n > 0 && part[n - 1] == '&' && i < header->n_cards &&
                  memcmp(header->cards + CARD * i, "CONTINUE  ", 10) == 0;
        if (!GROW(*text, capacity, length + n + 1))
            return false;
        memcpy(*text + length, part, (size_t)n + 1);
        length += goes_on ? n - 1 : n;
        if (goes_on)
            memcpy(copy + 9, header->cards + CARD * i++ + 9, CARD - 9);
        goes_on = goes_on && header_text(&next, "CONTINUE", part, sizeof part);
        (*text)[length] = '\0';
    }
    return true;
}

enum { HISTORY_TEXT = OPTIONS_TEXT + CARD };

/* The next line of HISTORY, without blanks at its end. cards_add_history breaks lines of more than
 * 72 characters over several cards. False at the end of the header. */
static bool next_line(const struct header *header, int64_t *i, char text[HISTORY_TEXT]) {
    const char *card = header_next(header, "HISTORY", i);
    size_t length = 0;
    if (!card)
        return false;
    while (card) {
        int64_t next = *i;
        snprintf(text + length, HISTORY_TEXT - length, "%.*s", CARD - 8, card + 8);
        length += CARD - 8;
        card = card[CARD - 1] != ' ' ? header_next(header, "HISTORY", &next) : NULL;
        if (!card || strncmp(card + 8, "srcfind ", 8) == 0 || length + CARD > HISTORY_TEXT)
            break;
        *i = next;
    }
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return true;
}

/* Takes the options from lines of HISTORY: `srcfind option NAME: VALUE`. */
static bool take_options(const struct header *header, struct table_file *table) {
    static const char begin[] = "srcfind option ";
    char text[HISTORY_TEXT];
    int64_t i = 0;
    bool ok = true;
    while (ok && next_line(header, &i, text)) {
        const char *option = text + strspn(text, " ");
        char *colon = strchr(option, ':');
        if (strncmp(option, begin, strlen(begin)) != 0 || !colon)
            continue;
        *colon = '\0';
        ok =
            table_metadata_set_option(table, option + strlen(begin), colon + 1 + (colon[1] == ' '));
    }
    return ok;
}

bool fits_metadata_take(const struct header *header, struct table_file *table) {
    const struct table_metadata *m;
    bool ok = true;
    for (int i = 0; ok && (m = table_metadata_describe(i)); i++) {
        void *to = (char *)table + m->offset;
        if (m->offset && m->kind == METADATA_IS_PATH)
            ok = read_long_text(header, m->keyword, to);
        else if (m->offset && m->kind == METADATA_IS_TEXT)
            header_text(header, m->keyword, to, SRCFIND_TEXT);
        else if (m->offset)
            header_real(header, m->keyword, to);
    }
    if (!*table->image.frame)
        header_text(header, "FRAME", table->image.frame, sizeof table->image.frame);
    return ok && take_options(header, table);
}
