#include "cli/clean.h"

#include <ctype.h>
#include <stdio.h>

void clean_in_place(char *text) {
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = '?';
}

struct clean clean_text(const char *text) {
    struct clean c;
    snprintf(c.text, sizeof c.text, "%s", text);
    clean_in_place(c.text);
    return c;
}
