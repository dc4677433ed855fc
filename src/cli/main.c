/* The command: reads the command line and calls the library. */
#include <errno.h>
#include <string.h>

#include "cli/batch.h"
#include "cli/bench.h"
#include "cli/compare.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "cli/process.h"

const char PROGRAM[] = "srcfind";

/* Writes a text to standard output. Returns the exit status. */
static int show(void (*write_text)(FILE *stream)) {
    write_text(stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    fprintf(stderr, "srcfind: standard output: %s\n", strerror(errno));
    return EXIT_IMAGE;
}

static void show_versions(FILE *stream) {
    fprintf(stream, "%s\n", srcfind_versions());
}

static int run_command(const struct cli *cli) {
    if (cli->help)
        return show(command_line_help);
    if (cli->version)
        return show(show_versions);
    if (cli->bench)
        return bench_run(cli);
    return cli->compare_cpu ? compare_run(cli) : batch_run(cli);
}

int main(int argc, char **argv) {
    struct cli cli;
    process_start();
    int status = command_line_read(argc, argv, &cli);
    if (status == EXIT_OK)
        status = run_command(&cli);
    command_line_clear(&cli);
    return status;
}
