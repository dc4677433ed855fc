/* Recognises the maps that srcfind wrote, by their HISTORY. */
#ifndef OWN_MAP_H
#define OWN_MAP_H

#include <stdbool.h>

/* Whether the first image of a file has a card `HISTORY srcfind VERSION map: ...`, also if the file
 * ends soon after it. False if the file cannot be read. */
bool own_map_is(const char *path);

#endif
