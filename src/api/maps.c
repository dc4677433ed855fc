/* How maps are made, in files or in an array of the caller:
 *
 * 1. The image is opened again, with the options and the blanks of its search. Its file must not
 *    have changed since; pixels in memory are given again by the caller.
 * 2. Labels are taken from the result. If the search did not keep them (maps_expect), the same
 *    search runs again. A model is prepared from the Gaussians of the result.
 * 3. The file of each map is begun under a temporary name, one inside the other (save_next and
 *    save_whole), so that all are open. The picture, the last one, reads the image on its own.
 * 4. One pass over the image gives all maps their values (output/map_values.c). With --detect-on
 *    the map of the SNR takes another pass, over the image for detection.
 * 5. The files get their names, the last one first. If values fail, no file gets its name.
 *
 * Costs one read of the image, another one for the picture, and the memory of labels and model. */
#include "api/maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/find.h"
#include "api/pixels.h"
#include "common/path.h"
#include "input/srcfind_map.h"
#include "measure/mask.h"
#include "output/catalogue.h"
#include "output/fits_map.h"
#include "output/map_values.h"
#include "output/option_cards.h"
#include "output/picture/picture.h"
#include "output/picture/png.h"
#include "output/plane_header.h"
#include "output/save.h"

#define MAP(id, name, suffix, quantity, has_unit, needs, about) {quantity, has_unit},
#define TABLE(id, name, what, columns)
static const struct {
    enum quantity quantity;
    bool has_unit; /* BUNIT is the unit of the image */
} maps[MAPS] = {
#include "output/products.inc"
};
#undef MAP
#undef TABLE

/* Whether the image is in a file, and not in memory. */
static bool is_of_file(const struct result *result) {
    return result->image.hdu >= 0;
}

static bool has_labels(enum map map) {
    return maps[map].quantity == QUANTITY_LABEL || maps[map].quantity == QUANTITY_MASK;
}

static enum label_kind label_kind(enum map map) {
    return map_products[map].needs == NEEDS_PARTS ? LABEL_SOURCES : LABEL_ISLANDS;
}

static bool has_model(enum map map) {
    return maps[map].quantity == QUANTITY_MODEL || maps[map].quantity == QUANTITY_RESIDUAL ||
           maps[map].quantity == QUANTITY_INJECTED;
}

/* Whether a map has the background of scales where their sources are. */
static bool has_wide_background(const struct result *result, enum map map) {
    return (result->options.scales.n > 0 || result->options.at_fixed) &&
           (maps[map].quantity == QUANTITY_BACKGROUND || maps[map].quantity == QUANTITY_RESIDUAL);
}

const char *srcfind_map(int i) {
    return i >= 0 && i < MAPS ? map_products[i].name : NULL;
}

const char *srcfind_map_suffix(int i) {
    return i >= 0 && i < MAPS ? map_products[i].suffix : ".fits";
}

/* Whether a search with these options can give this map. */
static bool suits(enum map map, const struct options *options, struct error *error) {
    const enum map_needs needs = map_products[map].needs;
    if (*options->at && (needs == NEEDS_ISLANDS || needs == NEEDS_PARTS))
        error_set(error, SRCFIND_ERROR_OPTIONS, "no islands are found with --at: leave %s out",
                  map_products[map].name);
    else if ((needs == NEEDS_FIT && !options_fit(options)) ||
             (needs == NEEDS_PARTS && !options_deblend(options)))
        error_set(error, SRCFIND_ERROR_OPTIONS, "%s needs %s", map_products[map].name,
                  needs == NEEDS_PARTS ? "--deblend or --fit"
                  : *options->at       ? "--fit or --at-fixed"
                                       : "--fit");
    else if (needs == NEEDS_INJECTIONS && !options_inject(options))
        error_set(error, SRCFIND_ERROR_OPTIONS, "%s needs --completeness or --inject",
                  map_products[map].name);
    else
        return true;
    return false;
}

bool map_is_possible(enum map map, const struct srcfind_options *options, struct error *error) {
    return map == MAP_PICTURE ? picture_is_possible(error) : suits(map, &options->values, error);
}

