/* Any file: a catalogue of fits in each format and all maps, or an error with a text of one line.
 * The file is also the mask and the maps of an image: of itself. */
#define _GNU_SOURCE /* memfd_create */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "srcfind.h"
#include "target.h"

/* Whether bytes can be a catalogue's: lines of text, or blocks of FITS. */
static bool ends_well(const char *format, const char *bytes, size_t size) {
    return size > 0 && (strcmp(format, "fits") == 0 ? size % 2880 == 0 : bytes[size - 1] == '\n');
}

/* Whether a format is that of a sky model, which is refused where the image lacks what it needs, or
 * which is not for streams. */
static bool is_sky_model(const char *format) {
    return strcmp(format, "skymodel") == 0 || strcmp(format, "sagecal") == 0;
}

/* Writes a catalogue in the first n formats. */
static void write_catalogue(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                            int n) {
    for (int i = 0; i < n && srcfind_format(i); i++) {
        char *text = NULL;
        size_t size = 0;
        FILE *stream = open_memstream(&text, &size);
        const char *name = srcfind_format(i)->name;
        const enum srcfind_status status = srcfind_catalogue_write(finder, catalogue, name, stream);
        fclose(stream);
        if (status && !is_sky_model(name))
            abort();
        if (!status && !ends_well(name, text, size))
            abort();
        free(text);
    }
}

/* Other columns are written, or they do not suit the image. */
static void write_columns(struct srcfind *finder, struct srcfind_catalogue *catalogue) {
    static const char *const lists[] = {
        "RA,DEC=d,Image,Total_flux:mJy=s,Maj:arcsec,'x'=x,Beam_Maj:arcsec,N_pix", "@aegean",
        "@selavy"};
    const struct srcfind_catalogue *table;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (srcfind_catalogue_select(finder, catalogue, lists[i], &table) == SRCFIND_OK)
            write_catalogue(finder, table, 5);
        else if (!*srcfind_message(finder) || strchr(srcfind_message(finder), '\n'))
            abort();
}

static void write_tables(struct srcfind *finder, struct srcfind_catalogue *catalogue) {
    const struct srcfind_catalogue *const tables[] = {srcfind_catalogue_planes(catalogue),
                                                      srcfind_catalogue_completeness(catalogue),
                                                      srcfind_catalogue_reliability(catalogue)};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i])
            write_catalogue(finder, tables[i], 5); /* the others are not for tables */
}

/* Sources are injected for completeness alone. */
static void save_maps(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                      bool has_completeness) {
    for (int i = 0; srcfind_map(i); i++)
        if (srcfind_catalogue_save_map(finder, catalogue, srcfind_map(i), "/dev/null") &&
            (has_completeness || strcmp(srcfind_map(i), "injected") != 0))
            abort();
}

static void search(const char *path, const char *given) {
    struct srcfind_options *options = srcfind_options_create();
    struct srcfind_catalogue *catalogue = NULL;
    struct srcfind *finder = NULL;
    if (given && (srcfind_options_set(options, "mask", given) ||
                  srcfind_options_set(options, "rms-map", given) ||
                  srcfind_options_set(options, "background-map", given) ||
                  srcfind_options_set(options, "detect-on", given) ||
                  srcfind_options_set(options, "detect-rms-map", given) ||
                  srcfind_options_set(options, "detect-background-map", given) ||
                  srcfind_options_set(options, "measure-in", given)))
        abort();
    if (srcfind_options_set(options, "device", "cpu") ||
        srcfind_options_set(options, "threads", "2") ||
        srcfind_options_set(options, "fit", "yes") ||
        srcfind_options_set(options, "negative", "yes") ||
        (given && srcfind_options_set(options, "completeness", "20")) ||
        srcfind_create(options, &finder))
        abort();
    if (srcfind_find_file(finder, path, &catalogue) == SRCFIND_OK) {
        write_catalogue(finder, catalogue, INT_MAX);
        save_maps(finder, catalogue, given);
        write_tables(finder, catalogue);
        write_columns(finder, catalogue);
    } else if (!*srcfind_message(finder) || strchr(srcfind_message(finder), '\n')) {
        abort();
    }
    srcfind_catalogue_destroy(catalogue);
    srcfind_destroy(finder);
    srcfind_options_destroy(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    const int file = memfd_create("image", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    search(path, NULL);
    search(path, path);
    close(file);
    return 0;
}
