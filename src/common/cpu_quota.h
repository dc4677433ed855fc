/* The CPU time that the process may use, as containers limit it. */
#ifndef CPU_QUOTA_H
#define CPU_QUOTA_H

/* The number of CPUs, 1 or more, that the quotas of the process's cgroup and of those above it
 * allow at a time; INT_MAX without a quota. Of both versions of cgroups, as far as the process sees
 * them. root: where /proc and the mounts are, "" but in tests. */
int cpu_quota(const char *root);

#endif
