/* CFITSIO's tile decoders, loaded by dlopen for the first image that needs them. Uncompressed
 * images do not need them, and Debian's CFITSIO depends on libcurl and thirty more libraries: to
 * load them takes longer (5 ms) than to search a 2048 x 2048 image. Nothing else of CFITSIO is
 * used: it never reads a header or a file. */
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
    bool reentrant; /* several threads may decode at the same time */
};

/* Returns the functions, which stay loaded; NULL with the reason in error if CFITSIO cannot be
 * loaded. Several threads may call it at the same time. */
const struct cfitsio *cfitsio_load(struct error *error);

#endif
