/* Environment variables that only tests use. */
#ifndef HOOK_H
#define HOOK_H

#include <stdlib.h>

/* The value of an environment variable, in a build with -Dtest_hooks=true. NULL in other builds, so
 * that a release does not read the environment. */
static inline const char *hook(const char *name) {
#ifdef TEST_HOOKS
    return getenv(name);
#else
    (void)name;
    return NULL;
#endif
}

#endif
