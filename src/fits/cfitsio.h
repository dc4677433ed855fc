/* CFITSIO, loaded when the first image comes that needs it: uncompressed images do not, and
 * Debian's CFITSIO brings libcurl and thirty more libraries, which take longer to load (5 ms) than
 * a 2048 x 2048 image to search. */
#ifndef CFITSIO_H
#define CFITSIO_H

#include <fitsio.h>

#include "error.h"

/* The functions that are used, by CFITSIO's own short names. */
#define CFITSIO_FUNCTIONS(f)                                                                       \
    f(ffdkopn) f(ffclos) f(ffmahd) f(ffmnhd) f(ffthdu) f(ffhdr2str) f(fffree) f(ffgsv) f(ffgsfjj)  \
        f(ffgsfujj) f(fits_is_reentrant) f(ffgcno) f(ffgcv) f(ffgnrw) f(ffgkys) f(ffgerr)          \
            f(ffgmsg) f(ffcmsg) f(ffvers)

struct cfitsio {
#define CFITSIO_MEMBER(name) __typeof__(name) *name;
    CFITSIO_FUNCTIONS(CFITSIO_MEMBER)
#undef CFITSIO_MEMBER
    bool reentrant; /* threads may read at the same time, each with a handle of its own */
};

/* The functions, or NULL with the reason in error. May be called by several threads. */
const struct cfitsio *cfitsio_load(struct error *error);

/* Opens a file by its plain name, never as an extended one, at HDU number hdu (0 is the primary).
 * NULL on an error. */
fitsfile *cfitsio_open(const struct cfitsio *library, const char *path, int hdu,
                       struct error *error);

/* Closes a handle; NULL is nothing. */
void cfitsio_close(const struct cfitsio *library, fitsfile *handle);

/* Words CFITSIO's status and its message stack as an error of reading `path`. */
enum srcfind_status cfitsio_error(const struct cfitsio *library, const char *path, int code,
                                  struct error *error);

#endif
