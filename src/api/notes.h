/* Notes on an image that was searched: what looks wrong, and which option cures it. */
#ifndef NOTES_H
#define NOTES_H

#include "output/catalogue.h"

/* Makes the notes of a catalogue, whose other members are complete. False where memory ran out. */
bool notes_make(struct srcfind_catalogue *catalogue);

#endif
