/* Positions in the value of --at, in place of the path of a catalogue. */
#ifndef POSITION_LIST_H
#define POSITION_LIST_H

#include "input/table_file.h"

/* Whether a text is one or several positions, with semicolons between them: two numbers in degrees,
 * or two angles as parse_angle reads them, with a comma or blanks between. */
bool position_list_is(const char *text);

/* Makes a table of such a text, whose columns have the names lon and lat. Clear it also after an
 * error. */
enum srcfind_status position_list_read(const char *text, const char *lon, const char *lat,
                                       struct table_file *table, struct error *error);

#endif
