/* The metadata of a catalogue in FITS, from its header. */
#ifndef FITS_METADATA_H
#define FITS_METADATA_H

#include "input/fits/header.h"
#include "input/table_file.h"

/* Sets the members of the table that the header of its HDU tells. */
bool fits_metadata_take(const struct header *header, struct table_file *table);

#endif
