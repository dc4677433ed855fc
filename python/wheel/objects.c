/* What Debian's static objects need to be part of a shared library that runs with glibc 2.34, too.
 * scripts/build-wheel links them with this, and with --wrap for each name below.
 *
 * They were compiled for programs, and so take the address of stderr and stdout for one that is
 * known when they are linked: they get variables of the library. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

extern FILE *__real_stderr, *__real_stdout;
FILE *__wrap_stderr, *__wrap_stdout;
void __wrap_arc4random_buf(void *bytes, size_t size);
double __wrap_hypot(double x, double y);

__attribute__((constructor(101))) static void take_streams(void) {
    __wrap_stderr = __real_stderr;
    __wrap_stdout = __real_stdout;
}

/* In glibc since 2.36. expat salts its hashes with it. Where the kernel has nothing random, zeros.
 */
void __wrap_arc4random_buf(void *bytes, size_t size) {
    memset(bytes, 0, size);
    for (size_t got = 0; got < size;) {
        const ssize_t n = getrandom((char *)bytes + got, size - got, 0);
        if (n < 0 && errno != EINTR)
            return;
        got += n < 0 ? 0 : (size_t)n;
    }
}

/* By the name of hypot.h. */
double __wrap_hypot(double x, double y) {
    return hypot(x, y);
}
