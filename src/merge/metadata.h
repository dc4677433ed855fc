/* What is known of the images of a merged catalogue beside their rows: what they must have in
 * common, and what the merged catalogue says of all of them. */
#ifndef METADATA_H
#define METADATA_H

#include "merge/merge_input.h"

/* Images of one kind have the same unit, frame and options. */
struct kind;

struct image_facts {
    const char *name; /* NULL: no catalogue was added */
    int32_t kind;
    struct srcfind_beam beam;
    double frequency;
    bool has_candidates; /* rows that may be duplicates; set once all rows are read */
};

struct metadata {
    const char *path; /* of the merged catalogue; NULL: standard output */
    int64_t n_images, images_capacity;
    struct image_facts *images;
    struct kind *kinds;
    int64_t n_kinds, kinds_capacity;
};

void metadata_clear(struct metadata *m);

/* Adds what a result tells of image i. `name` must outlive it. False where memory ran out. */
bool metadata_add(struct metadata *m, int64_t i, const char *name, const struct merge_input *input);

/* An error where units, frames or columns differ; it names the images. */
enum srcfind_status metadata_check(const struct metadata *m, struct error *error);

/* The same where a catalogue does not tell whether its image has a beam. */
enum srcfind_status metadata_check_beams(const struct metadata *m, struct error *error);

/* The number of images without a beam that have candidates; *first is the name of the first one. */
int64_t metadata_without_beam(const struct metadata *m, const char **first);

/* The same for images without sky coordinates. */
int64_t metadata_without_sky(const struct metadata *m, const char **first);

/* Sets image and options of the merged catalogue to those of all images, as far as they are the
 * same, and whether the options differ or are not known. The result is to be cleared, also where
 * memory ran out. */
bool metadata_describe(const struct metadata *m, struct result *result, bool *options_differ);

#endif
