/* The maps of the user for an image: a mask, maps of rms and background, and the image for
 * detection with its own maps of rms and background. They are images of the same shape. Their
 * pixels are read when they are needed, and not held in memory. */
#ifndef USER_MAPS_H
#define USER_MAPS_H

#include "input/blanks.h"
#include "input/image.h"

/* The image for detection comes before its maps, which are compared with it. */
enum user_map_kind {
    USER_MASK,
    USER_RMS,
    USER_BACKGROUND,
    USER_DETECTION,
    USER_DETECTION_RMS,
    USER_DETECTION_BACKGROUND,
    USER_MAP_KINDS
};

/* The path of the map of a kind for an image, to be freed: `path` itself or, if it is a directory,
 * the path of STEM.rms.fits in it (STEM.background.fits, STEM.mask.fits), or of STEM_rms.fits
 * (STEM_bkg.fits, as BANE writes them), or else, and for detection, of STEM.fits. It tries ever
 * shorter ends of the path of the image: for A/B/STEM.fits A/B/STEM, B/STEM and STEM; nothing
 * before the last `..` counts. NULL where memory ran out. */
char *user_map_path(enum user_map_kind kind, const char *path, const char *image);

struct user_map {
    struct image image;
    struct srcfind_image metadata;
    char difference[1200]; /* of its sky coordinates from those of the image, in words */
};

struct user_maps {
    struct user_map *images[USER_MAP_KINDS]; /* NULL: not given */
    const char *regions; /* the path of the mask, if that is a file of regions; else NULL */
};

/* Opens the maps that options name for an image; a mask that is a file of regions is no map, and is
 * left out. The image for detection must have the WCS of the image. The caller zeroes the maps
 * before, and closes them, also after an error. */
enum srcfind_status user_maps_open(struct user_maps *maps, const struct image *image,
                                   const struct srcfind_image *metadata,
                                   const struct options *options, struct error *error);

void user_maps_close(struct user_maps *maps);

bool user_maps_exist(const struct user_maps *maps);

/* Reads the mask and the maps of the noise once, and adds the pixels that they make blank: the mask
 * is 0 or blank there, a map is blank, or the rms is not above 0. */
enum srcfind_status user_maps_blanks(const struct user_maps *maps, struct blanks *blanks,
                                     struct threads *threads, struct error *error);

/* The pixels of a map; NULL if there is none. */
const struct pixel_source *user_map_source(const struct user_maps *maps, enum user_map_kind kind);

/* The option that gives a kind of map, without its dashes. */
const char *user_map_option(enum user_map_kind kind);

/* Returns an error if one of the files was changed since it was opened. */
enum srcfind_status user_maps_unchanged(const struct user_maps *maps, struct error *error);

/* Sets the error of an image without any pixel left, and names the maps that may be the cause.
 * Returns the status of the error. */
enum srcfind_status user_maps_explain_blank(const struct user_maps *maps, int64_t n_pixels,
                                            struct error *error);

#endif
