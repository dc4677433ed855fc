/* The public calls for maps, and what the command asks of them. */
#include "api/maps.h"

#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "api/negative.h"
#include "api/pixels.h"
#include "backend/backend.h"
#include "input/chunks.h"
#include "input/image.h"
#include "input/own_map.h"
#include "output/catalogue.h"
#include "output/fits_map.h"
#include "output/map_values.h"
#include "output/option_cards.h"
#include "output/picture/picture.h"
#include "output/picture/png.h"
#include "output/plane_header.h"
#include "output/save.h"

enum map { MAP_RMS, MAP_BACKGROUND, MAP_SNR, MAP_ISLANDS, MAP_PICTURE, MAPS };

static const struct {
    const char *name;
    enum noise_quantity quantity; /* not of islands and pictures */
    bool has_unit;                /* that of the image */
} maps[MAPS] = {
    [MAP_RMS] = {"rms", NOISE_RMS, true},
    [MAP_BACKGROUND] = {"background", NOISE_BACKGROUND, true},
    [MAP_SNR] = {"snr", NOISE_SNR, false},
    [MAP_ISLANDS] = {.name = "islands"},
    [MAP_PICTURE] = {.name = "picture"},
};

const char *srcfind_map(int i) {
    return i >= 0 && i < MAPS ? maps[i].name : NULL;
}

const char *srcfind_map_suffix(int i) {
    return i == MAP_PICTURE ? ".png" : ".fits";
}

bool map_is_possible(int map, struct error *error) {
    return map != MAP_PICTURE || picture_is_possible(error);
}

bool map_is_own(int map, const char *path) {
    return map == MAP_PICTURE ? png_is_own(path) : own_map_is(path);
}

bool map_is_whole(int map, const char *path) {
    return map == MAP_PICTURE ? png_is_whole(path) : fits_map_is_whole(path);
}

/* A map that is being made. */
struct making {
    struct srcfind *finder;
    const struct srcfind_catalogue *catalogue;
    enum map map;
    const struct pixel_source *pixels; /* of the image */
    struct detection detection;
};

/* The values of a map, as a source. Not to be moved: the members point to each other. */
struct values {
    struct noise_values noise;
    struct island_values islands;
    struct pixel_source source;
};

static enum srcfind_status choose_map(struct making *m, const char *name) {
    while (m->map < MAPS && strcmp(maps[m->map].name, name) != 0)
        m->map++;
    if (m->map < MAPS)
        return SRCFIND_OK;
    return error_set(&m->finder->error, SRCFIND_ERROR_OPTIONS, "map: there is no map %.200s", name);
}

/* --- values --- */

/* The islands are found once more, since a catalogue has no pixels. */
static enum srcfind_status find_islands(const struct making *m, const struct pixel_source *pixels,
                                        const struct detection *detection,
                                        const struct noise_map *noise, struct segments *islands,
                                        struct error *error) {
    struct detection keeping = *detection;
    keeping.keep_pixels = true;
    return cpu_find_segments(pixels, &keeping, noise, m->catalogue->background.empty,
                             m->finder->threads, islands, error);
}

/* The same in the negated image. */
static enum srcfind_status find_negative_islands(const struct making *m, struct segments *islands,
                                                 struct error *error) {
    struct negated_image negative;
    struct noise_map noise;
    negative_make(&negative, m->pixels, &m->detection);
    if (!negative_noise(&m->catalogue->noise, &noise))
        return error_memory(error, "making a map");
    const enum srcfind_status status =
        find_islands(m, &negative.source, &negative.detection, &noise, islands, error);
    noise_map_clear(&noise);
    return status;
}

static enum srcfind_status make_islands(const struct making *m, struct values *values,
                                        struct error *error) {
    const struct srcfind_catalogue *c = m->catalogue;
    const int n = c->options.negative ? 2 : 1;
    struct segments islands[2] = {{0}};
    enum srcfind_status status =
        find_islands(m, m->pixels, &m->detection, &c->noise, &islands[0], error);
    if (status == SRCFIND_OK && n > 1)
        status = find_negative_islands(m, &islands[1], error);
    if (status == SRCFIND_OK &&
        !island_values_make(&values->islands, islands, n, c->image.width, c->image.height))
        status = error_memory(error, "making a map");
    for (int i = 0; i < n; i++)
        segments_clear(&islands[i]);
    values->source = island_values_source(&values->islands, m->pixels);
    return status;
}

/* Clear the values also after an error. */
static enum srcfind_status make_values(const struct making *m, struct values *values,
                                       struct error *error) {
    *values = (struct values){0};
    if (m->map == MAP_ISLANDS)
        return make_islands(m, values, error);
    values->noise = (struct noise_values){m->pixels, &m->catalogue->noise, m->detection.maps,
                                          maps[m->map].quantity};
    values->source = noise_values_source(&values->noise);
    return SRCFIND_OK;
}

static void clear_values(struct values *values) {
    island_values_clear(&values->islands);
}

/* --- the image, again --- */

/* Opens the file of a catalogue. To be closed also after an error. */
static enum srcfind_status open_image(struct making *m, struct image *image,
                                      struct srcfind_image *metadata) {
    const struct srcfind_catalogue *c = m->catalogue;
    struct error *error = &m->finder->error;
    const enum srcfind_status status =
        image_open(image, c->image.path, &c->options, metadata, error);
    m->pixels = &image->source;
    m->detection = finder_detection(&c->options, image, &c->image);
    return status == SRCFIND_OK ? fits_file_unchanged(&image->file, &c->version, error) : status;
}

