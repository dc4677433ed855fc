/* Reads the list of injected sources beside a catalogue. */
#ifndef READ_INJECTIONS_H
#define READ_INJECTIONS_H

#include "common/error.h"
#include "measure/injection.h"

/* Reads the values as they were written, to the last bit, and the area over which the sources are
 * spread. Returns an error if the file has no such list. The caller frees list->all, also after an
 * error. */
enum srcfind_status read_injections(const char *path, struct injections *list, struct error *error);

#endif
