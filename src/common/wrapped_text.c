#include "common/wrapped_text.h"

#include <string.h>

enum { COLUMNS = 80 };

void wrapped_text_write(const char *text, size_t length, int at, int indent, FILE *stream) {
    const char *end = text + length;
    for (int before = 0; text < end; before = 1) {
        const char *blank = memchr(text, ' ', (size_t)(end - text));
        const int n = (int)((blank ? blank : end) - text);
        if (before && at + 1 + n > COLUMNS) {
            fprintf(stream, "\n%*s", indent, "");
            at = indent;
            before = 0;
        }
        fprintf(stream, "%s%.*s", before ? " " : "", n, text);
        at += before + n;
        text += n + (blank != NULL);
    }
    fputc('\n', stream);
}
