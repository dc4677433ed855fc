/* What CFITSIO calls of libcurl to read URLs, which srcfind never does with it: scripts/build-wheel
 * links CFITSIO with this, so that libcurl and the thirty libraries that it needs stay out of the
 * wheel. */
#include <stddef.h>

enum { CURLE_FAILED_INIT = 2 };

int curl_global_init(long flags) {
    (void)flags;
    return CURLE_FAILED_INIT;
}

void curl_global_cleanup(void) {
}

void *curl_easy_init(void) {
    return NULL;
}

int curl_easy_setopt(void *handle, int option, ...) {
    (void)handle, (void)option;
    return CURLE_FAILED_INIT;
}

int curl_easy_perform(void *handle) {
    (void)handle;
    return CURLE_FAILED_INIT;
}

void curl_easy_cleanup(void *handle) {
    (void)handle;
}
