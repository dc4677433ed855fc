#include "common/error.h"

#include <stdarg.h>

enum srcfind_status error_set(struct error *error, enum srcfind_status status, const char *format,
                              ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return status;
}

enum srcfind_status error_memory(struct error *error, const char *doing) {
    return error_set(error, SRCFIND_ERROR_MEMORY, "out of memory while %s", doing);
}
