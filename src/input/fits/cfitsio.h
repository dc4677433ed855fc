/* CFITSIO's decoders of tiles, loaded when the first image comes that needs them: uncompressed
 * images do not, and Debian's CFITSIO brings libcurl and thirty more libraries, which take longer
 * to load (5 ms) than a 2048 x 2048 image to search. Nothing else of CFITSIO is used: it never sees
 * a header or a file. */
#ifndef CFITSIO_H
#define CFITSIO_H

#include <fitsio.h>
#include <fitsio2.h>

#include "common/error.h"

#define CFITSIO_FUNCTIONS(f)                                                                       \
    f(fits_rdecomp) f(fits_rdecomp_short) f(fits_rdecomp_byte) f(fits_hdecompress)                 \
        f(fits_hdecompress64) f(pl_l2pi) f(fits_is_reentrant) f(fitsio_init_lock) f(ffvers)

struct cfitsio {
#define CFITSIO_MEMBER(name) __typeof__(name) *name;
    CFITSIO_FUNCTIONS(CFITSIO_MEMBER)
#undef CFITSIO_MEMBER
    bool reentrant; /* threads may decode at the same time */
};

/* The functions, or NULL with the reason in error. May be called by several threads. */
const struct cfitsio *cfitsio_load(struct error *error);

#endif
