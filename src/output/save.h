/* Catalogues to streams and files. */
#ifndef SAVE_H
#define SAVE_H

#include "common/error.h"

/* Writes to a stream, which is flushed; `name` is what messages call it. */
enum srcfind_status save_stream(const struct srcfind_catalogue *catalogue,
                                enum srcfind_format format, FILE *stream, const char *name,
                                struct error *error);

/* Writes to a file beside the path, and renames that, so that nobody sees a part of it. */
enum srcfind_status save_file(const struct srcfind_catalogue *catalogue, enum srcfind_format format,
                              const char *path, struct error *error);

#endif
