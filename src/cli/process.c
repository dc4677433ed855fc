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

/* Asks the C library to give arrays from `large` bytes on their own mapping, which is given back
 * with them, and to keep up to `kept` bytes of the free end of each thread's heap. */
static void keep_memory(int large, int kept) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, large);
    mallopt(M_TRIM_THRESHOLD, kept);
#else
    (void)large;
    (void)kept;
#endif
}

/* Has the heap grow in large steps, and the kernel use huge pages for it. Nothing fails without
 * them. */
static void grow_in_steps(int step) {
#ifdef __GLIBC__
    mallopt(M_TOP_PAD, step);
    void *first = malloc(1);
    const uintptr_t start = (uintptr_t)first, end = (uintptr_t)sbrk(0);
    if (first && start < end)
        arrays_use_huge_pages(first, end - start);
    free(first);
#else
    (void)step;
#endif
}

void process_expect_images(void) {
    enum { LARGE = 32 << 20, KEPT = 128 << 20 }; /* LARGE: the most that glibc takes */
    keep_memory(LARGE, KEPT);
}

int process_start(void) {
    struct error error;
    fill_standard_streams();
    if (stack_check(&error) != SRCFIND_OK) {
        messages_usage("%s", error.text);
        return EXIT_IMAGE;
    }
    /* LARGE: such arrays would leave holes in the heap as they grow. */
    enum { LARGE = 1 << 20, STEP = 4 << 20 };
    keep_memory(LARGE, 2 * STEP);
    grow_in_steps(STEP);
    signal(SIGXFSZ, SIG_IGN);
    return EXIT_OK;
}
