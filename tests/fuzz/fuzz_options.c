/* Any command line: whatever the command takes, the library takes, too. Arguments are the lines of
 * the input. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "options/options.h"
#include "output/chosen_table.h"
#include "target.h"

const char PROGRAM[] = "fuzz_options";

enum { MOST_ARGUMENTS = 64 };

/* Cuts text into lines; returns how many. */
static int cut(char *text, char **lines) {
    int n = 0;
    for (char *line = text; line && n < MOST_ARGUMENTS; n++) {
        lines[n] = line;
        line = strchr(line, '\n');
        if (line)
            *line++ = '\0';
    }
    return n;
}

/* A list of columns is read, or it is wrong; what it keeps is as long as it may be. */
static void check_columns(const struct cli *cli) {
    struct column_list list;
    struct error error;
    if (column_list_read(cli->columns, &list, &error) != SRCFIND_OK)
        return;
    if (list.n < 1 || list.n > MOST_COLUMNS)
        abort();
    for (int i = 0; i < list.n; i++)
        if (!*list.columns[i].title || (!*list.columns[i].name && *list.columns[i].unit))
            abort();
    chosen_table_check(&list, &cli->find->values, &error);
}

/* The options can be used, and each value can be given again. */
static void check(const struct cli *cli) {
    struct srcfind *finder = NULL;
    if (cli->columns)
        check_columns(cli);
    if (cli->n_images < 0 || cli->bench < 0 || cli->bench > SRCFIND_MAX_ROUNDS)
        abort();
    for (int i = 0; srcfind_option(i); i++) {
        const char *name = srcfind_option(i)->name;
        const size_t size = (size_t)srcfind_options_get(cli->find, name, NULL, 0) + 1;
        char *value = malloc(size), *again = malloc(size);
        srcfind_options_get(cli->find, name, value, size);
        if (*value && srcfind_options_set(cli->find, name, value) != SRCFIND_OK)
            abort();
        srcfind_options_get(cli->find, name, again, size);
        if (strcmp(value, again) != 0)
            abort();
        free(value);
        free(again);
    }
    if (cli->help.topic) /* options need not go together then */
        return;
    if (srcfind_options_set(cli->find, "device", "cpu") ||
        srcfind_options_set(cli->find, "threads", "1") || srcfind_create(cli->find, &finder))
        abort();
    srcfind_destroy(finder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *lines[MOST_ARGUMENTS + 2], program[] = "srcfind";
    char *text = malloc(size + 1);
    struct cli cli;
    memcpy(text, data, size);
    text[size] = '\0';
    lines[0] = program;
    const int n = 1 + cut(text, lines + 1);
    lines[n] = NULL;
    optind = 0; /* getopt begins anew */
    if (command_line_read(n, lines, &cli) == EXIT_OK)
        check(&cli);
    command_line_clear(&cli);
    free(text);
    return 0;
}
