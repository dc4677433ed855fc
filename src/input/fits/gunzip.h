/* A gzipped file, unpacked to memory up to a given byte. The caller asks for no more than FITS
 * headers say, so a file that unpacks to far more takes at most twice the memory, and for a moment
 * that of the packed file. */
#ifndef GUNZIP_H
#define GUNZIP_H

#include "common/error.h"

enum { GUNZIP_MOST_RATIO = 1032 }; /* unpacked bytes per packed byte: deflate's greatest ratio */

struct gunzip;

/* Opens a gzipped file by its descriptor, which must stay open; `size` is its size in bytes. The
 * caller closes *gunzip. */
enum srcfind_status gunzip_open(struct gunzip **gunzip, int descriptor, int64_t size,
                                struct error *error);
void gunzip_close(struct gunzip *gunzip);

/* Unpacks the first `end` bytes; sets *reached to false if there are fewer. `path` is for the error
 * message. */
enum srcfind_status gunzip_reach(struct gunzip *gunzip, const char *path, int64_t end,
                                 bool *reached, struct error *error);

/* Unpacks up to the next checksum, without keeping the bytes, and returns an error if it is wrong.
 * Nothing more can be unpacked afterwards. */
enum srcfind_status gunzip_check(struct gunzip *gunzip, const char *path, struct error *error);

/* The number of bytes unpacked so far. */
int64_t gunzip_size(const struct gunzip *gunzip);

/* The bytes unpacked so far, which stay there until more are unpacked. */
const char *gunzip_data(const struct gunzip *gunzip);

/* Copies count bytes at an offset of the unpacked bytes; false if they are not unpacked. */
bool gunzip_copy(const struct gunzip *gunzip, void *buffer, int64_t count, int64_t offset);

/* Unpacks gzipped bytes, all at once and so by libdeflate, to a buffer of `capacity` bytes. Returns
 * the number of unpacked bytes; -1 if the input is damaged or unpacks to more than capacity. */
int64_t gunzip_bytes(const unsigned char *packed, int64_t count, unsigned char *bytes,
                     int64_t capacity);

#endif
