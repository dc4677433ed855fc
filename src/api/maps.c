/* The public calls for maps, and what the command asks of them. */
#include "api/maps.h"

#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "api/labels.h"
#include "api/pixels.h"
#include "backend/backend.h"
#include "common/path.h"
#include "input/chunks.h"
#include "input/image.h"
#include "input/own_map.h"
#include "output/catalogue.h"
#include "output/fits_map.h"
#include "output/map_values.h"
#include "output/model.h"
#include "output/option_cards.h"
#include "output/picture/picture.h"
#include "output/picture/png.h"
#include "output/plane_header.h"
#include "output/save.h"

enum map {
    MAP_RMS,
    MAP_BACKGROUND,
    MAP_SNR,
    MAP_ISLANDS,
    MAP_SOURCES,
    MAP_MODEL,
    MAP_RESIDUAL,
    MAP_PICTURE,
    MAPS
};

static const struct {
    const char *name;
    enum quantity quantity; /* not of labels and pictures */
    bool has_unit;          /* that of the image */
} maps[MAPS] = {
    [MAP_RMS] = {"rms", QUANTITY_RMS, true},
    [MAP_BACKGROUND] = {"background", QUANTITY_BACKGROUND, true},
    [MAP_SNR] = {"snr", QUANTITY_SNR, false},
    [MAP_ISLANDS] = {.name = "islands"},
    [MAP_SOURCES] = {.name = "sources"},
    [MAP_MODEL] = {"model", QUANTITY_MODEL, true},
    [MAP_RESIDUAL] = {"residual", QUANTITY_RESIDUAL, true},
    [MAP_PICTURE] = {.name = "picture"},
};

static bool has_labels(enum map map) {
    return map == MAP_ISLANDS || map == MAP_SOURCES;
}

static bool has_model(enum map map) {
    return map == MAP_MODEL || map == MAP_RESIDUAL;
}

const char *srcfind_map(int i) {
    return i >= 0 && i < MAPS ? maps[i].name : NULL;
}

const char *srcfind_map_suffix(int i) {
    return i == MAP_PICTURE ? ".png" : ".fits";
}

static void close_image(struct image *image, struct srcfind_image *metadata) {
    image_close(image);
    image_clear_metadata(metadata);
}

/* Whether a search with these options has what the map shows. */
static bool suits(enum map map, const struct options *options, struct error *error) {
    const bool needs_fit = has_model(map), needs_parts = needs_fit || map == MAP_SOURCES;
    if (*options->at && (needs_parts || map == MAP_ISLANDS))
        error_set(error, SRCFIND_ERROR_OPTIONS, "no islands are found with --at: leave %s out",
                  maps[map].name);
    else if (needs_parts && !(needs_fit ? options->fit : options_deblend(options)))
        error_set(error, SRCFIND_ERROR_OPTIONS, "%s needs %s", maps[map].name,
                  needs_fit ? "--fit" : "--deblend or --fit");
    else
        return true;
    return false;
}

bool map_is_possible(int map, const struct srcfind_options *options, struct error *error) {
    return map == MAP_PICTURE ? picture_is_possible(error) : suits(map, &options->values, error);
}

bool map_is_own(int map, const char *path) {
    return map == MAP_PICTURE ? png_is_own(path) : own_map_is(path);
}

/* Adds the cards of a map of an image that do not tell how it was made. */
static void add_description(struct cards *cards, enum map map, const struct image *image,
                            const struct srcfind_image *metadata) {
    plane_header_add(cards, has_labels(map) ? 32 : -32, image, metadata);
    if (maps[map].has_unit)
        cards_add_text(cards, "BUNIT", metadata->unit);
}

/* --- maps that are there --- */

/* An image that maps may be of. */
struct original {
    struct image image;
    struct srcfind_image metadata;
    bool is_known; /* it was opened */
};

