/* The CPU time and the memory that the process may use, as containers limit them: by its cgroup and
 * those above it, of both versions of cgroups, as far as the process sees them. root: where /proc
 * and the mounts are, "" but in tests. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include <stdint.h>

/* The number of CPUs, 1 or more, that may be used at a time; INT_MAX without a quota. */
int cgroups_cpus(const char *root);

/* The number of bytes of memory; INT64_MAX without a limit. */
int64_t cgroups_memory(const char *root);

#endif