bool map_replaces_other(enum map map, const char *path) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return false;
    return map == MAP_PICTURE ? !png_is_own(path) : !is_srcfind_map(path);
}

/* Adds the cards that describe the image and the unit of a map; the options are not among them. */
static void add_description(struct cards *cards, enum map map, const struct image *image,
                            const struct srcfind_image *metadata) {
    plane_header_add(cards, maps[map].quantity == QUANTITY_LABEL ? 32 : -32, image, metadata);
    if (maps[map].has_unit)
        cards_add_text(cards, "BUNIT", metadata->unit);
}

/* --- maps in files --- */

/* The image with which maps in files are compared. */
struct original {
    struct image image;
    struct srcfind_image metadata;
    bool is_known; /* the image could be opened */
};

static void open_original(struct original *o, const char *path, const struct image_choice *choice) {
    struct error ignored;
    *o = (struct original){.image.file.descriptor = -1};
    /* the header of a map of the average of planes is that of the middle one */
    o->is_known = !path_ends_with(path, ".gz") && choice->plane.mean_first == 0 &&
                  image_open(&o->image, path, choice, &o->metadata, &ignored) == SRCFIND_OK;
}

/* Whether all cards of a header before its HISTORY are those of a map of the image. */
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
    char name[SRCFIND_MAP_NAME];
    if (map == MAP_PICTURE)
        return png_is_whole(path);
    const bool whole = fits_map_read(path, &hdu) && srcfind_map_name(&hdu.header, name) &&
                       strcmp(name, map_products[map].name) == 0 &&
                       (!o->is_known || describes(&hdu.header, map, o));
    hdu_clear(&hdu);
    return whole;
}

bool maps_are_whole(const char *const paths[MAPS], const char *image,
                    const struct image_choice *choice) {
    struct original original;
    bool whole = true, is_open = false;
    for (int map = 0; whole && map < MAPS; map++) {
        if (!paths[map])
            continue;
        if (!is_open)
            open_original(&original, image, choice);
        is_open = true;
        whole = is_whole((enum map)map, paths[map], &original);
    }
    if (is_open) {
        image_close(&original.image);
        image_clear_metadata(&original.metadata);
    }
    return whole;
}

void maps_expect(struct srcfind *finder, const bool wanted[MAPS]) {
    finder->labels = 0;
    for (int map = 0; map < MAPS; map++)
        if (has_labels((enum map)map) && wanted[map])
            finder->labels |= 1U << label_kind((enum map)map);
}

/* --- values --- */

/* The maps of one call, and the result and the image that they are made of. */
struct wanted_maps {
    struct srcfind *finder;
    const struct result *result;
    struct input input;
    struct srcfind_image metadata;
    struct map_output outputs[MAPS];
    int n;
};

static enum srcfind_status choose_map(const char *name, const struct result *result, enum map *map,
                                      struct error *error) {
    struct error reason = {0};
    *map = 0;
    while (*map < MAPS && strcmp(map_products[*map].name, name) != 0)
        (*map)++;
    if (*map == MAPS)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "map: there is no map %.200s", name);
    return suits(*map, &result->options, &reason)
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OPTIONS, "map: %.200s", reason.text);
}

/* Finds labels that the result did not keep, by the same search: no other rule gives the same
 * labels. */
static enum srcfind_status find_labels(const struct wanted_maps *m, enum label_kind kind,
                                       struct labels *labels) {
    const struct result *r = m->result;
    struct views views = views_of_input(&m->input, &r->image, &r->options, r->blanks);
    views.measure.psf = r->psf.n_x > 0 ? &r->psf : NULL;
    struct sources found = {0};
    struct search_report report = {0};
    const struct search search = {.finder = m->finder,
                                  .options = &r->options,
                                  .views = &views,
                                  .labels = 1U << kind,
                                  .sources = &found,
                                  .report = &report};
    const enum srcfind_status status = find_sources(&search);
    *labels = found.labels[kind];
    found.labels[kind] = (struct labels){0};
    sources_clear(&found);
    views_clear(&views);
    return status;
}

