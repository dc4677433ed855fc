/* Merges the catalogues of images into one: all rows, with the image of each, in the order of the
 * images, and without those that another image has better. The rows wait in a temporary file beside
 * the merged catalogue; when all are there, of each row 64 bytes are in memory, at most. */
#ifndef MERGE_H
#define MERGE_H

#include "common/threads.h"
#include "output/writer.h"

struct merge_options {
    const char *path;            /* of the merged catalogue; NULL: standard output */
    const struct writer *writer; /* of a format that merge_writer() takes */
    double radius;               /* degrees, within which rows are one source; 0: half a beam */
    bool keep_duplicates;        /* they get flag 256, and stay */
};

/* What became of the rows. */
struct merge_counts {
    int64_t images, rows, duplicates;
    int64_t without_beam;           /* images that have no beam to find duplicates by */
    const char *first_without_beam; /* of the merge */
    int64_t without_sky;            /* images that have no sky coordinates to find them by */
    const char *first_without_sky;
};

struct merge;

/* The writer for a merged catalogue by the suffix of its path; NULL if it is one that merged
 * catalogues do not have. */
const struct writer *merge_writer(const char *path);
/* Their suffixes, for a message: ".csv, .json, ...". */
void merge_list_suffixes(char *text, size_t size);

/* Begins a merged catalogue of up to n images. *merge is to be destroyed; NULL on an error. */
enum srcfind_status merge_create(const struct merge_options *options, int64_t n,
                                 struct merge **merge, struct error *error);
void merge_destroy(struct merge *merge);

/* A catalogue that is added as that of image i, 0 <= i < n. */
struct merge_input {
    const struct srcfind_catalogue *catalogue;
    const char *name;       /* what stands in the column Image, */
    const char *other_name; /* or this, if two images have that name; NULL: the same */
    const char *entry;      /* JSON of the image; NULL: as the catalogue has it */
    bool knows_image;       /* else its unit and frame are taken for those of the others */
    bool knows_options;     /* else options are those that the columns tell */
};

/* Adds a catalogue. Threads may add several at the same time. */
enum srcfind_status merge_add(struct merge *merge, int64_t i, const struct merge_input *input,
                              struct error *error);

/* Finds the duplicates, and writes what was added. Errors: images of different units, frames or
 * columns, or without a beam where it is needed; writing. */
enum srcfind_status merge_finish(struct merge *merge, struct threads *threads,
                                 struct merge_counts *counts, struct error *error);

#endif
