/* What srcfind writes beside the rows of a catalogue, by the names that formats with a header have
 * for it. */
#ifndef TABLE_FACTS_H
#define TABLE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct table_file;

/* A fact, and its keyword in FITS where its name is too long or belongs to something else. */
struct table_fact {
    const char *name, *keyword;
    bool is_text;
};

/* The i-th fact; NULL after the last. */
const struct table_fact *table_facts_describe(int i);

/* The keyword of a fact. */
const char *table_facts_keyword(const char *name);

/* Sets a fact of a table; one that is not known is left out. False where memory ran out. */
bool table_facts_set_text(struct table_file *table, const char *name, const char *text);
void table_facts_set_number(struct table_file *table, const char *name, double number);

/* Sets an option that the catalogue was made with; one that is not known is left out. False where
 * memory ran out. */
bool table_facts_set_option(struct table_file *table, const char *name, const char *value);

/* The same for all members of an object of JSON. A text that is none is left out. */
bool table_facts_set_options(struct table_file *table, const char *json, size_t length);

#endif
