/* An image: the choice of HDU and plane in a file, the metadata of its header, and its pixel
 * source. */
#ifndef IMAGE_H
#define IMAGE_H

#include "input/fits/reader.h"
#include "input/pixel_change.h"
#include "input/wcs.h"
#include "options/options.h"

enum { MOST_PLANES = 10000 }; /* that are taken from an image: a header with more is damaged */

struct image {
    struct fits_file file;
    struct hdu hdu;
    struct reader reader;
    struct pixel_source source;
    struct changed changed; /* what `source` reads from, where pixels of a value are blank */
    struct wcs *wcs;        /* NULL if there are no celestial coordinates */
    double jansky;          /* the map unit in `flux` per beam or per pixel; NaN if it is neither */
    bool per_pixel;         /* per pixel, as are units per area of the sky: no beam is needed */
    const char *flux;       /* "Jy" or "Jy km/s"; "" if the unit is another one */
};

/* Opens the HDU and plane that are chosen, and fills metadata. The source points into the image,
 * which must not be moved until it is closed. Close the image and clear the metadata also after an
 * error. */
enum srcfind_status image_open(struct image *image, const char *path,
                               const struct image_choice *choice, struct srcfind_image *metadata,
                               struct error *error);

/* The two steps of this, for a file of which several planes are read: the HDU and its shape; then,
 * once for each plane, all else. metadata: those of the first step, whose path they share. After
 * the last plane fits_file_checksum is to be called. */
enum srcfind_status image_open_file(struct image *image, const char *path, const char *hdu,
                                    struct srcfind_image *metadata, struct error *error);
enum srcfind_status image_take_plane(struct image *image, const struct image_choice *choice,
                                     struct srcfind_image *metadata, struct error *error);

/* Returns an error if there is no such plane. Between the two steps. */
enum srcfind_status image_check_plane(const struct image *image, const struct plane_option *plane,
                                      struct srcfind_image *metadata, struct error *error);

/* The same for pixels in memory, with the metadata of `header`: its cards, or NULL. Sets no pixel
 * source. */
enum srcfind_status image_open_memory(struct image *image, const char *header, int64_t width,
                                      int64_t height, const struct image_choice *choice,
                                      struct srcfind_image *metadata, struct error *error);
void image_close(struct image *image);

/* Returns an error if the file of the image was changed since it was opened. */
enum srcfind_status image_unchanged(const struct image *image, struct error *error);

/* Metadata with all fields unknown. */
struct srcfind_image image_empty_metadata(void);
/* Frees what metadata owns: its path. */
void image_clear_metadata(struct srcfind_image *metadata);

#endif
