#include "input/frame.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Names in capitals without anything but letters and digits, and what srcfind says for them. */
static const char *const names[][2] = {
    {"FK5", "FK5"},      {"FK4", "FK4"},      {"FK4NOE", "FK4-NO-E"},
    {"ICRS", "ICRS"},    {"J2000", "FK5"},    {"B1950", "FK4"},
    {"FK5J2000", "FK5"}, {"FK4B1950", "FK4"}, {"GAPPT", "GAPPT"}};

/* Moves the text to the left by its leading blanks, and cuts its trailing ones and dashes. */
static void trim(char *text) {
    const size_t blanks = strspn(text, " ");
    size_t length = strlen(text + blanks);
    memmove(text, text + blanks, length + 1);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '-'))
        text[--length] = '\0';
}

/* Whether a text is a name, but for blanks and signs between its letters and digits. */
static bool is_name(const char *text, const char *name) {
    for (; *text; text++)
        if (isalnum((unsigned char)*text) && *name++ != *text)
            return false;
    return *name == '\0';
}

void frame_spell(char *text) {
    trim(text);
    const size_t length = strlen(text);
    for (char *c = text; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is_name(text, names[i][0]) && strlen(names[i][1]) <= length) {
            memcpy(text, names[i][1], strlen(names[i][1]) + 1);
            return;
        }
    }
}
