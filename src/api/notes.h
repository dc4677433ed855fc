/* Notes on an image that was searched: what looks wrong, and which option cures it. */
#ifndef NOTES_H
#define NOTES_H

#include "input/user_maps.h"
#include "output/result.h"

/* Makes the notes of a catalogue, whose other members are complete; maps: of its image.
 * False where memory ran out. */
bool notes_make(struct result *catalogue, const struct user_maps *maps);

#endif
