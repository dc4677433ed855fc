#include "common/stack.h"

#include <sys/resource.h>

enum { KIB = 1024, LEAST_KIB = 512, USUAL_KIB = 8192 };

enum srcfind_status stack_check(struct error *error) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        limit.rlim_cur >= (rlim_t)LEAST_KIB * KIB)
        return SRCFIND_OK;
    const unsigned long long given = limit.rlim_cur / KIB;
    return error_set(error, SRCFIND_ERROR_MEMORY,
                     "the stack is limited to %llu KiB, and %d are needed: raise the limit with "
                     "`ulimit -s %d`",
                     given, LEAST_KIB, USUAL_KIB);
}
