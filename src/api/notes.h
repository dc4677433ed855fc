/* Notes on an image that was searched: what looks wrong, and which option cures it. */
#ifndef NOTES_H
#define NOTES_H

#include "input/user_maps.h"
#include "output/result.h"

/* Makes the notes of a result, which is otherwise complete. maps: mask and maps of its image. */
bool notes_make(struct result *result, const struct user_maps *maps);

#endif
