#include "cli/exit_status.h"

int exit_status_of(enum srcfind_status status) {
    switch (status) {
    case SRCFIND_OK:
        return EXIT_OK;
    case SRCFIND_ERROR_OPTIONS:
        return EXIT_USAGE;
    case SRCFIND_ERROR_DEVICE:
        return EXIT_DEVICE;
    case SRCFIND_ERROR_INPUT:
    case SRCFIND_ERROR_OUTPUT:
    case SRCFIND_ERROR_MEMORY:
    case SRCFIND_INTERRUPTED:
        return EXIT_IMAGE;
    }
    return EXIT_IMAGE;
}
