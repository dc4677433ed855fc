/* The public calls for maps, and what the command asks of them. */
#include "api/maps.h"

#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "api/negative.h"
#include "backend/backend.h"
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

/* A map that is being saved. */
struct saving {
    struct srcfind *finder;
    const struct srcfind_catalogue *catalogue;
    enum map map;
    struct image image;
};

/* False where memory ran out. */
static bool make_header(const struct saving *s, struct cards *cards) {
    char what[SRCFIND_TEXT];
    plane_header_add(cards, s->map == MAP_ISLANDS ? 32 : -32, &s->image, &s->catalogue->image);
    if (maps[s->map].has_unit)
        cards_add_text(cards, "BUNIT", s->catalogue->image.unit);
    snprintf(what, sizeof what, "map: %s", maps[s->map].name);
    option_cards_add(cards, what, &s->catalogue->options);
    return cards_end(cards);
}

static enum srcfind_status write_noise(struct saving *s, const struct cards *header, FILE *file,
                                       const char *name, struct error *error) {
    const struct detection detection =
        finder_detection(&s->catalogue->options, &s->image, &s->catalogue->image);
    struct noise_values values = {&s->image.source, &s->catalogue->noise, detection.maps,
                                  maps[s->map].quantity};
    const struct pixel_source source = noise_values_source(&values);
    return fits_map_write(header, &source, s->finder->threads, file, name, error);
}

/* The islands are found once more, since a catalogue has no pixels. */
static enum srcfind_status find_islands(struct saving *s, const struct pixel_source *source,
                                        const struct detection *detection,
                                        const struct noise_map *noise, struct segments *islands,
                                        struct error *error) {
    struct detection keeping = *detection;
    keeping.keep_pixels = true;
    return cpu_find_segments(source, &keeping, noise, s->catalogue->background.empty,
                             s->finder->threads, islands, error);
}

/* The same in the negated image. */
static enum srcfind_status find_negative_islands(struct saving *s,
                                                 const struct detection *detection,
                                                 struct segments *islands, struct error *error) {
    struct negated_image negative;
    struct noise_map noise;
    negative_make(&negative, &s->image.source, detection);
    if (!negative_noise(&s->catalogue->noise, &noise))
        return error_memory(error, "writing a map");
    const enum srcfind_status status =
        find_islands(s, &negative.source, &negative.detection, &noise, islands, error);
    noise_map_clear(&noise);
    return status;
}

static enum srcfind_status write_islands(struct saving *s, const struct cards *header, FILE *file,
                                         const char *name, struct error *error) {
    const struct srcfind_catalogue *c = s->catalogue;
    const struct detection detection = finder_detection(&c->options, &s->image, &c->image);
    const int n = c->options.negative ? 2 : 1;
    struct segments islands[2] = {{0}};
    struct island_values values = {0};
    enum srcfind_status status =
        find_islands(s, &s->image.source, &detection, &c->noise, &islands[0], error);
    if (status == SRCFIND_OK && n > 1)
        status = find_negative_islands(s, &detection, &islands[1], error);
    if (status == SRCFIND_OK &&
        !island_values_make(&values, islands, n, c->image.width, c->image.height))
        status = error_memory(error, "writing a map");
    for (int i = 0; i < n; i++)
        segments_clear(&islands[i]);
    const struct pixel_source source = island_values_source(&values, &s->image.source);
    if (status == SRCFIND_OK)
        status = fits_map_write(header, &source, s->finder->threads, file, name, error);
    island_values_clear(&values);
    return status;
}

/* Writes a map as FITS. */
static enum srcfind_status write_fits(struct saving *s, FILE *file, const char *name,
                                      struct error *error) {
    struct cards header = {0};
    enum srcfind_status status =
        make_header(s, &header) ? SRCFIND_OK : error_memory(error, "writing a map");
    if (status == SRCFIND_OK)
        status = s->map == MAP_ISLANDS ? write_islands(s, &header, file, name, error)
                                       : write_noise(s, &header, file, name, error);
    cards_clear(&header);
    return status;
}

static enum srcfind_status write_map(void *context, FILE *file, const char *name,
                                     struct error *error) {
    struct saving *s = context;
    const enum srcfind_status status =
        s->map == MAP_PICTURE
            ? picture_write(&s->image, s->catalogue, s->finder->threads, file, name, error)
            : write_fits(s, file, name, error);
    return status == SRCFIND_OK ? image_unchanged(&s->image, error) : status;
}

enum srcfind_status srcfind_catalogue_save_map(struct srcfind *finder,
                                               const struct srcfind_catalogue *catalogue,
                                               const char *map, const char *path) {
    struct saving s = {.finder = finder, .catalogue = catalogue};
    struct srcfind_image metadata;
    while (s.map < MAPS && strcmp(maps[s.map].name, map) != 0)
        s.map++;
    if (s.map == MAPS)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS, "map: there is no map %.200s", map);
    if (catalogue->image.hdu < 0)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                         "map: maps are saved of images in files, not of pixels in memory");
    enum srcfind_status status =
        image_open(&s.image, catalogue->image.path, &catalogue->options, &metadata, &finder->error);
    if (status == SRCFIND_OK)
        status = fits_file_unchanged(&s.image.file, &catalogue->version, &finder->error);
    if (status == SRCFIND_OK)
        status = save_whole(
            &(struct save_content){s.map == MAP_PICTURE ? "picture" : "map", write_map, &s}, path,
            &finder->error);
    image_close(&s.image);
    image_clear_metadata(&metadata);
    return status;
}
