/* Any file as one of regions, and as a table of their centres: regions that are drawn in images of
 * several projections, or an error with a text of one line. The first byte chooses the suffix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/read_table.h"
#include "input/regions/region_file.h"
#include "input/regions/searched.h"
#include "target.h"
#include "temporary.h"

enum { WIDTH = 70, HEIGHT = 66, CARDS = 10 };

static char directory[TEMPORARY_PATH], path[TEMPORARY_PATH + 16];

static void remove_directory(void) {
    rmdir(directory);
}

static void write_file(const uint8_t *data, size_t size) {
    static const char *const suffixes[] = {".reg", ".crtf", ".txt", ".fits", ".mim"};
    if (!*path && (!temporary_directory(directory) || atexit(remove_directory) != 0))
        abort();
    snprintf(path, sizeof path, "%s/a%s", directory, suffixes[data[0] % 5]);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(data + 1, 1, size - 1, stream) != size - 1 || fclose(stream) != 0)
        abort();
}

static void check_error(const struct error *error) {
    if (strncmp(error->text, path, strlen(path)) != 0 || strchr(error->text, '\n'))
        abort();
}

/* The header of an image of a projection. */
static void make_header(const char *projection, const char *frame, char *cards) {
    char lines[3][CARD];
    snprintf(lines[0], CARD, "CTYPE1  = 'RA---%.3s'", projection);
    snprintf(lines[1], CARD, "CTYPE2  = 'DEC--%.3s'", projection);
    snprintf(lines[2], CARD, "RADESYS = '%.4s'", frame);
    snprintf(cards, CARDS * CARD + 1, "%-80.79s%-80.79s%-80.79s%-80s%-80s%-80s%-80s%-80s%-80s%-80s",
             lines[0], lines[1], lines[2], "CRPIX1  = 35.", "CRPIX2  = 33.", "CRVAL1  = 150.",
             "CRVAL2  = 0.", "CDELT1  = -3.", "CDELT2  = 3.", "LTM1_1  = 0.5");
}

static void draw(const struct regions *regions, const char *projection, const char *frame) {
    char cards[CARDS * CARD + 1];
    struct image image = {0};
    struct srcfind_image metadata;
    struct error error;
    const struct image_choice choice = image_choice_default();
    make_header(projection, frame, cards);
    if (image_open_memory(&image, cards, WIDTH, HEIGHT, &choice, &metadata, &error) != SRCFIND_OK)
        abort();
    struct blanks *unsearched = blanks_create(WIDTH * HEIGHT);
    if (!unsearched)
        abort();
    if (searched_pixels(regions, path, &image, &metadata, NULL, NULL, unsearched, &error) !=
        SRCFIND_OK)
        check_error(&error);
    blanks_destroy(unsearched);
    image_close(&image);
    image_clear_metadata(&metadata);
}

/* Where the file is one of DS9, its centres are a table. */
static void read_centres(void) {
    struct table_file table;
    struct error error;
    if (path[strlen(path) - 1] != 'g')
        return;
    if (read_table(path, NULL, &table, &error) != SRCFIND_OK)
        check_error(&error);
    table_file_clear(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST_DRAWN = 200 }; /* regions, and corners: more take long, and are no news */
    struct regions regions;
    struct error error;
    bool is;
    if (size < 1)
        return 0;
    write_file(data, size);
    if (region_file_is(path, &is, &error) != SRCFIND_OK)
        check_error(&error);
    read_centres();
    if (region_file_read(path, &regions, &error) != SRCFIND_OK) {
        check_error(&error);
    } else if (regions.n + regions.n_points < MOST_DRAWN) {
        draw(&regions, "SIN", "ICRS");
        draw(&regions, "CAR", "FK4");
    }
    regions_clear(&regions);
    unlink(path);
    return 0;
}