/* Makes a mask of what is not in `outside`. */
static bool mask_of_rest(const struct blanks *outside, int64_t width, int64_t height,
                         struct labels *mask) {
    labels_clear(mask);
    for (int64_t y = 0; y < height; y++) {
        for (int64_t x = 0; x < width; x++) {
            const int64_t first = x;
            while (x < width && !blanks_has_any(outside, y * width + x, 1))
                x++;
            const struct run run = {(int32_t)y, (int32_t)first, (int32_t)x - 1};
            if (x > first && !labels_add_run(mask, &run, 1, 0))
                return false;
        }
    }
    return true;
}

/* Merges regions into the mask, or cuts them out of it, in their order. */
static enum srcfind_status change_mask(const struct wanted_maps *m, struct labels *mask) {
    const struct srcfind_image *image = &m->result->image;
    struct error *error = &m->finder->error;
    struct blanks *before = blanks_create(image->width * image->height);
    struct blanks *outside = blanks_create(image->width * image->height);
    enum srcfind_status status =
        before && outside ? SRCFIND_OK : error_memory(error, "changing a mask");
    for (int64_t i = 0; status == SRCFIND_OK && i < mask->n; i++) {
        const struct run *run = &mask->runs[i].run;
        blanks_add(before, run->y * image->width + run->x0, run_length(run));
    }
    if (status == SRCFIND_OK)
        status = input_add_regions(&m->input, image, before, m->finder->regions, outside,
                                   m->finder->threads, error);
    if (status == SRCFIND_OK && !mask_of_rest(outside, image->width, image->height, mask))
        status = error_memory(error, "changing a mask");
    blanks_destroy(before);
    blanks_destroy(outside);
    return status;
}

/* Makes the mask of islands of positive sources. */
static enum srcfind_status add_mask(const struct wanted_maps *m, const struct labels *islands,
                                    struct label_rows *rows) {
    const struct result *r = m->result;
    enum srcfind_status status = SRCFIND_OK;
    struct mask_shape shape = {.width = r->image.width,
                               .height = r->image.height,
                               .radius = r->options.mask_dilate,
                               .fills_holes = r->options.mask_fill};
    struct labels mask = {0};
    for (int64_t i = 0; i < r->sources.n - r->sources.n_negative; i++)
        if (r->sources.rows[i].island_id > shape.most_label)
            shape.most_label = r->sources.rows[i].island_id;
    bool ok = mask_make(islands, &shape, &mask);
    if (ok && m->input.maps.regions && r->options.regions_as == REGIONS_MASK)
        status = change_mask(m, &mask);
    ok = ok && (status != SRCFIND_OK || label_rows_make(rows, &mask, r->image.height));
    labels_clear(&mask);
    return ok ? status : error_memory(&m->finder->error, "making a map");
}

static enum srcfind_status add_labels(const struct wanted_maps *m, enum map map,
                                      struct map_output *output) {
    const struct result *r = m->result;
    const enum label_kind kind = label_kind(map);
    const bool are_kept = r->sources.has_labels >> kind & 1;
    struct labels found = {0};
    enum srcfind_status status = are_kept ? SRCFIND_OK : find_labels(m, kind, &found);
    const struct labels *labels = are_kept ? &r->sources.labels[kind] : &found;
    if (status == SRCFIND_OK && map == MAP_MASK)
        status = add_mask(m, labels, &output->labels);
    else if (status == SRCFIND_OK && !label_rows_make(&output->labels, labels, r->image.height))
        status = error_memory(&m->finder->error, "making a map");
    labels_clear(&found);
    return status;
}

/* Adds a map to the wanted ones. The caller sets its file or its array. */
static enum srcfind_status add_map(struct wanted_maps *m, enum map map) {
    const struct result *r = m->result;
    struct map_output *output = &m->outputs[m->n++];
    *output = (struct map_output){.quantity = maps[map].quantity};
    if (has_labels(map))
        return add_labels(m, map, output);
    const int64_t width = r->image.width, height = r->image.height;
    const struct model_box box = {0, 0, width, height, MODEL_CELL};
    const bool is_injected = output->quantity == QUANTITY_INJECTED;
    const struct gaussian *gaussians = is_injected ? r->injections.first : r->sources.gaussians;
    const int64_t n = is_injected ? r->injections.n_first : r->sources.n_gaussians;
    const bool ok = (!has_model(map) || model_make(&output->model, gaussians, n, &box)) &&
                    (!has_wide_background(r, map) ||
                     wide_background_make(&output->wide, &r->sources, &r->image));
    return ok ? SRCFIND_OK : error_memory(&m->finder->error, "making a map");
}

