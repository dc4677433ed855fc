/* The metadata of the images of a merged catalogue: some must be the same, and the merged catalogue
 * has all that are. */
#ifndef METADATA_H
#define METADATA_H

#include "merge/merge_input.h"

/* Images of one group have the same unit, frame and options. */
struct image_group;

struct image_metadata {
    const char *name; /* NULL: no catalogue was added */
    int32_t group;
    struct srcfind_beam beam;
    double frequency;
    bool has_candidates; /* some of its rows may be duplicates; set once all rows were read */
};

struct metadata {
    const char *path; /* of the merged catalogue; NULL: standard output */
    int64_t n_images, images_capacity;
    struct image_metadata *images;
    struct image_group *groups;
    int64_t n_groups, groups_capacity;
};

void metadata_clear(struct metadata *m);

/* Adds the metadata of image i. `name` must outlive them. */
bool metadata_add(struct metadata *m, int64_t i, const char *name, const struct merge_input *input);

/* Returns an error if units, frames or columns differ; it names the images. */
enum srcfind_status metadata_check(const struct metadata *m, struct error *error);

/* Returns an error if a catalogue whose rows may be duplicates does not tell whether its image has
 * a beam. */
enum srcfind_status metadata_check_beams(const struct metadata *m, struct error *error);

/* The number of images without a beam that have candidates; *first is the name of the first one. */
int64_t metadata_without_beam(const struct metadata *m, const char **first);

/* The number of images without sky coordinates; *first is the name of the first one. */
int64_t metadata_without_sky(const struct metadata *m, const char **first);

/* Sets image and options of the merged catalogue to the values that all images share, and whether
 * options differ or are not known. The caller clears the result, also if this fails. */
bool metadata_describe(const struct metadata *m, struct result *result, bool *options_differ);

#endif
