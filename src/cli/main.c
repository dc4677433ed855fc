/* The command: reads the command line and calls the library. */
#include "cli/batch.h"
#include "cli/bench.h"
#include "cli/command_line.h"
#include "cli/compare.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "cli/process.h"

const char PROGRAM[] = "srcfind";

static int run_command(const struct cli *cli) {
    const struct messages messages = messages_for(cli);
    if (cli->help.topic || cli->version) {
        if (cli->help.topic)
            help_write(&cli->help, stdout);
        else
            puts(srcfind_versions());
        return messages_written(&messages, true);
    }
    if (cli->bench)
        return bench_run(cli);
    return cli->compare_cpu ? compare_run(cli) : batch_run(cli);
}

int main(int argc, char **argv) {
    struct cli cli;
    int status = process_start();
    if (status != EXIT_OK)
        return status;
    status = command_line_read(argc, argv, &cli);
    if (status == EXIT_OK)
        status = run_command(&cli);
    command_line_clear(&cli);
    return status;
}