/* Moves the map of the SNR behind the others, if there is one. Returns the number of the others. */
static int move_snr_back(struct wanted_maps *m) {
    const int last = m->n - 1;
    for (int i = 0; i < m->n; i++) {
        if (m->outputs[i].quantity != QUANTITY_SNR)
            continue;
        const struct map_output snr = m->outputs[i];
        m->outputs[i] = m->outputs[last];
        m->outputs[last] = snr;
        return last;
    }
    return m->n;
}

/* Makes all wanted maps. The map of the SNR is made of the image for detection, if there is one. */
static enum srcfind_status make_maps(struct wanted_maps *m) {
    const struct result *r = m->result;
    struct threads *threads = m->finder->threads;
    struct error *error = &m->finder->error;
    const struct views views = views_of_input(&m->input, &r->image, &r->options, r->blanks);
    const struct map_image image = {views.measure.source, &r->noise, views.measure.detection.maps};
    const struct map_image detected = {views.other.source, &r->detection_noise,
                                       views.other.detection.maps};
    const int n = views.are_two ? move_snr_back(m) : m->n;
    enum srcfind_status status =
        n > 0 ? map_outputs_write(&image, m->outputs, n, threads, error) : SRCFIND_OK;
    if (status == SRCFIND_OK && n < m->n)
        status = map_outputs_write(&detected, m->outputs + n, m->n - n, threads, error);
    return status;
}

static void clear_maps(struct wanted_maps *m) {
    for (int i = 0; i < m->n; i++)
        map_output_clear(&m->outputs[i]);
}

/* Opens the image of the result again. The caller closes it, also after an error. */
static enum srcfind_status open_image(struct wanted_maps *m) {
    const struct result *r = m->result;
    struct error *error = &m->finder->error;
    const enum srcfind_status status =
        input_open(&m->input, r->image.path, &r->options, m->finder->threads, &m->metadata, error);
    input_see(&m->input, r->blanks, r->unsearched);
    return status == SRCFIND_OK
               ? fits_file_unchanged(&m->input.image.file, &r->origin.version, error)
               : status;
}

static void close_image(struct wanted_maps *m) {
    input_close(&m->input);
    image_clear_metadata(&m->metadata);
}

/* --- files --- */

/* Maps to be saved in files. */
struct saved_maps {
    struct wanted_maps wanted;
    const char *const *paths; /* of each map; NULL: not saved */
    bool *saved;              /* of each map: its file is complete */
    int picture_size;         /* 0: PICTURE_MOST */
    int map;                  /* the map whose file is next */
};

static bool make_header(const struct saved_maps *s, enum map map, struct cards *cards) {
    const struct result *r = s->wanted.result;
    char what[SRCFIND_TEXT];
    add_description(cards, map, &s->wanted.input.image, &r->image);
    snprintf(what, sizeof what, "map: %s", map_products[map].name);
    option_cards_add(cards, what, &r->options);
    return cards_end(cards);
}

/* Writes the header of a map, and adds the map to the wanted ones. */
static enum srcfind_status begin_map(struct saved_maps *s, enum map map, FILE *file,
                                     const char *name, struct error *error) {
    const struct srcfind_image *image = &s->wanted.result->image;
    struct cards header = {0};
    enum srcfind_status status = add_map(&s->wanted, map);
    if (status == SRCFIND_OK && !make_header(s, map, &header))
        status = error_memory(error, "writing a map");
    if (status == SRCFIND_OK)
        status = fits_map_begin(&s->wanted.outputs[s->wanted.n - 1].file, &header,
                                image->width * image->height, file, name, error);
    cards_clear(&header);
    return status;
}

static enum srcfind_status save_next(struct saved_maps *s);