static void close_image(struct image *image, struct srcfind_image *metadata) {
    image_close(image);
    image_clear_metadata(metadata);
}

/* --- files --- */

struct saving {
    struct making making;
    struct image image;
};

/* False where memory ran out. */
static bool make_header(const struct saving *s, struct cards *cards) {
    const struct srcfind_catalogue *c = s->making.catalogue;
    const enum map map = s->making.map;
    char what[SRCFIND_TEXT];
    plane_header_add(cards, map == MAP_ISLANDS ? 32 : -32, &s->image, &c->image);
    if (maps[map].has_unit)
        cards_add_text(cards, "BUNIT", c->image.unit);
    snprintf(what, sizeof what, "map: %s", maps[map].name);
    option_cards_add(cards, what, &c->options);
    return cards_end(cards);
}

static enum srcfind_status write_fits(struct saving *s, FILE *file, const char *name,
                                      struct error *error) {
    struct cards header = {0};
    struct values values = {0};
    enum srcfind_status status =
        make_header(s, &header) ? SRCFIND_OK : error_memory(error, "writing a map");
    if (status == SRCFIND_OK)
        status = make_values(&s->making, &values, error);
    if (status == SRCFIND_OK)
        status =
            fits_map_write(&header, &values.source, s->making.finder->threads, file, name, error);
    clear_values(&values);
    cards_clear(&header);
    return status;
}

static enum srcfind_status write_map(void *context, FILE *file, const char *name,
                                     struct error *error) {
    struct saving *s = context;
    const struct making *m = &s->making;
    const enum srcfind_status status =
        m->map == MAP_PICTURE
            ? picture_write(&s->image, m->catalogue, m->finder->threads, file, name, error)
            : write_fits(s, file, name, error);
    return status == SRCFIND_OK ? image_unchanged(&s->image, error) : status;
}

enum srcfind_status srcfind_catalogue_save_map(struct srcfind *finder,
                                               const struct srcfind_catalogue *catalogue,
                                               const char *map, const char *path) {
    struct saving s = {.making = {.finder = finder, .catalogue = catalogue}};
    struct srcfind_image metadata;
    enum srcfind_status status = choose_map(&s.making, map);
    if (status != SRCFIND_OK)
        return status;
    const struct save_content content = {s.making.map == MAP_PICTURE ? "picture" : "map", write_map,
                                         &s};
    if (catalogue->image.hdu < 0)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                         "map: maps are saved of images in files, not of pixels in memory");
    status = open_image(&s.making, &s.image, &metadata);
    if (status == SRCFIND_OK)
        status = save_whole(&content, path, &finder->error);
    close_image(&s.image, &metadata);
    return status;
}

/* --- arrays --- */

static enum srcfind_status fill(const struct making *m, uint32_t *array) {
    struct values values;
    struct error *error = &m->finder->error;
    enum srcfind_status status = make_values(m, &values, error);
    if (status == SRCFIND_OK)
        status = chunks_copy(&values.source, m->finder->threads, array, error);
    clear_values(&values);
    return status;
}

static enum srcfind_status fill_from_file(struct making *m, uint32_t *array) {
    struct image image;
    struct srcfind_image metadata;
    enum srcfind_status status = open_image(m, &image, &metadata);
    if (status == SRCFIND_OK)
        status = fill(m, array);
    if (status == SRCFIND_OK)
        status = image_unchanged(&image, &m->finder->error);
    close_image(&image, &metadata);
    return status;
}

/* Checks that pixels can be those of the catalogue. */
static enum srcfind_status check_pixels(const struct making *m, const struct srcfind_pixels *given,
                                        struct srcfind_pixels *pixels) {
    const struct srcfind_catalogue *c = m->catalogue;
    struct error *error = &m->finder->error;
    if (c->on_device)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "map: maps are made of pixels in the host's memory, not of those on a "
                         "device: search a copy of them");
    if (!given)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "map: the catalogue is one of pixels in memory, which are needed again");
    const enum srcfind_status status = pixels_read(given, &c->options, pixels, error);
    if (status != SRCFIND_OK ||
        (pixels->width == c->image.width && pixels->height == c->image.height))
        return status;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "map: pixels of %lld x %lld are not those of the catalogue, %lld x %lld",
                     (long long)pixels->width, (long long)pixels->height, (long long)c->image.width,
                     (long long)c->image.height);
}

static enum srcfind_status fill_from_pixels(const struct making *m,
                                            const struct srcfind_pixels *given, uint32_t *array) {
    const struct srcfind_catalogue *c = m->catalogue;
    const struct image without_file = {.given = NULL};
    struct srcfind_pixels pixels;
    struct host_pixels host;
    const enum srcfind_status status = check_pixels(m, given, &pixels);
    if (status != SRCFIND_OK)
        return status;
    host_pixels_make(&host, &pixels, c->options.blank);
    const struct making of_pixels = {m->finder, c, m->map, &host.source,
                                     finder_detection(&c->options, &without_file, &c->image)};
    return fill(&of_pixels, array);
}

enum srcfind_status srcfind_catalogue_map(struct srcfind *finder,
                                          const struct srcfind_catalogue *catalogue,
                                          const struct srcfind_pixels *pixels, const char *map,
                                          void *values) {
    struct making m = {.finder = finder, .catalogue = catalogue};
    const enum srcfind_status status = choose_map(&m, map);
    if (status != SRCFIND_OK)
        return status;
    if (m.map == MAP_PICTURE)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                         "map: a picture has no values, and can only be saved");
    return catalogue->image.hdu < 0 ? fill_from_pixels(&m, pixels, values)
                                    : fill_from_file(&m, values);
}
