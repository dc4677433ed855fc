/* man 7 cgroups, and 5 proc; of the kernel's documentation, admin-guide/cgroup-v2.rst (cpu.max,
 * memory.max), scheduler/sched-bwc.rst (cpu.cfs_quota_us) and admin-guide/cgroup-v1/memory.rst
 * (memory.limit_in_bytes). */
#include "common/cgroups.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is limited. */
struct controller {
    const char *name;
    /* The limit of one cgroup by itself; INT64_MAX without one. */
    int64_t (*limit)(const char *root, const char *directory, bool is_v2);
};

/* A mount of the hierarchy of cgroups that has a controller. */
struct hierarchy {
    const struct controller *controller;
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

/* The CPUs that a cgroup allows by its own quota ("max 100000", -1: there is none). */
static int64_t cpus_of(const char *root, const char *directory, bool is_v2) {
    long long time = 0, period = 0; /* of the CPUs together, in so many microseconds */
    const bool is_known =
        is_v2 ? read_numbers(root, directory, "/cpu.max", &time, &period) == 2
              : read_numbers(root, directory, "/cpu.cfs_period_us", &period, &time) == 1 &&
                    read_numbers(root, directory, "/cpu.cfs_quota_us", &time, &time) == 1;
    if (!is_known || time <= 0 || period <= 0)
        return INT64_MAX;
    return time / period + (time % period > 0);
}

/* The memory that a cgroup allows ("max": all). */
static int64_t memory_of(const char *root, const char *directory, bool is_v2) {
    long long bytes = 0, none;
    const char *name = is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
    const bool is_known = read_numbers(root, directory, name, &bytes, &none) > 0;
    return is_known && bytes > 0 ? bytes : INT64_MAX;
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

/* The least limit of a cgroup and of the cgroups above it, as far as they are mounted. */
static int64_t least_limit(const char *root, const struct hierarchy *h, const char *cgroup) {
    char directory[PATH_MAX];
    const char *below = path_below(cgroup, h->top);
    int64_t least = INT64_MAX;
    if (!below ||
        snprintf(directory, sizeof directory, "%s%s", h->directory, below) >= (int)sizeof directory)
        return INT64_MAX;
    for (char *end = directory + strlen(directory); end >= directory + strlen(h->directory);
         end--) {
        if (*end != '/' && *end != '\0')
            continue;
        *end = '\0';
        const int64_t limit = h->controller->limit(root, directory, h->is_v2);
        least = limit < least ? limit : least;
    }
    return least;
}

/* Whether a list with commas has a word. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && strchr(",\n", at[length]))
            return true;
    }
    return false;
}

/* The path in a line of /proc/self/cgroup (3:cpu,cpuacct:/path or, of version 2, 0::/path), if it
 * is of the hierarchy; else NULL. */
static char *cgroup_in_line(char *line, const struct hierarchy *h) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path)
        return NULL;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    return (h->is_v2 ? *controllers == '\0' : has_word(controllers, h->controller->name)) ? path
                                                                                          : NULL;
}

/* The limit by a mount of the hierarchy. */
static int64_t limit_by(const char *root, const struct hierarchy *h) {
    FILE *stream = open_file(root, "/proc/self/cgroup", "");
    char *line = NULL, *cgroup = NULL;
    size_t size = 0;
    while (stream && !cgroup && getline(&line, &size, stream) > 0)
        cgroup = cgroup_in_line(line, h);
    const int64_t limit = cgroup ? least_limit(root, h, cgroup) : INT64_MAX;
    free(line);
    if (stream)
        fclose(stream);
    return limit;
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
 * is no mount of a hierarchy with the controller. */
static bool read_mount(char *line, const struct controller *controller, struct hierarchy *h) {
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
    *h = (struct hierarchy){controller, strcmp(type, "cgroup2") == 0, words[3], words[4]};
    unescape(h->top);
    unescape(h->directory);
    return h->is_v2 || (strcmp(type, "cgroup") == 0 && has_word(options, controller->name));
}

static int64_t least_of_mounts(const char *root, const struct controller *controller) {
    FILE *stream = open_file(root, "/proc/self/mountinfo", "");
    char *line = NULL;
    size_t size = 0;
    int64_t least = INT64_MAX;
    while (stream && getline(&line, &size, stream) > 0) {
        struct hierarchy h;
        const int64_t limit = read_mount(line, controller, &h) ? limit_by(root, &h) : INT64_MAX;
        least = limit < least ? limit : least;
    }
    free(line);
    if (stream)
        fclose(stream);
    return least;
}

int cgroups_cpus(const char *root) {
    static const struct controller cpu = {"cpu", cpus_of};
    const int64_t n = least_of_mounts(root, &cpu);
    return n < INT_MAX ? (int)n : INT_MAX;
}

int64_t cgroups_memory(const char *root) {
    static const struct controller memory = {"memory", memory_of};
    return least_of_mounts(root, &memory);
}
