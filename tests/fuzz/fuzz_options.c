/* Any command line: whatever the command takes, the library takes, too. Arguments are the lines of
 * the input. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "target.h"

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

static void check(const struct cli *cli) {
    struct srcfind_options options = cli->find;
    struct srcfind *finder = NULL;
    if (cli->n_search < 0 || cli->n_search > MOST_SEARCH_OPTIONS || cli->n_images < 0 ||
        cli->bench < 0 || cli->bench >= SRCFIND_MAX_ROUNDS)
        abort();
    options.device = SRCFIND_DEVICE_CPU;
    if (srcfind_create(&options, &finder) != SRCFIND_OK)
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
    if (options_read(n, lines, &cli))
        check(&cli);
    free(text);
    return 0;
}
