/* Quotas of CPU time and limits of memory, in directories that look like /proc and the mounts of
 * cgroups. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cgroups.h"
#include "temporary.h"
#include "unit.h"

enum { MOST_FILES = 8 };

/* Files of a system, and the CPUs that they allow. */
struct system {
    struct {
        const char *path, *text;
    } files[MOST_FILES];
    int expected;
};

#define CGROUP "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"
#define OTHER_MOUNTS                                                                               \
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"                                              \
    "27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n"
#define V2_AT(top, place) "30 23 0:26 " top " " place " rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define V2 OTHER_MOUNTS V2_AT("/", "/sys/fs/cgroup")
#define V1_AT(top)                                                                                 \
    OTHER_MOUNTS "34 31 0:31 / /c/cpuset rw - cgroup cgroup rw,cpuset\n"                           \
                 "35 31 0:32 / /c/cpuacct rw - cgroup cgroup rw,cpuacct\n"                         \
                 "33 31 0:30 " top " /c/cpu rw,relatime - cgroup cgroup rw,cpuacct,cpu\n"
#define V1_LINES(path) "4:cpuset:/other\n3:cpu,cpuacct:" path "\n5:cpuacct:/other\n0::/\n"

static const struct system systems[] = {
    /* Version 2: the process's own cgroup, and those above it; in parts of a CPU. */
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}, 2},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "150000 100000\n"}}, 2},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "1000 100000\n"}}, 1},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "30000 10000\n"}}, 3},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "max 100000\n"}}, INT_MAX},
    {{{MOUNTS, V2},
      {CGROUP, "0::/a/b\n"},
      {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/a/cpu.max", "400000 100000\n"}},
     4},
    {{{MOUNTS, V2},
      {CGROUP, "0::/a/b\n"},
      {"/sys/fs/cgroup/a/b/cpu.max", "300000 100000\n"},
      {"/sys/fs/cgroup/a/cpu.max", "400000 100000\n"},
      {"/sys/fs/cgroup/cpu.max", "500000 100000\n"}},
     3},
    /* A cgroup that only begins alike is another one; a directory may have odd characters. */
    {{{MOUNTS, V2},
      {CGROUP, "0::/ab:c d\n"},
      {"/sys/fs/cgroup/a/cpu.max", "100000 100000\n"},
      {"/sys/fs/cgroup/ab:c d/cpu.max", "600000 100000\n"}},
     6},
    {{{MOUNTS, OTHER_MOUNTS V2_AT("/", "/my\\040cgroups")},
      {CGROUP, "0::/a\n"},
      {"/my cgroups/a/cpu.max", "200000 100000\n"}},
     2},
    /* A part of the hierarchy is mounted: that of the process, or another one. */
    {{{MOUNTS, OTHER_MOUNTS V2_AT("/docker/1", "/sys/fs/cgroup")},
      {CGROUP, "0::/docker/1/x\n"},
      {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}},
     2},
    {{{MOUNTS, OTHER_MOUNTS V2_AT("/docker/1", "/sys/fs/cgroup")},
      {CGROUP, "0::/docker/12\n"},
      {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}},
     INT_MAX},
    /* Outside of the namespace, with its top and without. */
    {{{MOUNTS, V2}, {CGROUP, "0::/../x\n"}, {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}},
     INT_MAX},
    {{{MOUNTS, OTHER_MOUNTS V2_AT("/..", "/sys/fs/cgroup")},
      {CGROUP, "0::/../x\n"},
      {"/sys/fs/cgroup/x/cpu.max", "200000 100000\n"}},
     2},
    /* Version 1. */
    {{{MOUNTS, V1_AT("/")},
      {CGROUP, V1_LINES("/a/b")},
      {"/c/cpu/a/b/cpu.cfs_quota_us", "-1\n"},
      {"/c/cpu/a/b/cpu.cfs_period_us", "100000\n"},
      {"/c/cpu/a/cpu.cfs_quota_us", "125000\n"},
      {"/c/cpu/a/cpu.cfs_period_us", "50000\n"}},
     3},
    {{{MOUNTS, V1_AT("/docker/1")},
      {CGROUP, V1_LINES("/docker/1")},
      {"/c/cpu/cpu.cfs_quota_us", "700000\n"},
      {"/c/cpu/cpu.cfs_period_us", "100000\n"}},
     7},
    {{{MOUNTS, V1_AT("/")},
      {CGROUP, V1_LINES("/a")},
      {"/c/cpu/other/cpu.cfs_quota_us", "100000\n"},
      {"/c/cpu/other/cpu.cfs_period_us", "100000\n"}},
     INT_MAX},
    {{{MOUNTS, V1_AT("/")}, {CGROUP, V1_LINES("/")}, {"/c/cpu/cpu.cfs_quota_us", "100000\n"}},
     INT_MAX},
    /* Both: version 2 for the rest. */
    {{{MOUNTS, V1_AT("/") V2_AT("/", "/c/unified")},
      {CGROUP, V1_LINES("/a")},
      {"/c/cpu/a/cpu.cfs_quota_us", "200000\n"},
      {"/c/cpu/a/cpu.cfs_period_us", "100000\n"}},
     2},
    /* Nothing that can be read, and nothing that has a meaning. */
    {{{NULL, NULL}}, INT_MAX},
    {{{MOUNTS, V2}}, INT_MAX},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}}, INT_MAX},
    {{{MOUNTS, V2}, {CGROUP, "0\n0:\n::\n"}}, INT_MAX},
    {{{MOUNTS, "\n-\n1 2 - cgroup2\n30 23 0:26 / /x - cgroup2\n"}, {CGROUP, "0::/\n"}}, INT_MAX},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "100000 0\n"}}, INT_MAX},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "0 100000\n"}}, INT_MAX},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "100000\n"}}, INT_MAX},
    {{{MOUNTS, V2}, {CGROUP, "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "99999999999999999 1\n"}},
     INT_MAX},
};

/* Writes a file, and makes its directories. */
static void write_file(const char *root, const char *name, const char *text) {
    char path[TEMPORARY_PATH + 64];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static void quotas(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        const struct system *s = &systems[i];
        char root[TEMPORARY_PATH], command[TEMPORARY_PATH + 16];
        assert_true(temporary_directory(root));
        for (int k = 0; k < MOST_FILES && s->files[k].path; k++)
            write_file(root, s->files[k].path, s->files[k].text);
        const int n = cgroups_cpus(root);
        if (n != s->expected)
            fail_msg("system %zu allows %d CPUs, and not %d", i, n, s->expected);
        snprintf(command, sizeof command, "rm -r '%s'", root);
        assert_int_equal(system(command), 0);
    }
}

/* As CPUs, by files of other names. */
static void limits_of_memory(void **state) {
    static const char *const limits[][3] = {
        {"/sys/fs/cgroup/a/memory.max", "max\n", NULL},
        {"/sys/fs/cgroup/a/memory.max", "3000000000\n", "3000000000"},
        {"/sys/fs/cgroup/memory.max", "2000000000\n", "2000000000"},
        {"/sys/fs/cgroup/a/memory.max", "99999999999\n", "2000000000"},
        {"/sys/fs/cgroup/a/memory.max", "0\n", "2000000000"},
    };
    char root[TEMPORARY_PATH], command[TEMPORARY_PATH + 16];
    (void)state;
    assert_true(temporary_directory(root));
    write_file(root, MOUNTS, V2);
    write_file(root, CGROUP, "0::/a\n");
    assert_int_equal(cgroups_memory(root), INT64_MAX);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        write_file(root, limits[i][0], limits[i][1]);
        assert_int_equal(cgroups_memory(root),
                         limits[i][2] ? strtoll(limits[i][2], NULL, 10) : INT64_MAX);
    }
    write_file(root, MOUNTS, OTHER_MOUNTS "33 31 0:30 / /c/memory rw - cgroup cgroup rw,memory\n");
    write_file(root, CGROUP, "4:cpu:/b\n3:memory:/a\n");
    write_file(root, "/c/memory/a/memory.limit_in_bytes", "1000000000\n");
    write_file(root, "/c/memory/b/memory.limit_in_bytes", "1\n");
    assert_int_equal(cgroups_memory(root), 1000000000);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

/* A path that is longer than the system allows, and a line that never ends. */
static void long_paths(void **state) {
    char root[TEMPORARY_PATH], command[TEMPORARY_PATH + 16];
    char *line = malloc(3 * PATH_MAX);
    (void)state;
    assert_true(temporary_directory(root));
    strcpy(line, "0::/");
    memset(line + 4, 'a', 2 * PATH_MAX);
    line[4 + 2 * PATH_MAX] = '\0';
    write_file(root, MOUNTS, V2);
    write_file(root, CGROUP, line);
    write_file(root, "/sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_int_equal(cgroups_cpus(root), INT_MAX);
    free(line);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

/* Here and now there is at least one CPU. */
static void this_system(void **state) {
    (void)state;
    assert_true(cgroups_cpus("") >= 1);
    assert_true(srcfind_available_threads() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(quotas), cmocka_unit_test(limits_of_memory),
                                       cmocka_unit_test(long_paths), cmocka_unit_test(this_system)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
