/* Texts for people: a path may have any characters. */
#ifndef CLEAN_H
#define CLEAN_H

#include <limits.h>

struct clean {
    char text[PATH_MAX];
};

/* Puts `?` in place of control characters, which would break a line. */
void clean_in_place(char *text);

/* A text without control characters. */
struct clean clean_text(const char *text);

#endif
