/* Errors as values: a status and one line of text, `file: what is wrong and what would help`.
 * Who finds an error words it; who calls passes it on unchanged. */
#ifndef ERROR_H
#define ERROR_H

#include "srcfind.h"

struct error {
    char text[5120]; /* a path of 4096 characters, and what is wrong with it */
};

/* Words an error and returns its status, so that a caller can write `return error_set(...)`. */
__attribute__((format(printf, 3, 4))) enum srcfind_status
error_set(struct error *error, enum srcfind_status status, const char *format, ...);

/* The same for memory that ran out while `doing` something. */
enum srcfind_status error_memory(struct error *error, const char *doing);

#endif
