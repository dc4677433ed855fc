#include "input/fits/unpacked.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/arrays.h"
#include "common/cgroups.h"
#include "common/file_bytes.h"
#include "common/hook.h"

enum row_state { PACKED, BEING_UNPACKED, UNPACKED };

enum { SHARE = 8 }; /* of the memory that the process may use */

/* The bytes of memory that all images have together. */
static _Atomic int64_t bytes_taken;

/* --- memory --- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* A limit of the process, as `ulimit` sets it; INT64_MAX without one. */
static int64_t process_limit(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur < INT64_MAX ? (int64_t)limit.rlim_cur
                                                                          : INT64_MAX;
}

static int64_t most_bytes(void) {
    const char *root = hook("SRCFIND_CGROUP_ROOT");
    const int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    const int64_t process = least(process_limit(RLIMIT_AS), process_limit(RLIMIT_DATA));
    return least(least(machine, process), cgroups_memory(root ? root : "")) / SHARE;
}

/* Room in memory; NULL where it would be too much. */
static float *take_memory(int64_t bytes) {
    float *room = NULL;
    if (atomic_fetch_add(&bytes_taken, bytes) + bytes <= most_bytes())
        room = arrays_allocate(bytes, 1);
    if (!room)
        atomic_fetch_sub(&bytes_taken, bytes);
    return room;
}

/* --- a file --- */

/* Whether a file system is a disk: not memory, as far as its type tells (man 2 statfs; an overlay
 * may be of either kind). */
static bool is_disk(const struct statfs *system) {
    static const uint32_t others[] = {0x01021994 /* tmpfs */, 0x858458f6 /* ramfs */,
                                      0x794c7630 /* overlayfs */};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((uint32_t)system->f_type == others[i])
            return false;
    return true;
}

/* Whether a file is on a disk of which twice as many bytes are free, and may have so many: a longer
 * file would end a process that does not ignore SIGXFSZ. */
static bool has_room(int descriptor, int64_t bytes) {
    struct statfs system;
    return bytes <= process_limit(RLIMIT_FSIZE) && fstatfs(descriptor, &system) == 0 &&
           is_disk(&system) && bytes / (int64_t)system.f_bsize < (int64_t)system.f_bavail / 2;
}

/* A file without a name; -1 where there is no room. */
static int take_file(int64_t bytes) {
    FILE *file = tmpfile();
    const int descriptor = file && has_room(fileno(file), bytes) ? dup(fileno(file)) : -1;
    if (file)
        fclose(file);
    return descriptor;
}

/* --- room --- */

void unpacked_open(struct unpacked *u, int64_t n, int64_t n_rows) {
    *u = (struct unpacked){.bytes = n * (int64_t)sizeof *u->pixels, .descriptor = -1};
    u->pixels = take_memory(u->bytes);
    if (!u->pixels)
        u->descriptor = take_file(u->bytes);
    if (u->pixels || u->descriptor >= 0)
        u->rows = calloc((size_t)n_rows, sizeof *u->rows);
}

void unpacked_close(struct unpacked *u) {
    if (u->pixels)
        atomic_fetch_sub(&bytes_taken, u->bytes);
    else if (u->bytes > 0 && u->descriptor >= 0) /* no bytes: it was not opened */
        close(u->descriptor);
    free(u->pixels);
    free(u->rows);
    *u = (struct unpacked){0};
}

/* --- rows of tiles --- */

bool unpacked_has(const struct unpacked *u, int64_t row) {
    return u->rows && atomic_load_explicit(&u->rows[row], memory_order_acquire) == UNPACKED;
}

bool unpacked_begin(struct unpacked *u, int64_t row) {
    unsigned char packed = PACKED;
    return u->rows && !u->is_full &&
           atomic_compare_exchange_strong(&u->rows[row], &packed, BEING_UNPACKED);
}

void unpacked_end(struct unpacked *u, int64_t row, const float *values, int64_t first, int64_t n) {
    const int64_t size = sizeof *values;
    bool is_kept = values;
    if (values && !u->pixels) {
        is_kept = file_bytes_write(u->descriptor, values, n * size, first * size);
        u->is_full = !is_kept;
    }
    atomic_store_explicit(&u->rows[row], is_kept ? UNPACKED : PACKED, memory_order_release);
}

const float *unpacked_get(const struct unpacked *u, int64_t first, int64_t n, float *buffer) {
    const int64_t size = sizeof *buffer;
    if (u->pixels)
        return u->pixels + first;
    const int64_t got = file_bytes_read(u->descriptor, buffer, n * size, first * size);
    if (got >= 0 && got < n * size)
        errno = EIO;
    return got == n * size ? buffer : NULL;
}
