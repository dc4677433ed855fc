/* Bytes of a file mapped to memory, so that its pixels are scanned where the system keeps them. */
#ifndef MAPPING_H
#define MAPPING_H

#include <stdatomic.h>
#include <stdint.h>

struct mapping {
    char *start; /* NULL where nothing is mapped */
    int64_t size;
    int64_t before;         /* bytes of the first page that are before those */
    int descriptor;         /* the caller's */
    atomic_int *given_back; /* bytes of each unit, which is unmapped when it has all */
};

/* Maps `size` bytes of a file, from an offset on, if that is safe and worth it. No error: else they
 * are to be read. Until it is closed, the descriptor is to stay open, and whoever would write to
 * the file has to wait. */
void mapping_open(struct mapping *m, int descriptor, int64_t offset, int64_t size);
void mapping_close(struct mapping *m);

/* Bytes [offset, offset + count) of those, 0 < count <= 256 KiB, beginning at a multiple of that;
 * to be given back once. NULL where they have to be read: they are not in memory, or somebody
 * waits. What is given back takes no memory of the process, soon. Several threads may do both. */
const void *mapping_borrow(const struct mapping *m, int64_t offset, int64_t count);
void mapping_give_back(const struct mapping *m, int64_t offset, int64_t count);

#endif
