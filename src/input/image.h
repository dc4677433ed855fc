/* An image in a file: which HDU and plane, what its header says, and where its pixels come from. */
#ifndef IMAGE_H
#define IMAGE_H

#include "input/fits/reader.h"
#include "input/wcs.h"

struct image {
    struct fits_file file;
    struct hdu hdu;
    struct reader reader;
    struct pixel_source source;
    struct sky *sky; /* NULL where there are no sky coordinates */
    double jansky;   /* of a map unit: Jy/beam or Jy/pixel; NaN where the unit is neither */
    bool per_pixel;  /* the unit is Jy/pixel */
};

/* Opens an image by the options' HDU and plane, and fills facts. The image must stay where it is
 * until it is closed; close it, and clear the facts, also after an error. */
enum srcfind_status image_open(struct image *image, const char *path,
                               const struct srcfind_options *options, struct srcfind_image *facts,
                               struct error *error);
void image_close(struct image *image);

/* Facts of which nothing is known. */
struct srcfind_image image_no_facts(void);
void image_clear_facts(struct srcfind_image *facts);

#endif
