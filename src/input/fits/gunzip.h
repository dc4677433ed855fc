/* A gzipped file, unpacked to memory by zlib as far as it is asked for, and so to no more than a
 * header says that there is. */
#ifndef GUNZIP_H
#define GUNZIP_H

#include "common/error.h"

struct gunzip;

/* Of an open file of `size` bytes, which must last. To be closed. */
enum srcfind_status gunzip_open(struct gunzip **gunzip, int descriptor, int64_t size,
                                struct error *error);
void gunzip_close(struct gunzip *gunzip);

/* Unpacks `end` bytes; *reached is false where there are fewer. `path` is for the error. */
enum srcfind_status gunzip_reach(struct gunzip *gunzip, const char *path, int64_t end,
                                 bool *reached, struct error *error);

/* Looks at what follows up to the next checksum, without keeping it: an error if that is wrong.
 * Nothing more can be unpacked then. */
enum srcfind_status gunzip_check(struct gunzip *gunzip, const char *path, struct error *error);

/* How many bytes are unpacked. */
int64_t gunzip_size(const struct gunzip *gunzip);

/* Copies count unpacked bytes; false where there are not so many. */
bool gunzip_copy(const struct gunzip *gunzip, void *buffer, int64_t count, int64_t offset);

/* Unpacks gzipped bytes to room for `room` bytes; returns how many they are, or -1 where they are
 * damaged or more. */
int64_t gunzip_bytes(const unsigned char *packed, int64_t count, unsigned char *bytes,
                     int64_t room);

#endif
