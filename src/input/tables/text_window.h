/* A part of a file of text, which moves over the file: so a file of any size takes little memory.
 */
#ifndef TEXT_WINDOW_H
#define TEXT_WINDOW_H

#include <stdbool.h>

#include "input/fits/file.h"

struct text_window {
    const char *text, *end;
    bool is_last; /* the file ends with it */
    /* Private. */
    struct fits_file file;
    char *bytes;
    int64_t position; /* in the file, of the end */
};

/* Opens a file that is larger than the window and not gzipped, at its beginning. *fits: whether it
 * is such a file; else nothing is open. Close it also after an error. */
enum srcfind_status text_window_open(struct text_window *window, const char *path, bool *fits,
                                     struct error *error);
void text_window_close(struct text_window *window);

/* Moves the window on, to begin at `at`, which is in it and in line number `line`. An error if the
 * new text has a NUL byte, or the file has changed. */
enum srcfind_status text_window_move(struct text_window *window, const char *at, int64_t line,
                                     struct error *error);

/* Counts the ends of lines in the file, LF and CR. */
enum srcfind_status text_window_count(const struct text_window *window, int64_t *n,
                                      struct error *error);

#endif
