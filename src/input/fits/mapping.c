/* To touch a page of a mapped file that the file has lost, or that the disk does not give, ends the
 * process with a signal. So a lease is taken first: whoever opens the file to write to it, or
 * shortens it, then waits until the lease is given back (for 45 seconds at most:
 * /proc/sys/fs/lease-break-time), and nothing is handed out any more. What remains is a process
 * that is stopped for so long in the middle of a piece, and a file that is shortened then. There
 * are leases for files that nobody has open for writing, and they can be trusted where no other
 * machine writes to the disk. And only what is in the page cache is handed out, which the system
 * tells of one's own files. All else is read. See fcntl(2) and mincore(2). */
#define _GNU_SOURCE /* F_SETLEASE, F_SETSIG */
#include "input/fits/mapping.h"

#include <stddef.h>
#ifdef __linux__
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    LEAST = 4 << 20,  /* less is read as quickly */
    UNIT = 4 << 20,   /* is unmapped at once: whenever anything is, all processors are told */
    AROUND = 1 << 16, /* Linux maps so much where a page is touched, and aligned to that */
    MOST_PAGES = 1 << 7,
};

static bool is_on_local_disk(int descriptor) {
    struct statfs facts;
    if (fstatfs(descriptor, &facts) != 0)
        return false;
    switch (facts.f_type) {
    case BTRFS_SUPER_MAGIC:
    case EXT4_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case XFS_SUPER_MAGIC:
        return true;
    default:
        return false;
    }
}

static bool is_ours(int descriptor) {
    struct stat facts;
    return geteuid() == 0 || (fstat(descriptor, &facts) == 0 && facts.st_uid == geteuid());
}

/* A signal tells that somebody waits. It is to be one that is ignored; the usual one would end the
 * process. */
static bool take_lease(int descriptor) {
    return fcntl(descriptor, F_SETSIG, SIGURG) == 0 && fcntl(descriptor, F_SETLEASE, F_RDLCK) == 0;
}

static void give_lease_back(int descriptor) {
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
}

/* NULL where the file has not all of them: pages behind its end can be in the page cache, too. */
static char *map(const struct mapping *m, int64_t offset) {
    struct stat facts;
    if (fstat(m->descriptor, &facts) != 0 || facts.st_size < offset + m->size)
        return NULL;
    char *pages = mmap(NULL, (size_t)(m->before + m->size), PROT_READ, MAP_SHARED, m->descriptor,
                       offset - m->before);
    return pages == MAP_FAILED ? NULL : pages + m->before;
}

void mapping_open(struct mapping *m, int descriptor, int64_t offset, int64_t size) {
    *m = (struct mapping){
        .size = size, .before = offset % sysconf(_SC_PAGESIZE), .descriptor = descriptor};
    if (size < LEAST || !is_on_local_disk(descriptor) || !is_ours(descriptor))
        return;
    m->given_back = calloc((size_t)(size / UNIT) + 1, sizeof *m->given_back);
    if (!m->given_back || !take_lease(descriptor))
        return;
    m->start = map(m, offset);
    if (!m->start)
        give_lease_back(descriptor);
}

/* The lease is not left to who closes the file: a process that was forked meanwhile keeps it open.
 */
void mapping_close(struct mapping *m) {
    if (m->start) {
        munmap(m->start - m->before, (size_t)(m->before + m->size));
        give_lease_back(m->descriptor);
    }
    free(m->given_back);
    *m = (struct mapping){0};
}

static bool nobody_waits(const struct mapping *m) {
    return fcntl(m->descriptor, F_GETLEASE) == F_RDLCK;
}

static bool are_cached(char *start, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (size + page - 1) / page;
    unsigned char cached[MOST_PAGES];
    if (n > MOST_PAGES || mincore(start, size, cached) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!(cached[i] & 1))
            return false;
    return true;
}

/* Unmaps a unit, and what has been mapped around its start. What is mapped around its end goes with
 * the next one. */
static void unmap(const struct mapping *m, int64_t first, int64_t size) {
    const int64_t around = (int64_t)((uintptr_t)(m->start + first) % AROUND);
    const int64_t before = around < m->before + first ? around : m->before + first;
    madvise(m->start + first - before, (size_t)(before + size), MADV_DONTNEED);
}

void mapping_give_back(const struct mapping *m, int64_t offset, int64_t count) {
    const int64_t first = offset - offset % UNIT, rest = m->size - first;
    const int64_t size = rest < UNIT ? rest : UNIT;
    atomic_int *given_back = &m->given_back[offset / UNIT];
    if (atomic_fetch_add(given_back, (int)count) + count < size)
        return;
    atomic_store(given_back, 0);
    unmap(m, first, size);
}

const void *mapping_borrow(const struct mapping *m, int64_t offset, int64_t count) {
    if (!m->start || count > m->size - offset)
        return NULL;
    char *start = m->start + offset;
    const size_t before = (uintptr_t)start % (uintptr_t)sysconf(_SC_PAGESIZE);
    if (nobody_waits(m) && are_cached(start - before, (size_t)count + before))
        return start;
    mapping_give_back(m, offset, count); /* else its unit would never have all, nor be unmapped */
    return NULL;
}

#else

void mapping_open(struct mapping *m, int descriptor, int64_t offset, int64_t size) {
    (void)descriptor;
    (void)offset;
    (void)size;
    *m = (struct mapping){0};
}

void mapping_close(struct mapping *m) {
    (void)m;
}

const void *mapping_borrow(const struct mapping *m, int64_t offset, int64_t count) {
    (void)m;
    (void)offset;
    (void)count;
    return NULL;
}

void mapping_give_back(const struct mapping *m, int64_t offset, int64_t count) {
    (void)m;
    (void)offset;
    (void)count;
}

#endif
