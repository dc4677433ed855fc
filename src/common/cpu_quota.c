/* man 7 cgroups, and 5 proc; of the kernel's documentation, admin-guide/cgroup-v2.rst (cpu.max) and
 * scheduler/sched-bwc.rst (cpu.cfs_quota_us). */
#include "common/cpu_quota.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A mount of the hierarchy of cgroups that limits CPU time. */
struct hierarchy {
    bool is_v2;
    char *top;       /* the cgroup that is mounted; */
    char *directory; /* where */
};

/* Opens a file of a directory below root; NULL if it cannot be read. */
static FILE *open_file(const char *root, const char *directory, const char *name) {
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s%s%s", root, directory, name);
    return length < (int)sizeof path ? fopen(path, "re") : NULL;
}

/* --- one cgroup --- */

/* Reads the numbers at the beginning of a file, two at most. Returns how many there are. */
static int read_numbers(const char *root, const char *directory, const char *name, long long *first,
                        long long *second) {
    FILE *stream = open_file(root, directory, name);
    if (!stream)
        return 0;
    const int n = fscanf(stream, "%18lld %18lld", first, second);
    fclose(stream);
    return n;
}

/* The CPUs that a cgroup allows by its own quota; INT_MAX without one ("max 100000"; -1). */
static int quota_of(const char *root, const char *directory, bool is_v2) {
    long long time = 0, period = 0; /* of the CPUs together, in so many microseconds */
    const bool is_known =
        is_v2 ? read_numbers(root, directory, "/cpu.max", &time, &period) == 2
              : read_numbers(root, directory, "/cpu.cfs_period_us", &period, &time) == 1 &&
                    read_numbers(root, directory, "/cpu.cfs_quota_us", &time, &time) == 1;
    if (!is_known || time <= 0 || period <= 0)
        return INT_MAX;
    const long long n = time / period + (time % period > 0);
    return n < INT_MAX ? (int)n : INT_MAX;
}

/* --- from the process's cgroup upwards --- */

/* The part of a cgroup's path that follows the top of a mount; NULL if it is not below it. */
static const char *path_below(const char *cgroup, const char *top) {
    const size_t length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    const char *rest = cgroup + length;
    if (strncmp(cgroup, top, length) != 0 || (*rest != '/' && *rest != '\0'))
        return NULL;
    return strncmp(rest, "/..", 3) == 0 ? NULL : rest; /* outside of the process's namespace */
}

/* The least quota of a cgroup and of the cgroups above it, as far as they are mounted. */
static int least_quota(const char *root, const struct hierarchy *h, const char *cgroup) {
    char directory[PATH_MAX];
    const char *below = path_below(cgroup, h->top);
    int least = INT_MAX;
    if (!below ||
        snprintf(directory, sizeof directory, "%s%s", h->directory, below) >= (int)sizeof directory)
        return INT_MAX;
    for (char *end = directory + strlen(directory); end >= directory + strlen(h->directory);
         end--) {
        if (*end != '/' && *end != '\0')
            continue;
        *end = '\0';
        const int quota = quota_of(root, directory, h->is_v2);
        least = quota < least ? quota : least;
    }
    return least;
}

/* Whether a list with commas has the word cpu. */
static bool has_cpu(const char *list) {
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && strchr(",\n", at[3]))
            return true;
    }
    return false;
}

/* The path in a line of /proc/self/cgroup (3:cpu,cpuacct:/path or, of version 2, 0::/path), if it
 * is of the hierarchy; else NULL. */
static char *cgroup_in_line(char *line, bool is_v2) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path)
        return NULL;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    return (is_v2 ? *controllers == '\0' : has_cpu(controllers)) ? path : NULL;
}

/* The quota by a mount of the hierarchy. */
static int quota_by(const char *root, const struct hierarchy *h) {
    FILE *stream = open_file(root, "/proc/self/cgroup", "");
    char *line = NULL, *cgroup = NULL;
    size_t size = 0;
    while (stream && !cgroup && getline(&line, &size, stream) > 0)
        cgroup = cgroup_in_line(line, h->is_v2);
    const int quota = cgroup ? least_quota(root, h, cgroup) : INT_MAX;
    free(line);
    if (stream)
        fclose(stream);
    return quota;
}

/* --- mounts --- */

/* Replaces the bytes that are written as \040, in place. */
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        const bool is_escaped = *from == '\\' && strspn(from + 1, "01234567") >= 3;
        *to = is_escaped ? (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'))
                         : *from;
        from += is_escaped ? 4 : 1;
    }
    *to = '\0';
}

/* Takes a line of /proc/self/mountinfo apart: four words and more, a dash, three words. False if it
 * is no mount of the hierarchy. */
static bool read_mount(char *line, struct hierarchy *h) {
    char *words[5], *rest = NULL;
    for (int i = 0; i < 5; i++)
        if (!(words[i] = strtok_r(i == 0 ? line : NULL, " \n", &rest)))
            return false;
    const char *word = words[4];
    while (word && strcmp(word, "-") != 0)
        word = strtok_r(NULL, " \n", &rest);
    const char *type = strtok_r(NULL, " \n", &rest);
    const char *source = strtok_r(NULL, " \n", &rest), *options = strtok_r(NULL, " \n", &rest);
    if (!word || !type || !source || !options)
        return false;
    *h = (struct hierarchy){strcmp(type, "cgroup2") == 0, words[3], words[4]};
    unescape(h->top);
    unescape(h->directory);
    return h->is_v2 || (strcmp(type, "cgroup") == 0 && has_cpu(options));
}

int cpu_quota(const char *root) {
    FILE *stream = open_file(root, "/proc/self/mountinfo", "");
    char *line = NULL;
    size_t size = 0;
    int least = INT_MAX;
    while (stream && getline(&line, &size, stream) > 0) {
        struct hierarchy h;
        const int quota = read_mount(line, &h) ? quota_by(root, &h) : INT_MAX;
        least = quota < least ? quota : least;
    }
    free(line);
    if (stream)
        fclose(stream);
    return least;
}
