/* The list of --columns: which columns a catalogue has, in which order, and under which names. */
#ifndef COLUMN_LIST_H
#define COLUMN_LIST_H

#include "common/error.h"
#include "output/columns.h"

/* Room for a name: rows of JSON have room for so many letters. The names of srcfind are shorter. */
enum { COLUMN_NAME = 28 };

struct chosen_column {
    char name[COLUMN_NAME];       /* of a column of the catalogue; "" for a constant */
    char unit[SRCFIND_TEXT];      /* to convert the column to; "": its own */
    char title[COLUMN_NAME];      /* the new name */
    char otherwise[SRCFIND_TEXT]; /* the number of cells that are empty, or of a column that the
                                     options do not measure; "": they stay empty */
    char constant[SRCFIND_TEXT];
};

struct column_list {
    int n;
    struct chosen_column columns[MOST_COLUMNS];
    const char *field_ids; /* in VOTables, what stands before a column's name in its ID; or NULL */
};

/* Reads a list: items with commas between them, each NAME[:UNIT][|NUMBER][=TITLE] or
 * 'CONSTANT'=TITLE, with blanks and ends of lines around them, and comments from # to the end of a
 * line; or @NAME, one of the lists of the folder columns. The message of an error says where the
 * list is wrong. */
enum srcfind_status column_list_read(const char *text, struct column_list *list,
                                     struct error *error);

/* The name and the text of the i-th list @NAME; NULL after the last. A text begins with a comment
 * of one line: `# ` and what the list is. */
const char *column_list_name(int i);
const char *column_list_text(int i);

/* Whether there is a list @NAME. */
bool column_list_exists(const char *name);

#endif
