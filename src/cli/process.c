#include "cli/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/exit_status.h"
#include "cli/messages.h"
#include "common/arrays.h"
#include "common/stack.h"

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

void process_keep_memory(void) {
#ifdef __GLIBC__
    enum { LARGE = 32 << 20, KEPT = 128 << 20 }; /* LARGE: the most that glibc takes */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

int process_start(void) {
    struct error error;
    fill_standard_streams();
    if (stack_check(&error) != SRCFIND_OK) {
        messages_usage("%s", error.text);
        return EXIT_IMAGE;
    }
    keep_memory();
    signal(SIGXFSZ, SIG_IGN);
    return EXIT_OK;
}
