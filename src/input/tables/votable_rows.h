/* The cells of VOTables: what fields say of them, and the rows of BINARY and BINARY2 (VOTable 1.4,
 * sections 2.1, 2.2, 5.3 and 5.4). */
#ifndef VOTABLE_ROWS_H
#define VOTABLE_ROWS_H

#include "input/tables/builder.h"

/* A FIELD: its type, how many elements a cell has, and where the cells go. */
struct votable_field {
    enum {
        VOTABLE_BOOLEAN,
        VOTABLE_BIT,
        VOTABLE_BYTE,
        VOTABLE_SHORT,
        VOTABLE_INT,
        VOTABLE_LONG,
        VOTABLE_CHAR,
        VOTABLE_UNICODE,
        VOTABLE_FLOAT,
        VOTABLE_DOUBLE,
        VOTABLE_FLOAT_COMPLEX,
        VOTABLE_DOUBLE_COMPLEX
    } type;
    int64_t count;  /* elements; -1: each cell begins with their number */
    int64_t column; /* of the builder; -1: the field is left out */
    bool has_null;
    int64_t null; /* this integer is an empty cell */
};

/* Sets type and count from the attributes datatype and arraysize ("" if there is none). False if
 * they are not valid. *is_single: a cell has one number or one text, which a table can have. */
bool votable_field_set(struct votable_field *field, const char *datatype, const char *arraysize,
                       bool *is_single);

/* The kind of the cells of a field that is_single. */
enum srcfind_kind votable_field_kind(const struct votable_field *field);

/* Sets the cell of a field to the text of a TD. */
enum builder_result votable_set_text(struct builder *builder, const struct votable_field *field,
                                     const char *text, size_t length);

/* The bytes of the first row of a stream, of which n bytes are there: 0 if more are needed, -1 if
 * this is no row. has_flags: each row begins with a bit for each field, as in BINARY2. */
int64_t votable_row_size(const struct votable_field *fields, int64_t n_fields, bool has_flags,
                         const unsigned char *bytes, int64_t n);

/* Sets all cells of a row from its bytes, which are all there. */
enum builder_result votable_set_row(struct builder *builder, const struct votable_field *fields,
                                    int64_t n_fields, bool has_flags, const unsigned char *bytes);

#endif
