/* What the outputs of an image depend on beside its file: options, and files that they name. */
#ifndef DIGEST_H
#define DIGEST_H

#include "cli/target.h"

enum { DIGEST_TEXT = 17 };

/* Writes 16 hexadecimal digits. Equal ones mean: the same options that can change a byte of an
 * output, the same outputs, and masks, maps and a catalogue of --at that have not changed since. */
void digest_make(const struct cli *cli, const struct targets *targets, const struct target *target,
                 char text[DIGEST_TEXT]);

#endif
