#include "cli/help_manual.h"

#include <stdbool.h>
#include <string.h>

#include "common/ascii.h"
#include "common/texts.h"
#include "common/wrapped_text.h"

/* Paragraphs; titles of sections begin with `# `, those of subsections with `## `. */
static const char *const paragraphs[] = {
#include "options/manual_sections.inc"
};

enum { PARAGRAPHS = sizeof paragraphs / sizeof *paragraphs, LIST = 1024 };

/* 1 for the title of a section, 2 for that of a subsection, 0 for text. */
static size_t level_of(int paragraph) {
    return strspn(paragraphs[paragraph], "#");
}

static const char *title_of(int section) {
    return paragraphs[section] + level_of(section) + 1;
}

int help_manual_section(const char *words) {
    const size_t length = strlen(words);
    for (int i = 0; length && i < PARAGRAPHS; i++) {
        const char *title = title_of(i);
        if (level_of(i) && ascii_same_start(title, words, length) &&
            (!title[length] || title[length] == ' ' || title[length] == ','))
            return i;
    }
    return -1;
}

/* The first paragraph behind a section. */
static int end_of(int section) {
    int end = section + 1;
    while (end < PARAGRAPHS && (!level_of(end) || level_of(end) > level_of(section)))
        end++;
    return end;
}

size_t help_manual_length(int section) {
    size_t length = 0;
    for (int i = section; i < end_of(section); i++)
        length += strlen(paragraphs[i]);
    return length;
}

/* The length of the mark that an item begins with, or 0. */
static size_t item_mark(const char *text) {
    const size_t digits = strspn(text, "0123456789");
    return strncmp(text, "- ", 2) == 0                      ? 2
           : digits && strncmp(text + digits, ". ", 2) == 0 ? digits + 2
                                                            : 0;
}

void help_manual_paragraph(const char *text, size_t length, FILE *stream) {
    const size_t blanks = strspn(text, " "), mark = item_mark(text + blanks);
    const int indent = HELP_INDENT + (int)blanks;
    if (*text == '\t') {
        fprintf(stream, "%*s%.*s\n", HELP_INDENT, "", (int)length - 1, text + 1);
        return;
    }
    fprintf(stream, "%s%*s", mark ? "" : "\n", indent, "");
    wrapped_text_write(text + blanks, length - blanks, indent, indent + (int)mark, stream);
}

void help_manual_write(int section, FILE *stream) {
    fprintf(stream, "%s\n", title_of(section));
    for (int i = section + 1; i < end_of(section); i++)
        if (level_of(i))
            fprintf(stream, "\n  %s\n", title_of(i));
        else
            help_manual_paragraph(paragraphs[i], strlen(paragraphs[i]), stream);
}

void help_manual_list(FILE *stream) {
    static const char HEAD[] = "Sections of the manual, for --help=SECTION: ";
    char list[LIST] = "";
    bool is_first = true;
    for (int i = 0; i < PARAGRAPHS; i++)
        if (level_of(i) == 1) {
            texts_append(list, sizeof list, "%s%s", is_first ? "" : ", ", title_of(i));
            is_first = false;
        }
    fputs(HEAD, stream);
    wrapped_text_write(list, strlen(list), sizeof HEAD - 1, 2, stream);
}
