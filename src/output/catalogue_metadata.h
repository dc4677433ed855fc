/* The metadata of image and noise in a catalogue, as input/metadata.inc lists them. */
#ifndef CATALOGUE_METADATA_H
#define CATALOGUE_METADATA_H

#include "output/result.h"

/* A text, or a number where text is NULL. */
struct metadata_item {
    const char *name, *keyword, *text;
    double number;
    const char *unit; /* in VOUnit; NULL if there is none */
};

enum { MOST_METADATA = 32 };

/* Writes the items that are known, and returns their number. The texts belong to the result. */
int catalogue_metadata(const struct result *result, struct metadata_item items[MOST_METADATA]);

#endif
