/* An image to be searched, and the images that options name: mask, maps of the noise, and the image
 * for detection. */
#ifndef INPUT_H
#define INPUT_H

#include "api/plane_mean.h"
#include "input/regions/shared_regions.h"
#include "input/user_maps.h"

struct input {
    struct image image;
    struct plane_mean mean; /* the pixels of the image, if it is an average of planes */
    struct user_maps maps;
    struct pixel_source pixels,
        detected; /* of the measured image and of the one for detection: see input_see */
    struct blanked blanked[2];             /* both images less the blanks */
    const struct blanks *unsearched;       /* by regions, but of the noise; NULL: all is searched */
    const struct device_pixels *on_device; /* the pixels, if they are on a device; else NULL */
};

/* Opens an image in a file, and the images that options name. The input must not be moved. Close
 * it, and clear the metadata, also after an error. */
enum srcfind_status input_open(struct input *input, const char *path, const struct options *options,
                               struct threads *threads, struct srcfind_image *metadata,
                               struct error *error);

/* Opens pixels of the caller, which must outlive the input. header: cards, or NULL. */
enum srcfind_status input_open_pixels(struct input *input, const struct pixel_source *pixels,
                                      const char *header, const struct options *options,
                                      struct srcfind_image *metadata, struct error *error);
void input_close(struct input *input);

/* Makes both images blank at all pixels of `blanks`, which must outlive the input, as must
 * `unsearched`. NULL: pixels stay as they are, and all are searched. */
void input_see(struct input *input, struct blanks *blanks, const struct blanks *unsearched);

/* Lists the blank pixels of mask and maps of the noise, and makes the images blank there. With an
 * image for detection, the first read of each image adds its own blank pixels. Pixels that regions
 * leave out are blank with the option mask-noise, else *unsearched gets them. Destroy both after
 * the last use of the input, also after an error; they stay NULL for an image without mask and
 * maps. */
enum srcfind_status input_read_blanks(struct input *input, const struct options *options,
                                      const struct srcfind_image *metadata, struct blanks **blanks,
                                      struct blanks **unsearched, struct shared_regions *shared,
                                      struct threads *threads, struct error *error);

/* Adds the pixels that the regions of the option mask leave out, if it names a file of regions.
 * before: see searched_pixels. shared: regions that were read before; may be NULL. */
enum srcfind_status input_add_regions(const struct input *input,
                                      const struct srcfind_image *metadata,
                                      const struct blanks *before, struct shared_regions *shared,
                                      struct blanks *blanks, struct threads *threads,
                                      struct error *error);

/* Returns an error if a file was changed since it was opened. */
enum srcfind_status input_unchanged(const struct input *input, struct error *error);

#endif
