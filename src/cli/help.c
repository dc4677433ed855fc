#include "cli/help.h"

#include <stdbool.h>
#include <string.h>

#include "cli/help_lists.h"
#include "cli/help_manual.h"
#include "common/ascii.h"
#include "common/texts.h"
#include "common/wrapped_text.h"
#include "options/options.h"

#define GROUP(name, title) name,
enum group {
#include "options/groups.inc"
    GROUPS,
    DAILY = 16
};
#undef GROUP

#define GROUP(name, title) title,
static const char *const titles[GROUPS] = {
#include "options/groups.inc"
};
#undef GROUP

static const struct described {
    const char *name;
    int letter;
    const char *argument, *type, *initial, *values, *help;
    int group; /* enum group, and DAILY */
} options[] = {
#define SEARCH_OPTION(name, letter, argument, type, member, initial, values, help, group)          \
    {name, letter, argument, #type, initial, values, help, group},
#define MACHINE_OPTION SEARCH_OPTION
#define MACRO_OPTION SEARCH_OPTION
#define COMMAND_OPTION SEARCH_OPTION
#include "options/options.inc"
#undef SEARCH_OPTION
#undef MACHINE_OPTION
#undef MACRO_OPTION
#undef COMMAND_OPTION
};

/* What the manual says of each, in paragraphs that end with a newline, and the section that says
 * more, or "". */
static const struct {
    const char *name, *text, *section;
} texts[] = {
#include "options/option_texts.inc"
};

enum { OPTIONS = sizeof options / sizeof *options, HEAD = 80, HELP_COLUMN = 28 };
enum { SHORT_SECTION = 4000 }; /* characters: some screens */

_Static_assert(sizeof texts / sizeof *texts == OPTIONS, "options.text has the options");

static const char EXAMPLES[] =
    "  srcfind -s image.fits -o catalogue.csv        local noise, and fitted sources\n"
    "  srcfind -s tiles/*.fits -o catalogues/        a night's tiles\n"
    "  srcfind -s --save rms image.fits -o c.vot     with the map of the noise\n";

/* Writes `-k, --kappa K` to the head of a line. */
static void name_option(const struct described *o, char *head) {
    const char letter[] = {'-', (char)o->letter, ',', ' ', '\0'};
    const char *argument = o->argument ? o->argument : "";
    snprintf(head, HEAD, "  %s--%s%s%s", o->letter ? letter : "    ", o->name,
             *argument && *argument != '[' ? " " : "", argument);
}

static void put_option(const struct described *o, FILE *stream) {
    char head[HEAD];
    name_option(o, head);
    fprintf(stream, "%-*s  %s", HELP_COLUMN, head, o->help);
    if (o->initial)
        fprintf(stream, " [%s]", o->initial);
    fputc('\n', stream);
}

static void help_daily(FILE *stream) {
    fprintf(stream, "Usage: srcfind [OPTION]... IMAGE...\n%s\n", EXAMPLES);
    for (int i = 0; i < OPTIONS; i++)
        if (options[i].group & DAILY)
            put_option(&options[i], stream);
    fputs("\n--help lists all options, and --help=OPTION explains one. More: man srcfind\n",
          stream);
}

static void help_all(FILE *stream) {
    fputs("Usage: srcfind [OPTION]... IMAGE...\n"
          "Finds the sources in radio images (FITS), and writes a catalogue of each.\n",
          stream);
    for (int group = 0; group < GROUPS; group++) {
        fprintf(stream, "\n%s:\n", titles[group]);
        for (int i = 0; i < OPTIONS; i++)
            if ((options[i].group & ~DAILY) == group)
                put_option(&options[i], stream);
    }
    fprintf(stream,
            "\nExamples:\n%s"
            "  srcfind image.fits -o catalogue.csv           one noise, and no fits\n"
            "  srcfind -s image.fits -f table                a rounded table for reading\n"
            "  srcfind --help=threshold                      what the manual says of it\n"
            "  srcfind --help='local noise'                  a section of the manual\n"
            "\n",
            EXAMPLES);
    help_manual_list(stream);
}

/* Writes a paragraph of the manual, with the default of its option in place of {default}. */
static void put_paragraph(const char *text, size_t length, const char *initial, FILE *stream) {
    static const char MARK[] = "{default}";
    const char *mark = initial ? strstr(text, MARK) : NULL;
    const size_t before = mark && mark < text + length ? (size_t)(mark - text) : length;
    char filled[4096] = "";
    texts_append(filled, sizeof filled, "%.*s", (int)before, text);
    if (before < length)
        texts_append(filled, sizeof filled, "%s%.*s", initial,
                     (int)(length - before - strlen(MARK)), mark + strlen(MARK));
    help_manual_paragraph(filled, strlen(filled), stream);
}

/* Whether an option takes no other values than those of the table, or lists of them. */
static bool has_all_values(const struct described *o) {
    return strcmp(o->type, "CHOICE") == 0 || strcmp(o->type, "FORMAT") == 0 ||
           strcmp(o->type, "SAVED") == 0;
}

/* Writes a line about the value of an option. */
static void put_fact(const char *what, const char *fact, FILE *stream) {
    const int at = fprintf(stream, "%*s%s: ", HELP_INDENT, "", what);
    wrapped_text_write(fact, strlen(fact), at, 2 * HELP_INDENT, stream);
}

/* Writes a short section, and the name of a long one. */
static void put_section(const char *title, FILE *stream) {
    const int section = help_manual_section(title);
    if (section < 0)
        return;
    if (help_manual_length(section) > SHORT_SECTION) {
        fprintf(stream, "\n%*sMore: srcfind --help='", HELP_INDENT, "");
        for (; *title; title++)
            fputc(ascii_lower(*title), stream);
        fputs("'\n", stream);
    } else {
        fputc('\n', stream);
        help_manual_write(section, stream);
    }
}

static void help_option(int option, FILE *stream) {
    const struct described *o = &options[option];
    char head[HEAD], values[OPTIONS_TEXT];
    name_option(o, head);
    fprintf(stream, "%s\n", head);
    for (const char *text = texts[option].text; *text;) {
        const size_t length = strcspn(text, "\n");
        put_paragraph(text, length, o->initial, stream);
        text += length + 1;
    }
    if (o->initial || has_all_values(o))
        fputc('\n', stream);
    if (o->initial)
        put_fact("Default", o->initial, stream);
    if (has_all_values(o)) {
        options_name_choices(o->values, values);
        put_fact("Values", values, stream);
    }
    put_section(texts[option].section, stream);
}

void help_write(const struct help *help, FILE *stream) {
    static void (*const write[])(FILE * stream) = {
        [HELP_DAILY] = help_daily,          [HELP_ALL] = help_all,
        [HELP_FORMATS] = help_list_formats, [HELP_MAPS] = help_list_maps,
        [HELP_COLUMNS] = help_list_columns,
    };
    if (help->topic == HELP_OPTION)
        help_option(help->option, stream);
    else if (help->topic == HELP_SECTION)
        help_manual_write(help->section, stream);
    else
        write[help->topic](stream);
}
