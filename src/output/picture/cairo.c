#include "output/picture/cairo.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <threads.h>

/* The wheel brings a cairo of its own, which a program that has cairo, too, must not take for its.
 */
#ifndef CAIRO_LIBRARY
#define CAIRO_LIBRARY "libcairo.so.2"
#endif

static struct cairo library;
static bool loaded;
static char reason[256]; /* why the library is not loaded */
static once_flag once = ONCE_FLAG_INIT;

static void load_library(void) {
    void *handle = dlopen(CAIRO_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *problem = handle ? "it lacks a function" : dlerror();
    snprintf(reason, sizeof reason, "%s", problem ? problem : "");
    if (!handle)
        return;
    loaded = true;
#define CAIRO_LOOK_UP(name)                                                                        \
    *(void **)&library.name = dlsym(handle, #name);                                                \
    loaded = loaded && library.name;
    CAIRO_FUNCTIONS(CAIRO_LOOK_UP)
}

const struct cairo *cairo_load(struct error *error) {
    call_once(&once, load_library);
    if (loaded)
        return &library;
    error_set(error, SRCFIND_ERROR_OUTPUT,
              "pictures need cairo, and it cannot be loaded (%s): install libcairo2", reason);
    return NULL;
}
