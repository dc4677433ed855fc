/* All bytes of a file of text, unpacked if it is gzipped. */
#ifndef TEXT_FILE_H
#define TEXT_FILE_H

#include "common/error.h"

struct gunzip;

struct text_file {
    const char *text;
    int64_t size;
    /* Private. */
    char *bytes;
    struct gunzip *gunzip;
};

/* Reads a regular file. An error if it has a NUL byte, is not complete, or unpacks to far more than
 * text does. Close it also after an error. */
enum srcfind_status text_file_open(struct text_file *text, const char *path, struct error *error);
void text_file_close(struct text_file *text);

/* An error if a text has a NUL byte; `line` is the number of its first line. */
enum srcfind_status text_file_check(const char *text, int64_t size, int64_t line, const char *path,
                                    struct error *error);

/* Copies the beginning of a text to a buffer of TEXT_FILE_QUOTE characters, for a message of one
 * line; `?` stands for characters that cannot be printed. Returns the buffer. */
enum { TEXT_FILE_QUOTE = 48 };
const char *text_file_quote(const char *text, size_t length, char *quote);

#endif
