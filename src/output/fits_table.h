/* Tells the FITS tables that srcfind writes from other FITS files. */
#ifndef FITS_TABLE_H
#define FITS_TABLE_H

#include <stdbool.h>

/* Whether a file is FITS and has an image, or a table that is no catalogue of srcfind. Devices and
 * pipes are not read. */
bool fits_table_is_foreign(const char *path);

#endif
