#include "merge/merged_completeness.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"

enum { MOST_A_WIDTH = 200000 };

bool merged_injections_keep(struct spool *spool, const struct srcfind_catalogue *catalogue,
                            struct merged_injections *kept) {
    const struct injections *list = &catalogue->injections;
    const struct srcfind_background *b = &catalogue->background;
    const double pixel = catalogue->image.pixel_area;
    *kept = (struct merged_injections){.n_a_width = list->n_a_width,
                                       .n_widths = list->n_widths,
                                       .area = (double)(b->n_pixels - b->n_blank) *
                                               (pixel > 0 ? pixel : 1)};
    memcpy(kept->widths, list->widths, sizeof kept->widths);
    return spool_add(spool, list->all, (size_t)list->n * sizeof *list->all, &kept->at);
}

/* How many of a width an image gives. */
static int64_t share_of(const struct merged_injections *kept, int64_t n_images) {
    const int64_t share = n_images < MOST_A_WIDTH ? MOST_A_WIDTH / n_images : 1;
    return share < kept->n_a_width ? share : kept->n_a_width;
}

/* Reads n sources of a width, and gives them their weights. */
static bool read_width(const struct spool *spool, const struct merged_injections *kept, int width,
                       int64_t n, struct injection *sources) {
    const int64_t before = width * kept->n_a_width;
    int64_t n_added = 0;
    if (!spool_read(spool, sources, (size_t)n * sizeof *sources,
                    kept->at + before * (int64_t)sizeof *sources))
        return false;
    for (int64_t i = 0; i < n; i++)
        n_added += sources[i].is_added;
    for (int64_t i = 0; i < n; i++)
        sources[i].weight = kept->area / (double)(n_added > 0 ? n_added : 1);
    return true;
}

bool merged_injections_list(const struct spool *spool, const struct merged_injections *const *kept,
                            int64_t n, struct injections *list) {
    *list = (struct injections){.n_widths = kept[0]->n_widths};
    memcpy(list->widths, kept[0]->widths, sizeof list->widths);
    for (int64_t i = 0; i < n; i++)
        list->n_a_width += share_of(kept[i], n);
    list->n = list->n_a_width * list->n_widths;
    list->all = arrays_allocate(list->n, sizeof *list->all);
    errno = ENOMEM;
    bool ok = list->all;
    struct injection *to = list->all;
    for (int width = 0; width < list->n_widths; width++)
        for (int64_t i = 0; ok && i < n; i++) {
            ok = read_width(spool, kept[i], width, share_of(kept[i], n), to);
            to += share_of(kept[i], n);
        }
    return ok;
}
