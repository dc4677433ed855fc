/* The command: reads the command line and calls the library. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/batch.h"
#include "cli/bench.h"
#include "cli/compare.h"
#include "cli/exit_status.h"
#include "common/arrays.h"

/* Opens /dev/null, read-only, for standard streams that are closed. Otherwise the next file would
 * get the descriptor of standard output or error, and messages would be written to it. */
static void fill_standard_streams(void) {
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

/* Asks the C library to keep freed memory for the next arrays, and the kernel to use huge pages.
 * Nothing fails without them. */
static void keep_memory(void) {
#ifdef __GLIBC__
    /* Arrays from LARGE bytes on get their own mapping: in the heap they would leave holes as they
     * grow. */
    enum { LARGE = 1 << 20, PAD = 4 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, 2 * PAD);
    mallopt(M_TOP_PAD, PAD);
    void *first = malloc(1);
    const uintptr_t start = (uintptr_t)first, end = (uintptr_t)sbrk(0);
    if (first && start < end)
        arrays_use_huge_pages(first, end - start);
    free(first);
#endif
}

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
    fill_standard_streams();
    keep_memory();
    signal(SIGXFSZ, SIG_IGN); /* too large a file is then an error of write() */
    int status = command_line_read(argc, argv, &cli);
    if (status == EXIT_OK)
        status = run_command(&cli);
    command_line_clear(&cli);
    return status;
}