/* Begins the file of the next map. Its values are written once the files of all maps have begun. */
static enum srcfind_status write_map(void *context, FILE *file, const char *name,
                                     struct error *error) {
    struct saved_maps *s = context;
    const struct wanted_maps *m = &s->wanted;
    const enum map map = (enum map)s->map++;
    const int size = s->picture_size > 0 ? s->picture_size : PICTURE_MOST;
    const enum srcfind_status status =
        map == MAP_PICTURE
            ? picture_write(&m->input.image, m->result, size, m->finder->threads, file, name, error)
            : begin_map(s, map, file, name, error);
    return status == SRCFIND_OK ? save_next(s) : status;
}

/* Saves the next map and all maps behind it. Behind the last one the values of all maps are made.
 */
static enum srcfind_status save_next(struct saved_maps *s) {
    struct error *error = &s->wanted.finder->error;
    while (s->map < MAPS && !s->paths[s->map])
        s->map++;
    const int map = s->map;
    if (map == MAPS) {
        const enum srcfind_status status = make_maps(&s->wanted);
        return status == SRCFIND_OK && is_of_file(s->wanted.result)
                   ? input_unchanged(&s->wanted.input, error)
                   : status;
    }
    const struct save_content content = {map == MAP_PICTURE ? "picture" : "map", write_map, s};
    const enum srcfind_status status = save_whole(&content, s->paths[map], error);
    s->saved[map] = status == SRCFIND_OK;
    return status;
}

enum srcfind_status maps_save(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                              const char *const paths[MAPS], bool saved[MAPS]) {
    struct saved_maps s = {.wanted = {.finder = finder, .result = catalogue->table.of},
                           .paths = paths,
                           .saved = saved};
    enum srcfind_status status = open_image(&s.wanted);
    if (status == SRCFIND_OK)
        status = save_next(&s);
    clear_maps(&s.wanted);
    close_image(&s.wanted);
    return status;
}

/* Checks that a map replaces no other file. */
static enum srcfind_status check_replaced(enum map map, const char *path, struct error *error) {
    return !map_replaces_other(map, path)
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OPTIONS,
                           "%s: the map would replace this file, which is no map of srcfind: name "
                           "another file, or remove it",
                           path);
}

enum srcfind_status srcfind_catalogue_save_map(struct srcfind *finder,
                                               const struct srcfind_catalogue *catalogue,
                                               const char *map, const char *path) {
    const char *paths[MAPS] = {NULL};
    bool saved[MAPS] = {false};
    enum map chosen;
    finder_begin(finder);
    enum srcfind_status status = choose_map(map, catalogue->table.of, &chosen, &finder->error);
    if (status == SRCFIND_OK && !is_of_file(catalogue->table.of))
        status = error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                           "map: maps are saved of images in files, not of pixels in memory");
    if (status == SRCFIND_OK)
        status = check_replaced(chosen, path, &finder->error);
    if (status == SRCFIND_OK) {
        paths[chosen] = path;
        status = maps_save(finder, catalogue, paths, saved);
    }
    return status;
}

/* --- arrays --- */

static enum srcfind_status fill(struct wanted_maps *m, enum map map, uint32_t *array) {
    enum srcfind_status status = add_map(m, map);
    m->outputs[0].array = array;
    if (status == SRCFIND_OK)
        status = make_maps(m);
    clear_maps(m);
    return status;
}

static enum srcfind_status fill_from_file(struct wanted_maps *m, enum map map, uint32_t *array) {
    enum srcfind_status status = open_image(m);
    if (status == SRCFIND_OK)
        status = fill(m, map, array);
    if (status == SRCFIND_OK)
        status = input_unchanged(&m->input, &m->finder->error);
    close_image(m);
    return status;
}

/* Checks that pixels have the shape of the image of the result. */
static enum srcfind_status check_pixels(const struct wanted_maps *m,
                                        const struct srcfind_pixels *given,
                                        struct srcfind_pixels *pixels) {
    const struct result *r = m->result;
    struct error *error = &m->finder->error;
    if (r->origin.on_device)
        return error_set(error, SRCFIND_ERROR_DEVICE,
                         "map: maps are made of pixels in the host's memory, not of those on a "
                         "device: search a copy in the host's memory");
    if (!given)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "map: the catalogue is of pixels in memory: give these pixels again");
    const enum srcfind_status status = pixels_read(given, pixels, error);
    if (status != SRCFIND_OK ||
        (pixels->width == r->image.axes[0] && pixels->height == r->image.axes[1]))
        return status;
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "map: there are %lld x %lld pixels, but the catalogue is of %lld x %lld",
                     (long long)pixels->width, (long long)pixels->height,
                     (long long)r->image.axes[0], (long long)r->image.axes[1]);
}

