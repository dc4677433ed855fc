/* An image: the choice of HDU and plane in a file, the metadata of its header, and its pixel
 * source. */
#ifndef IMAGE_H
#define IMAGE_H

#include "input/fits/reader.h"
#include "input/pixel_change.h"
#include "input/trimmed.h"
#include "input/wcs.h"
#include "options/options.h"

enum { MOST_PLANES = 10000 }; /* planes of an image that are read; a header with more is damaged */

struct image {
    struct fits_file file;
    struct hdu hdu;
    struct reader reader;
    struct pixel_source source;
    struct trimmed trimmed; /* what `source` reads from, if it is a part of the image */
    struct changed changed; /* the same, if pixels of a value are blank */
    struct wcs *wcs;        /* NULL if there are no celestial coordinates */
    double jansky;          /* of a map unit, in `flux` per beam or per pixel; NaN: unknown */
    bool per_pixel;         /* per pixel, also for units per area of the sky: no beam is needed */
    const char *flux;       /* "Jy" or "Jy km/s"; "" for another unit */
};

/* Opens the HDU and the plane of `choice`, and fills the metadata. The source points into the
 * image, which must not be moved until it is closed. Close the image and clear the metadata also
 * after an error. */
enum srcfind_status image_open(struct image *image, const char *path,
                               const struct image_choice *choice, struct srcfind_image *metadata,
                               struct error *error);

/* The two steps of image_open, for a file of several planes: first the HDU and its shape, then,
 * once for each plane, all else. metadata: a copy of those of the first step, whose path it shares.
 * Call fits_file_checksum after the last plane. */
enum srcfind_status image_open_file(struct image *image, const char *path, const char *hdu,
                                    struct srcfind_image *metadata, struct error *error);
enum srcfind_status image_take_plane(struct image *image, const struct image_choice *choice,
                                     struct srcfind_image *metadata, struct error *error);

/* Returns an error if there is no such plane. To be called between the two steps. */
enum srcfind_status image_check_plane(const struct image *image, const struct plane_option *plane,
                                      struct srcfind_image *metadata, struct error *error);

/* Opens pixels in memory, with the metadata of the cards of `header`, or NULL. The caller then sets
 * the pixel source. */
enum srcfind_status image_open_memory(struct image *image, const char *header, int64_t width,
                                      int64_t height, const struct image_choice *choice,
                                      struct srcfind_image *metadata, struct error *error);
void image_close(struct image *image);

/* Makes the source that of the part that is searched, if this is not the whole image. */
void image_trim_source(struct image *image, const struct srcfind_image *metadata);

/* The choice of the first image and plane of another file, which is trimmed as this image is if it
 * has its shape; else it may have that of the part. */
struct image_choice image_choice_beside(const struct trim_option *trim,
                                        const struct srcfind_image *metadata);

/* Returns an error if the file of the image was changed since it was opened. */
enum srcfind_status image_unchanged(const struct image *image, struct error *error);

/* Metadata with all fields unknown. */
struct srcfind_image image_empty_metadata(void);
/* Frees the path of the metadata. */
void image_clear_metadata(struct srcfind_image *metadata);

#endif