/* Opens an image without mask and maps of the noise. */
static void open_original(struct original *o, const char *path,
                          const struct srcfind_options *options) {
    struct options own = options->values;
    struct error ignored;
    *own.mask = *own.rms_map = *own.background_map = '\0';
    *o = (struct original){.image.file.descriptor = -1};
    o->is_known = !path_ends_with(path, ".gz") &&
                  image_open(&o->image, path, &own, &o->metadata, &ignored) == SRCFIND_OK;
}

/* Whether a header is that of a map of the image, by all cards before its HISTORY. */
static bool describes(const struct header *header, enum map map, const struct original *o) {
    struct cards cards = {0};
    add_description(&cards, map, &o->image, &o->metadata);
    const bool does = !cards.no_memory && cards.n < header->n_cards &&
                      memcmp(header->cards, cards.text, (size_t)cards.n * CARD) == 0 &&
                      memcmp(header->cards + cards.n * CARD, "HISTORY", strlen("HISTORY")) == 0;
    cards_clear(&cards);
    return does;
}

static bool is_whole(enum map map, const char *path, const struct original *o) {
    struct hdu hdu;
    char name[OWN_MAP_NAME];
    if (map == MAP_PICTURE)
        return png_is_whole(path);
    const bool whole = fits_map_read(path, &hdu) && own_map_name(&hdu.header, name) &&
                       strcmp(name, maps[map].name) == 0 &&
                       (!o->is_known || describes(&hdu.header, map, o));
    hdu_clear(&hdu);
    return whole;
}

bool maps_are_whole(char *const *paths, int n, const char *image,
                    const struct srcfind_options *options) {
    struct original original;
    bool whole = true, is_open = false;
    for (int map = 0; whole && map < n && map < MAPS; map++) {
        if (!paths[map])
            continue;
        if (!is_open)
            open_original(&original, image, options);
        is_open = true;
        whole = is_whole((enum map)map, paths[map], &original);
    }
    if (is_open)
        close_image(&original.image, &original.metadata);
    return whole;
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
    struct quantity_values quantity;
    struct model model;
    struct label_values labels;
    struct pixel_source source;
};

static enum srcfind_status choose_map(struct making *m, const char *name) {
    struct error *error = &m->finder->error, reason = {0};
    while (m->map < MAPS && strcmp(maps[m->map].name, name) != 0)
        m->map++;
    if (m->map == MAPS)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "map: there is no map %.200s", name);
    return suits(m->map, &m->catalogue->options, &reason)
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OPTIONS, "map: %.200s", reason.text);
}

/* --- values --- */

static enum srcfind_status make_labels(const struct making *m, struct values *values,
                                       struct error *error) {
    const struct labels_from from = {m->catalogue, m->pixels, &m->detection, m->map == MAP_SOURCES};
    const enum srcfind_status status =
        labels_make(&from, m->finder->threads, &values->labels, error);
    values->source = label_values_source(&values->labels, m->pixels);
    return status;
}

/* Clear the values also after an error. */
static enum srcfind_status make_values(const struct making *m, struct values *values,
                                       struct error *error) {
    const struct srcfind_catalogue *c = m->catalogue;
    *values = (struct values){0};
    if (has_labels(m->map))
        return make_labels(m, values, error);
    values->quantity = (struct quantity_values){.quantity = maps[m->map].quantity,
                                                .image = m->pixels,
                                                .noise = &c->noise,
                                                .maps = m->detection.maps,
                                                .model = has_model(m->map) ? &values->model : NULL};
    values->source = quantity_values_source(&values->quantity);
    return !has_model(m->map) || model_make(&values->model, c->gaussians, c->n_sources,
                                            c->image.width, c->image.height)
               ? SRCFIND_OK
               : error_memory(error, "making a map");
}

static void clear_values(struct values *values) {
    label_values_clear(&values->labels);
    model_clear(&values->model);
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
    add_description(cards, map, &s->image, &c->image);
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
