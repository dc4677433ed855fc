#include "fits/cfitsio.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define TEXT_OF(x) #x
#define NAME_WITH(version) "libcfitsio.so." TEXT_OF(version)

static const char library_name[] = NAME_WITH(CFITSIO_SONAME);

static struct cfitsio library;
static bool loaded;
static once_flag once = ONCE_FLAG_INIT;
static mtx_t messages; /* CFITSIO has one stack of them for all threads */

/* Dithered pixels are read by a table of random numbers. CFITSIO makes it when it first needs it,
 * and lets other threads use it while it is made: have it made before there are any. */
static bool make_random_numbers(void *handle) {
    int (*make)(void);
    *(void **)&make = dlsym(handle, "fits_init_randoms");
    return make && make() == 0;
}

static void load(void) {
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    loaded = true;
#define CFITSIO_LOOK_UP(name)                                                                      \
    *(void **)&library.name = dlsym(handle, #name);                                                \
    loaded = loaded && library.name;
    CFITSIO_FUNCTIONS(CFITSIO_LOOK_UP)
#undef CFITSIO_LOOK_UP
    loaded = loaded && mtx_init(&messages, mtx_plain) == thrd_success;
    library.reentrant = loaded && library.fits_is_reentrant() && make_random_numbers(handle);
}

const struct cfitsio *cfitsio_load(struct error *error) {
    call_once(&once, load);
    if (loaded)
        return &library;
    error_set(error, SRCFIND_ERROR_INPUT,
              "%s cannot be loaded, and only uncompressed images can be read without it: "
              "install CFITSIO",
              library_name);
    return NULL;
}

enum srcfind_status cfitsio_error(const struct cfitsio *cfitsio, const char *path, int code,
                                  struct error *error) {
    char text[FLEN_STATUS] = "", message[FLEN_ERRMSG], last[FLEN_ERRMSG] = "";
    cfitsio->ffgerr(code, text);
    while (cfitsio->ffgmsg(message))
        strcpy(last, message);
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: %s (CFITSIO %d%s%s): is the file damaged?",
                     path, text, code, *last ? ": " : "", last);
}

/* A leading `~` would mean a home directory to CFITSIO. */
static char *plain_path(const char *path) {
    const size_t size = strlen(path) + 3;
    char *plain = malloc(size);
    if (plain)
        snprintf(plain, size, "%s%s", *path == '/' ? "" : "./", path);
    return plain;
}

fitsfile *cfitsio_open(const struct cfitsio *cfitsio, const char *path, int hdu,
                       struct error *error) {
    fitsfile *handle = NULL;
    int code = 0, type;
    char *plain = plain_path(path);
    if (!plain) {
        error_memory(error, "opening an image");
        return NULL;
    }
    if (strlen(plain) >= FLEN_FILENAME) {
        error_set(error, SRCFIND_ERROR_INPUT, "%s: CFITSIO takes names of up to %d characters",
                  path, FLEN_FILENAME - 3);
    } else {
        mtx_lock(&messages);
        cfitsio->ffcmsg();
        cfitsio->ffdkopn(&handle, plain, READONLY, &code);
        cfitsio->ffmahd(handle, hdu + 1, &type, &code);
        if (code) {
            cfitsio_error(cfitsio, path, code, error);
            cfitsio_close(cfitsio, handle);
            handle = NULL;
        }
        mtx_unlock(&messages);
    }
    free(plain);
    return handle;
}

void cfitsio_close(const struct cfitsio *cfitsio, fitsfile *handle) {
    int code = 0;
    if (handle)
        cfitsio->ffclos(handle, &code);
}
