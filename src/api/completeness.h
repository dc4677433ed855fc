/* Which of the sources that are added to an image the same search finds (option completeness). */
#ifndef API_COMPLETENESS_H
#define API_COMPLETENESS_H

#include "api/elsewhere.h"
#include "api/sources.h"
#include "measure/injection.h"

/* A search of the image again, with other pixels: those of the image and, where sources are
 * detected elsewhere, of that image. The caller clears `found`, also after an error. */
struct search_again {
    enum srcfind_status (*search)(void *context, const struct pixel_source *image,
                                  const struct pixel_source *elsewhere, struct sources *found);
    void *context;
};

struct completeness_from {
    const struct options *options;
    const struct image *image;
    const struct srcfind_image *metadata;
    const struct srcfind_background *background;
    struct run_source pixels;          /* of the image, with the noise that the search found */
    const struct run_source *detected; /* of the image where sources are detected, or NULL */
    const struct elsewhere *elsewhere; /* that image, or NULL */
    const struct sources *before;      /* what the search found */
    struct search_again again;
    struct threads *threads;
};

/* Adds point sources of the beam's shape and, with scales, wider ones, and searches the image once
 * for each of the trials. A point source is found if a row lies within half of its FWHM that was
 * not there before, or whose Peak_flux has risen by half of the injected one or more; a wider
 * source, if the Total_flux of a row has risen so, from 0 where it was not there. The caller frees
 * list->all, also after an error. */
enum srcfind_status completeness_measure(const struct completeness_from *from,
                                         struct injections *list, struct error *error);

#endif
