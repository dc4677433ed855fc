#include "common/texts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json_tree.h"

void texts_append(char *text, size_t size, const char *format, ...) {
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int64_t texts_find_equal(const char **texts, int64_t n, const char **text) {
    int64_t count = 0;
    qsort(texts, (size_t)n, sizeof *texts, by_text);
    for (int64_t first = 0; first < n && count < 2; first += count) {
        count = 1;
        while (first + count < n && strcmp(texts[first], texts[first + count]) == 0)
            count++;
        *text = texts[first];
    }
    return count;
}

void texts_count(const char *text, size_t *longest) {
    const size_t length = strlen(text);
    *longest = length > *longest ? length : *longest;
}

char *texts_clean(const char *text) {
    char *clean = strdup(text);
    if (!clean)
        return NULL;
    json_replace_invalid(clean);
    for (char *c = clean; *c; c++)
        if ((*c >= 0 && *c < ' ') || *c == 0x7f)
            *c = '?';
    return clean;
}
