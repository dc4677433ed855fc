/* An image that is searched, and what the options give for it: mask, maps of the noise, and the
 * image in which sources are detected. */
#ifndef INPUT_H
#define INPUT_H

#include "input/user_maps.h"

struct input {
    struct image image;
    struct user_maps maps;
    struct pixel_source pixels, detected;  /* of both images: see input_see */
    struct blanked blanked[2];             /* what these are read from */
    const struct device_pixels *on_device; /* the pixels, where a device has them; else NULL */
};

/* Opens an image in a file, and what the options give for it. The input must not be moved. Close
 * it, and clear the metadata, also after an error. */
enum srcfind_status input_open(struct input *input, const char *path, const struct options *options,
                               struct srcfind_image *metadata, struct error *error);

/* The same for pixels of the caller, which must outlive the input; header: cards, or NULL. */
enum srcfind_status input_open_pixels(struct input *input, const struct pixel_source *pixels,
                                      const char *header, const struct options *options,
                                      struct srcfind_image *metadata, struct error *error);
void input_close(struct input *input);

/* Makes the pixels that `blanks` tells blank in both images. blanks must outlive the input; NULL:
 * pixels are as they are. */
void input_see(struct input *input, struct blanks *blanks);

/* Reads mask and maps of the noise, if any are given, and makes the pixels blank that they make
 * blank. With an image for detection, reading both images adds their own blanks. *blanks is to be
 * destroyed after the input was used, also after an error; it is NULL for an image that is alone.
 */
enum srcfind_status input_read_blanks(struct input *input, struct blanks **blanks,
                                      struct threads *threads, struct error *error);

/* Returns an error if a file was changed since it was opened. */
enum srcfind_status input_unchanged(const struct input *input, struct error *error);

#endif
