/* Errors as values: a status and one line of text, `file: what is wrong and what would help`. The
 * function that finds an error formats its text; its callers pass the error on unchanged. */
#ifndef ERROR_H
#define ERROR_H

#include "srcfind.h"

struct error {
    char text[5120]; /* enough for a path of 4096 characters and the rest of a message */
};

/* Formats the text of an error and returns status, so that a caller can write `return
 * error_set(...)`. A longer text is truncated. */
__attribute__((format(printf, 3, 4))) enum srcfind_status
error_set(struct error *error, enum srcfind_status status, const char *format, ...);

/* Sets the error that memory ran out while `doing` something ("clipping"). */
enum srcfind_status error_memory(struct error *error, const char *doing);

#endif
