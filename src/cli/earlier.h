/* What an earlier run left beside a catalogue that was replaced: it would be taken for that of the
 * new one, whose sources have other numbers. */
#ifndef EARLIER_H
#define EARLIER_H

#include "cli/messages.h"
#include "cli/target_files.h"
#include "output/writer.h"

/* A catalogue that was written, single or merged. */
struct replaced {
    const char *catalogue; /* its path; NULL or a stream: nothing stands beside it */
    const struct writer *writer;
    /* Files that are of this run, outputs and inputs: of the image, and others, of which some may
     * be NULL. */
    const struct target_file *files;
    int n_files;
    const char *const *kept;
    int n_kept;
    bool has_maps; /* maps and regions may be beside it, too */
};

/* Removes the tables that srcfind wrote for an earlier catalogue of this name and format, and says
 * so; names its maps and regions, and tables that are no file of srcfind. Files of this run stay.
 */
void earlier_remove(const struct replaced *replaced, const struct messages *messages);

#endif
