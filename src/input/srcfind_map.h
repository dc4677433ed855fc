/* Recognises the maps that srcfind wrote, by their HISTORY. */
#ifndef SRCFIND_MAP_H
#define SRCFIND_MAP_H

#include "input/fits/header.h"

enum { SRCFIND_MAP_NAME = 32 };

/* Whether a header has a card `HISTORY srcfind VERSION map: NAME`; sets the name if so. */
bool srcfind_map_name(const struct header *header, char name[SRCFIND_MAP_NAME]);

/* Whether the header of the first image of a file has such a card, also if the file ends soon after
 * it. False if the file cannot be read. */
bool is_srcfind_map(const char *path);

#endif
