/* The command: reads its line, has the library do the work, and says what came of it. */
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
#include "pages.h"

/* Standard streams that are closed would be given to the next file that is opened, and messages
 * then be written into a catalogue. Nothing can be written to this one. */
static void fill_standard_streams(void) {
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0)
        close(descriptor);
}

/* Keeps freed memory for the next array, and has it on huge pages. A wish only. */
static void keep_memory(void) {
#ifdef __GLIBC__
    enum { LARGE = 1 << 20, ROOM = 4 << 20 }; /* large arrays would leave holes as they grow */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, 2 * ROOM);
    mallopt(M_TOP_PAD, ROOM);
    void *first = malloc(1);
    const uintptr_t start = (uintptr_t)first, end = (uintptr_t)sbrk(0);
    if (first && start < end)
        pages_ask_for_huge(first, end - start);
    free(first);
#endif
}

/* Writes text that was asked for to standard output. */
static int show(void (*write_text)(FILE *stream)) {
    write_text(stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    fprintf(stderr, "srcfind: standard output: %s\n", strerror(errno));
    return EXIT_IMAGE;
}

static void write_versions(FILE *stream) {
    fprintf(stream, "%s\n", srcfind_versions());
}

int main(int argc, char **argv) {
    struct cli cli;
    fill_standard_streams();
    keep_memory();
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error, not the end */
    if (!options_read(argc, argv, &cli)) {
        fputs("srcfind: --help lists all options\n", stderr);
        return EXIT_USAGE;
    }
    if (cli.help)
        return show(options_help);
    if (cli.version)
        return show(write_versions);
    if (cli.bench)
        return bench_run(&cli);
    return cli.compare_cpu ? compare_run(&cli) : batch_run(&cli);
}
