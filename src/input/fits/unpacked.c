#include "input/fits/unpacked.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/arrays.h"
#include "common/cgroups.h"
#include "common/hook.h"

enum row_state { PACKED, BEING_UNPACKED, UNPACKED };

enum { SHARE = 8 }; /* of the memory that the process may use */

/* The bytes of memory that all images have together. */
static _Atomic int64_t in_memory;

/* --- room --- */

static int64_t most_in_memory(void) {
    const char *root = hook("SRCFIND_CGROUP_ROOT");
    const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const int64_t limit = cgroups_memory(root ? root : "");
    return (machine < limit ? machine : limit) / SHARE;
}

static bool reserve(int64_t bytes) {
    if (atomic_fetch_add(&in_memory, bytes) + bytes <= most_in_memory())
        return true;
    atomic_fetch_sub(&in_memory, bytes);
    return false;
}

/* Room in memory; NULL where it would be too much. */
static void *take_memory(int64_t bytes) {
    if (!reserve(bytes))
        return NULL;
    void *room =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        atomic_fetch_sub(&in_memory, bytes);
        return NULL;
    }
    arrays_use_huge_pages(room, (size_t)bytes);
    return room;
}

/* Whether the files of a directory are in memory. */
static bool is_in_memory(int descriptor) {
    enum { TMPFS = 0x01021994 }; /* man 2 statfs */
    struct statfs system;
    return fstatfs(descriptor, &system) != 0 || system.f_type == TMPFS;
}

/* Room in a file without a name; NULL where the disk has none, or the file would be in memory. All
 * of it is reserved now, since a write to a page that has no room on the disk ends the process. */
static void *take_file(int64_t bytes) {
    FILE *file = tmpfile();
    void *room = MAP_FAILED;
    if (file && !is_in_memory(fileno(file)) && posix_fallocate(fileno(file), 0, bytes) == 0)
        room = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (file)
        fclose(file); /* the mapping keeps it */
    return room == MAP_FAILED ? NULL : room;
}

void unpacked_open(struct unpacked *u, int64_t n, int64_t n_rows) {
    *u = (struct unpacked){.bytes = n * (int64_t)sizeof *u->pixels};
    u->rows = calloc((size_t)n_rows, sizeof *u->rows);
    if (!u->rows)
        return;
    u->pixels = take_memory(u->bytes);
    u->is_memory = u->pixels;
    if (!u->pixels)
        u->pixels = take_file(u->bytes);
}

void unpacked_close(struct unpacked *u) {
    if (u->pixels)
        munmap(u->pixels, (size_t)u->bytes);
    if (u->is_memory)
        atomic_fetch_sub(&in_memory, u->bytes);
    free(u->rows);
    *u = (struct unpacked){0};
}

/* --- rows of tiles --- */

bool unpacked_has(const struct unpacked *u, int64_t row) {
    return atomic_load_explicit(&u->rows[row], memory_order_acquire) == UNPACKED;
}

bool unpacked_begin(struct unpacked *u, int64_t row) {
    unsigned char packed = PACKED;
    return atomic_compare_exchange_strong(&u->rows[row], &packed, BEING_UNPACKED);
}

void unpacked_end(struct unpacked *u, int64_t row, bool is_unpacked) {
    atomic_store_explicit(&u->rows[row], is_unpacked ? UNPACKED : PACKED, memory_order_release);
}
