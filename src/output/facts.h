/* What a catalogue says of its image, its options and its noise, under fixed names: in the header
 * of formats that have one. input/table_facts.h reads them back. */
#ifndef FACTS_H
#define FACTS_H

#include "output/catalogue.h"

/* A text, or a number where text is NULL. */
struct fact {
    const char *name, *text;
    double number;
    const char *unit; /* in VOUnit; NULL if there is none */
};

enum { MOST_FACTS = 19 };

/* Writes the facts that are known, and returns their number. The texts belong to the catalogue. */
int facts_of(const struct srcfind_catalogue *catalogue, struct fact facts[MOST_FACTS]);

/* A unit in the spelling of VOUnit (IVOA 2014); NULL if it has none, or is none. */
const char *facts_unit(const char *unit);

#endif
