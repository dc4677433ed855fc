/* Notes on an image that was searched: what looks wrong, and which option cures it. */
#ifndef NOTES_H
#define NOTES_H

#include "cli/messages.h"

/* Writes a line for each cause; nothing with --quiet. */
void notes_write(const struct messages *messages, const struct srcfind_catalogue *catalogue);

#endif
