/* The metadata that srcfind writes beside the rows of a catalogue, and which of it is read back. */
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

/* Sets what has this name from a text; names and numbers that are none are left out. */
bool table_metadata_set(struct table_file *table, const char *name, const char *text);

/* Sets an option that the catalogue was made with; one that is not known is left out. No file that
 * the option names is opened. */
bool table_metadata_set_option(struct table_file *table, const char *name, const char *value);

/* Sets all options of an object of JSON. A text that is no such object is left out. */
bool table_metadata_set_options(struct table_file *table, const char *json, size_t length);

#endif
