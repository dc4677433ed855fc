/* Replaces picture.c in a build without cairo. */
#include "output/picture/picture.h"

bool picture_is_possible(struct error *error) {
    error_set(error, SRCFIND_ERROR_OPTIONS,
              "pictures need cairo, and srcfind was built without it: install libcairo2-dev and "
              "build it again");
    return false;
}

const char *picture_library(void) {
    return "no cairo (no pictures)";
}

enum srcfind_status picture_write(const struct image *image, const struct result *result, int size,
                                  struct threads *threads, FILE *file, const char *name,
                                  struct error *error) {
    (void)image, (void)result, (void)size, (void)threads, (void)file, (void)name;
    picture_is_possible(error);
    return SRCFIND_ERROR_OPTIONS;
}