/* Opens pixels that the caller gives again. host belongs to the open image. The caller closes it
 * after SRCFIND_OK alone. */
static enum srcfind_status open_pixels(struct wanted_maps *m, const struct srcfind_pixels *given,
                                       struct host_pixels *host) {
    const struct options *options = &m->result->options;
    struct srcfind_pixels pixels;
    enum srcfind_status status = check_pixels(m, given, &pixels);
    if (status != SRCFIND_OK)
        return status;
    host_pixels_make(host, &pixels, options->image.blank);
    status = input_open_pixels(&m->input, &host->source, pixels.header, options, &m->metadata,
                               &m->finder->error);
    input_see(&m->input, m->result->blanks, m->result->unsearched);
    if (status != SRCFIND_OK)
        close_image(m);
    return status;
}

static enum srcfind_status fill_from_pixels(struct wanted_maps *m, enum map map,
                                            const struct srcfind_pixels *given, uint32_t *array) {
    struct host_pixels host;
    enum srcfind_status status = open_pixels(m, given, &host);
    if (status != SRCFIND_OK)
        return status;
    status = fill(m, map, array);
    close_image(m);
    return status;
}

enum srcfind_status srcfind_catalogue_map(struct srcfind *finder,
                                          const struct srcfind_catalogue *catalogue,
                                          const struct srcfind_pixels *pixels, const char *map,
                                          void *values) {
    struct wanted_maps m = {.finder = finder, .result = catalogue->table.of};
    enum map chosen;
    finder_begin(finder);
    const enum srcfind_status status =
        choose_map(map, catalogue->table.of, &chosen, &finder->error);
    if (status != SRCFIND_OK)
        return status;
    if (chosen == MAP_PICTURE)
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                         "map: a picture has no values, and can only be saved");
    return is_of_file(catalogue->table.of) ? fill_from_file(&m, chosen, values)
                                           : fill_from_pixels(&m, chosen, pixels, values);
}

/* --- the picture --- */

static enum srcfind_status picture_of_pixels(struct saved_maps *s,
                                             const struct srcfind_pixels *given) {
    struct host_pixels host;
    enum srcfind_status status = open_pixels(&s->wanted, given, &host);
    if (status != SRCFIND_OK)
        return status;
    status = save_next(s);
    close_image(&s->wanted);
    return status;
}

static enum srcfind_status picture_of_file(struct saved_maps *s) {
    enum srcfind_status status = open_image(&s->wanted);
    if (status == SRCFIND_OK)
        status = save_next(s);
    close_image(&s->wanted);
    return status;
}

enum srcfind_status srcfind_catalogue_save_picture(struct srcfind *finder,
                                                   const struct srcfind_catalogue *catalogue,
                                                   const struct srcfind_pixels *pixels, int size,
                                                   const char *path) {
    const char *const paths[MAPS] = {[MAP_PICTURE] = path};
    bool saved[MAPS] = {false};
    struct saved_maps s = {.wanted = {.finder = finder, .result = catalogue->table.of},
                           .paths = paths,
                           .saved = saved,
                           .picture_size = size};
    finder_begin(finder);
    if (size != 0 && (size < PICTURE_LEAST || size > PICTURE_MOST))
        return error_set(&finder->error, SRCFIND_ERROR_OPTIONS,
                         "picture: a map of %d pixels a side: give %d to %d, or 0 for the largest",
                         size, PICTURE_LEAST, PICTURE_MOST);
    const enum srcfind_status status = check_replaced(MAP_PICTURE, path, &finder->error);
    if (status != SRCFIND_OK)
        return status;
    return is_of_file(s.wanted.result) ? picture_of_file(&s) : picture_of_pixels(&s, pixels);
}
