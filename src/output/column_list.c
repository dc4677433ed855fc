#include "output/column_list.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "common/parse_number.h"
#include "common/texts.h"

/* The files of the folder columns. */
static const struct {
    const char *name, *text;
} lists[] = {
#include "output/column_lists.inc"
};

enum { LISTS = sizeof lists / sizeof *lists };

const char *column_list_name(int i) {
    return i < LISTS ? lists[i].name : NULL;
}

const char *column_list_text(int i) {
    return i < LISTS ? lists[i].text : NULL;
}

bool column_list_exists(const char *name) {
    for (int i = 0; i < LISTS; i++)
        if (ascii_same(name, lists[i].name))
            return true;
    return false;
}

static enum srcfind_status find_list(const char *name, const char **text, struct error *error) {
    char names[128] = "";
    for (int i = 0; i < LISTS; i++) {
        if (ascii_same(name, lists[i].name)) {
            *text = lists[i].text;
            return SRCFIND_OK;
        }
        texts_append(names, sizeof names, "%s@%s", i ? ", " : "", lists[i].name);
    }
    return error_set(error, SRCFIND_ERROR_OPTIONS, "columns: there is no list @%.40s; there are %s",
                     name, names);
}

/* --- an item --- */

/* Moves behind blanks, ends of lines and comments. */
static const char *skip_blanks(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#')
            return at;
        at += strcspn(at, "\n");
    }
}

/* Copies the text before one of the characters `ends`, without blanks at its end, and moves to the
 * character. False if the text is empty or too long. */
static bool take(const char **at, const char *ends, char *copy, size_t size) {
    const size_t length = strcspn(*at, ends);
    if (length == 0 || length >= size)
        return false;
    snprintf(copy, size, "%.*s", (int)length, *at);
    for (size_t end = length; end > 0 && copy[end - 1] == ' '; end--)
        copy[end - 1] = '\0';
    *at = skip_blanks(*at + length);
    return *copy;
}

/* Whether a title spoils no format: neither quotes nor separators. */
static bool is_title(const char *title) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+-";
    return *title && !title[strspn(title, plain)];
}

/* Reads 'CONSTANT', which may be empty, and moves behind it. */
static bool take_constant(const char **at, struct chosen_column *column) {
    const char *first = *at + 1;
    const size_t length = strcspn(first, "'");
    if (!first[length] || length >= sizeof column->constant)
        return false;
    snprintf(column->constant, sizeof column->constant, "%.*s", (int)length, first);
    *at = skip_blanks(first + length + 1);
    for (const char *c = column->constant; *c; c++)
        if (!ascii_is_printable(*c))
            return false;
    return true;
}

static bool is_number(const char *text) {
    return parse_number(text, strlen(text)).kind != NUMBER_NONE;
}

/* Reads an item, and moves behind it. */
static bool take_item(const char **at, struct chosen_column *column) {
    *column = (struct chosen_column){0};
    const bool is_constant = **at == '\'';
    bool ok = is_constant ? take_constant(at, column)
                          : take(at, ":|=, \t\r\n#", column->name, sizeof column->name);
    if (ok && **at == ':' && !is_constant) {
        *at = skip_blanks(*at + 1);
        ok = take(at, "|=,\t\r\n#", column->unit, sizeof column->unit);
    }
    if (ok && **at == '|' && !is_constant) {
        *at = skip_blanks(*at + 1);
        ok = take(at, "=, \t\r\n#", column->otherwise, sizeof column->otherwise) &&
             is_number(column->otherwise);
    }
    if (ok && **at == '=') {
        *at = skip_blanks(*at + 1);
        ok = take(at, ", \t\r\n#", column->title, sizeof column->title);
    } else if (ok) {
        memcpy(column->title, column->name, sizeof column->title);
    }
    return ok && is_title(column->title) && (!**at || **at == ',');
}

/* --- the list --- */

static enum srcfind_status check_titles(const struct column_list *list, struct error *error) {
    for (int i = 0; i < list->n; i++)
        for (int k = 0; k < i; k++)
            if (ascii_same(list->columns[i].title, list->columns[k].title))
                return error_set(error, SRCFIND_ERROR_OPTIONS,
                                 "columns: two columns are named %s: rename one of them",
                                 list->columns[i].title);
    return SRCFIND_OK;
}

/* Adds the columns of a list, whose items are columns or, if may_name, names of lists. */
static enum srcfind_status add_items(const char *text, bool may_name, struct column_list *list,
                                     struct error *error) {
    for (const char *at = skip_blanks(text);; at = skip_blanks(at + 1)) {
        const char *item = at, *named;
        char name[COLUMN_NAME];
        enum srcfind_status status = SRCFIND_OK;
        if (may_name && *at == '@') {
            at++;
            status = take(&at, ", \t\r\n#", name, sizeof name) ? find_list(name, &named, error)
                                                               : find_list(at, &named, error);
            if (status == SRCFIND_OK)
                status = add_items(named, false, list, error);
        } else if (list->n == MOST_COLUMNS) {
            status = error_set(error, SRCFIND_ERROR_OPTIONS, "columns: more than %d", MOST_COLUMNS);
        } else if (!take_item(&at, &list->columns[list->n++])) {
            status = error_set(error, SRCFIND_ERROR_OPTIONS,
                               "columns: '%.40s': each is NAME[:UNIT][|NUMBER][=NEW] or "
                               "'CONSTANT'=NEW, with commas between them; a name has up to %d "
                               "letters, digits, _ . + -, and a constant up to %d characters",
                               item, COLUMN_NAME - 1, SRCFIND_TEXT - 1);
        }
        if (status != SRCFIND_OK || *at != ',')
            return status;
    }
}

enum srcfind_status column_list_read(const char *text, struct column_list *list,
                                     struct error *error) {
    const size_t first = strcspn(text, ",");
    *list = (struct column_list){
        .field_ids = first == 7 && ascii_same_start(text, "@selavy", first) ? "col_" : NULL};
    const enum srcfind_status status = add_items(text, true, list, error);
    return status == SRCFIND_OK ? check_titles(list, error) : status;
}
