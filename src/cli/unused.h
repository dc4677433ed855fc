/* Options, and a suffix, that have no effect beside others. */
#ifndef UNUSED_H
#define UNUSED_H

#include "cli/messages.h"
#include "cli/target.h"

/* Notes each of them, and why it has none. */
void unused_note(const struct messages *messages, const struct cli *cli,
                 const struct targets *targets);

#endif
