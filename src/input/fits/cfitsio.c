#include "input/fits/cfitsio.h"

#include <dlfcn.h>
#include <threads.h>

#define TEXT_OF(x) #x
#define NAME_WITH(version) "libcfitsio.so." TEXT_OF(version)

static const char library_name[] = NAME_WITH(CFITSIO_SONAME);

static struct cfitsio library;
static bool loaded;
static char reason[256]; /* why the library is not loaded */
static once_flag once = ONCE_FLAG_INIT;

static void load_library(void) {
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    const char *problem = handle ? "it lacks a function" : dlerror();
    snprintf(reason, sizeof reason, "%s", problem ? problem : "");
    if (!handle)
        return;
    loaded = true;
#define CFITSIO_LOOK_UP(name)                                                                      \
    *(void **)&library.name = dlsym(handle, #name);                                                \
    loaded = loaded && library.name;
    CFITSIO_FUNCTIONS(CFITSIO_LOOK_UP)
    /* CFITSIO initialises its lock when it opens a file, which it never does here. Without that, a
     * decoder that sets an error message would deadlock. */
    library.reentrant = loaded && library.fits_is_reentrant() && library.fitsio_init_lock() == 0;
}

const struct cfitsio *cfitsio_load(struct error *error) {
    call_once(&once, load_library);
    if (loaded)
        return &library;
    error_set(error, SRCFIND_ERROR_INPUT,
              "%s cannot be loaded (%s), and only uncompressed and gzipped images can be read "
              "without it: is CFITSIO installed?",
              library_name, reason);
    return NULL;
}
