/* Any file: a catalogue in both formats, or an error with a text of one line. */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "srcfind.h"
#include "target.h"

static void write_catalogue(struct srcfind *finder, const struct srcfind_catalogue *catalogue) {
    for (int format = SRCFIND_CSV; format <= SRCFIND_JSON; format++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        if (srcfind_catalogue_write(finder, catalogue, (enum srcfind_format)format, stream) !=
            SRCFIND_OK)
            abort();
        fclose(stream);
        if (size == 0 || text[size - 1] != '\n')
            abort();
        free(text);
    }
}

static void search(const char *path) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind_catalogue *catalogue = NULL;
    struct srcfind *finder = NULL;
    options.device = SRCFIND_DEVICE_CPU;
    options.threads = 2;
    if (srcfind_create(&options, &finder) != SRCFIND_OK)
        abort();
    if (srcfind_find_file(finder, path, &catalogue) == SRCFIND_OK)
        write_catalogue(finder, catalogue);
    else if (!*srcfind_message(finder) || strchr(srcfind_message(finder), '\n'))
        abort();
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    const int file = memfd_create("image", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    search(path);
    close(file);
    return 0;
}
