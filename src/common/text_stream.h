/* A stream that writes to memory. In place of open_memstream, which drops the end of the text
 * without an error where memory runs out. */
#ifndef TEXT_STREAM_H
#define TEXT_STREAM_H

#include <stdint.h>
#include <stdio.h>

struct text {
    char *at; /* to be freed; ends with a NUL; NULL before something was written */
    int64_t size, capacity;
};

/* Opens a stream whose text is complete once it is closed; fclose returns EOF where memory ran out.
 * NULL where memory runs out here. The text starts as {0}, and must not be moved until then. */
FILE *text_stream_open(struct text *text);

#endif
