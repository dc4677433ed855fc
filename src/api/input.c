#include "api/input.h"

#include "input/regions/searched.h"

/* Whether a search reads all pixels several times, and not once and then some of them. */
static bool reads_often(const struct options *o) {
    return o->noise.local || o->noise.rms_box.size > 0 || options_fit(o) || o->negative ||
           o->scales.n > 0 || options_inject(o);
}

/* Keeps the pixels of compressed images, of the searched one and of that for detection. */
static void keep_pixels(const struct input *input) {
    const struct user_map *detection = input->maps.images[USER_DETECTION];
    reader_keep(&input->image.reader);
    if (detection)
        reader_keep(&detection->image.reader);
}

enum srcfind_status input_open(struct input *input, const char *path, const struct options *options,
                               struct threads *threads, struct srcfind_image *metadata,
                               struct error *error) {
    *input = (struct input){0};
    enum srcfind_status status =
        options->image.plane.mean_first > 0
            ? plane_mean_open(&input->mean, &input->image, path, options, threads, metadata, error)
            : image_open(&input->image, path, &options->image, metadata, error);
    if (status == SRCFIND_OK)
        status = user_maps_open(&input->maps, &input->image, metadata, options, error);
    if (status == SRCFIND_OK && reads_often(options))
        keep_pixels(input);
    input_see(input, NULL, NULL);
    return status;
}

enum srcfind_status input_open_pixels(struct input *input, const struct pixel_source *pixels,
                                      const char *header, const struct options *options,
                                      struct srcfind_image *metadata, struct error *error) {
    *input = (struct input){0};
    enum srcfind_status status = image_open_memory(
        &input->image, header, pixels->width, pixels->height, &options->image, metadata, error);
    if (status == SRCFIND_OK && options->image.plane.mean_first > 0)
        status = error_set(error, SRCFIND_ERROR_OPTIONS,
                           "plane: mean is for cubes in files: average the planes in memory, and "
                           "search the average");
    input->image.source = *pixels;
    if (status == SRCFIND_OK)
        image_trim_source(&input->image, metadata);
    if (status == SRCFIND_OK)
        status = user_maps_open(&input->maps, &input->image, metadata, options, error);
    input_see(input, NULL, NULL);
    return status;
}

void input_close(struct input *input) {
    user_maps_close(&input->maps);
    image_close(&input->image);
    plane_mean_clear(&input->mean);
}

void input_see(struct input *input, struct blanks *blanks, const struct blanks *unsearched) {
    const struct pixel_source *detected = user_map_source(&input->maps, USER_DETECTION);
    input->unsearched = unsearched;
    input->pixels = input->image.source;
    if (detected)
        input->detected = *detected;
    if (!blanks)
        return;
    input->pixels = blanked_source(&input->blanked[0], &input->image.source, blanks);
    if (detected)
        input->detected = blanked_source(&input->blanked[1], detected, blanks);
}

enum srcfind_status input_add_regions(const struct input *input,
                                      const struct srcfind_image *metadata,
                                      const struct blanks *before, struct shared_regions *shared,
                                      struct blanks *blanks, struct threads *threads,
                                      struct error *error) {
    const char *path = input->maps.regions;
    struct taken_regions *taken;
    if (!path)
        return SRCFIND_OK;
    struct shared_regions *regions =
        shared ? shared_regions_share(shared) : shared_regions_create();
    if (!regions)
        return error_memory(error, "reading regions");
    enum srcfind_status status = shared_regions_take(regions, path, &taken, error);
    if (status == SRCFIND_OK)
        status = searched_pixels(taken_regions_of(taken), path, &input->image, metadata, before,
                                 threads, blanks, error);
    shared_regions_give(regions, taken);
    shared_regions_release(regions);
    return status;
}

/* An error for options of regions with a mask that is an image. */
static enum srcfind_status check_regions(const struct input *input, const struct options *options,
                                         struct error *error) {
    const bool is_as_mask = options->regions_as == REGIONS_MASK;
    return (options->mask_noise || is_as_mask) && !input->maps.regions
               ? error_set(
                     error, SRCFIND_ERROR_OPTIONS,
                     "%s: --%s needs regions, and this mask is an image: leave the option out",
                     options->mask, is_as_mask ? "regions-as mask" : "mask-noise")
               : SRCFIND_OK;
}

enum srcfind_status input_read_blanks(struct input *input, const struct options *options,
                                      const struct srcfind_image *metadata, struct blanks **blanks,
                                      struct blanks **unsearched, struct shared_regions *shared,
                                      struct threads *threads, struct error *error) {
    const int64_t n_pixels = metadata->width * metadata->height;
    const bool has_regions = input->maps.regions && options->regions_as != REGIONS_MASK;
    const bool are_blank = has_regions && options->mask_noise;
    enum srcfind_status status = check_regions(input, options, error);
    if (status != SRCFIND_OK)
        return status;
    if (user_maps_exist(&input->maps) || are_blank)
        *blanks = blanks_create(n_pixels);
    else if (!has_regions)
        return SRCFIND_OK;
    if (has_regions && !are_blank)
        *unsearched = blanks_create(n_pixels);
    if ((has_regions && !are_blank && !*unsearched) || (!*blanks && !*unsearched))
        return error_memory(error, "reading a mask or a map");
    input_see(input, *blanks, *unsearched);
    if (*blanks) {
        (*blanks)->is_complete = !input->maps.images[USER_DETECTION];
        status = user_maps_blanks(&input->maps, *blanks, threads, error);
    }
    return status == SRCFIND_OK
               ? input_add_regions(input, metadata, NULL, shared, are_blank ? *blanks : *unsearched,
                                   threads, error)
               : status;
}

enum srcfind_status input_unchanged(const struct input *input, struct error *error) {
    const enum srcfind_status status = image_unchanged(&input->image, error);
    return status == SRCFIND_OK ? user_maps_unchanged(&input->maps, error) : status;
}
