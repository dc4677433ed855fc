/* The metadata beside the rows of a catalogue, and which of them are read back. */
#ifndef TABLE_METADATA_H
#define TABLE_METADATA_H

#include <stdbool.h>
#include <stddef.h>

struct table_file;

enum metadata_kind { METADATA_IS_TEXT, METADATA_IS_PATH, METADATA_IS_NUMBER };

/* A line of metadata.inc. */
struct table_metadata {
    const char *name, *keyword;
    enum metadata_kind kind;
    size_t offset; /* of its member in struct table_file; 0: it is not read */
};

/* The i-th line; NULL after the last. */
const struct table_metadata *table_metadata_describe(int i);

/* Sets the item of a name from a text. Unknown names, and texts that are no numbers, are ignored.
 */
bool table_metadata_set(struct table_file *table, const char *name, const char *text);

/* Sets an option of the search of the catalogue. Unknown options are ignored. */
bool table_metadata_set_option(struct table_file *table, const char *name, const char *value);

/* Sets the options that are members of a JSON object. A text that is no object is ignored. */
bool table_metadata_set_options(struct table_file *table, const char *json, size_t length);

#endif
