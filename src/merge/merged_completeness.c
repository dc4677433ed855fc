#include "merge/merged_completeness.h"

#include <errno.h>
#include <string.h>

#include "common/arrays.h"

enum { MOST_A_WIDTH = 200000 };

bool merged_injections_keep(struct spool *spool, const struct injections *list,
                            struct merged_injections *kept) {
    *kept = (struct merged_injections){
        .n_a_width = list->n_a_width, .n_widths = list->n_widths, .area = list->area};
    memcpy(kept->widths, list->widths, sizeof kept->widths);
    return spool_add(spool, list->all, (size_t)list->n * sizeof *list->all, &kept->at);
}

/* --- widths --- */

/* Adds a width in rising order, unless the list has it. False if there is no room. */
static bool add_width(struct injections *list, double width) {
    int i = list->n_widths;
    while (i > 0 && list->widths[i - 1] > width)
        i--;
    if (i > 0 && list->widths[i - 1] == width)
        return true;
    if (list->n_widths == INJECTION_WIDTHS)
        return false;
    memmove(list->widths + i + 1, list->widths + i,
            (size_t)(list->n_widths - i) * sizeof *list->widths);
    list->widths[i] = width;
    list->n_widths++;
    return true;
}

bool merged_injections_widths(const struct merged_injections *const *kept, int64_t n,
                              struct injections *list) {
    bool ok = true;
    *list = (struct injections){0};
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; ok && k < kept[i]->n_widths; k++)
            ok = add_width(list, kept[i]->widths[k]);
    return ok;
}

/* The index of a width among the widths of an image; -1 if it is not there. */
static int find_width(const struct merged_injections *kept, double width) {
    for (int k = 0; k < kept->n_widths; k++)
        if (kept->widths[k] == width)
            return k;
    return -1;
}

/* --- sources --- */

/* How many sources of a width each of n images gives, at most all that it has. */
static int64_t share_of(const struct merged_injections *kept, int64_t n) {
    const int64_t share = n < MOST_A_WIDTH ? MOST_A_WIDTH / n : 1;
    return share < kept->n_a_width ? share : kept->n_a_width;
}

/* Reads the first n sources of a width, and gives them their weights. */
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

/* The images that have a width, and how many sources of the width they give together. */
struct width_count {
    int64_t n_images, n_sources;
};

static struct width_count share_width(const struct merged_injections *const *kept, int64_t n,
                                      double width) {
    struct width_count count = {0};
    for (int64_t i = 0; i < n; i++)
        count.n_images += find_width(kept[i], width) >= 0;
    for (int64_t i = 0; i < n; i++)
        if (find_width(kept[i], width) >= 0)
            count.n_sources += share_of(kept[i], count.n_images);
    return count;
}

/* Reads the sources of a width from all images that have it. */
static bool read_images(const struct spool *spool, const struct merged_injections *const *kept,
                        int64_t n, double width, struct injection *to) {
    const struct width_count count = share_width(kept, n, width);
    bool ok = true;
    for (int64_t i = 0; ok && i < n; i++) {
        const int k = find_width(kept[i], width);
        if (k < 0)
            continue;
        const int64_t share = share_of(kept[i], count.n_images);
        ok = read_width(spool, kept[i], k, share, to);
        to += share;
    }
    return ok;
}

/* Makes the list. A width that few images have is filled up with sources that were not injected. */
bool merged_injections_list(const struct spool *spool, const struct merged_injections *const *kept,
                            int64_t n, struct injections *list) {
    list->n_a_width = 0;
    for (int k = 0; k < list->n_widths; k++) {
        const int64_t n_sources = share_width(kept, n, list->widths[k]).n_sources;
        list->n_a_width = n_sources > list->n_a_width ? n_sources : list->n_a_width;
    }
    list->n = list->n_a_width * list->n_widths;
    list->all = arrays_allocate(list->n, sizeof *list->all);
    if (!list->all) {
        errno = ENOMEM;
        return false;
    }
    memset(list->all, 0, (size_t)list->n * sizeof *list->all);
    bool ok = true;
    for (int k = 0; ok && k < list->n_widths; k++)
        ok = read_images(spool, kept, n, list->widths[k], list->all + k * list->n_a_width);
    return ok;
}
