/* Merges the catalogues of images into one: all rows, with the image of each, in the order of the
 * images, and without those that another image has better; and, if it is to be, the table of their
 * Gaussians. The rows wait in a temporary file beside the merged catalogue; when all are there, of
 * each row 64 bytes are in memory, at most; then 128 of each that touches an edge or a blank pixel
 * and is no duplicate yet. */
#ifndef MERGE_H
#define MERGE_H

#include "common/threads.h"
#include "merge/merge_input.h"
#include "output/writer.h"

struct merge_options {
    const char *path; /* of the merged catalogue, which outlives it; NULL: standard output */
    /* Of the merged tables of Gaussians and of completeness, which outlive it; NULL: none. No table
     * keeps the catalogue from being written. */
    const char *gaussians, *completeness;
    double radius;        /* degrees, within which rows are one source; 0: half a beam */
    bool keep_duplicates; /* they get flag 256, and stay */
};

struct merge;
struct spool;

/* Chooses the writer by the suffix of a path: CSV where it has none, and for NULL. An error if
 * merged catalogues do not have the suffix. */
enum srcfind_status merge_choose_writer(const char *path, const struct writer **writer,
                                        struct error *error);

/* A table beside a catalogue, single or merged: STEM.PART.EXT beside STEM.EXT, of the Gaussians
 * STEM.gaussians.EXT; to be freed. NULL where memory ran out. */
char *merge_table_path(const char *catalogue, const char *part);

/* Checks that a merged catalogue and its tables, at the paths that the options have, replace no
 * FITS file but a catalogue of srcfind. */
enum srcfind_status merge_check_output(const struct merge_options *options, struct error *error);

/* Checks that a merged catalogue at this path is not the file of a catalogue that it is made of.
 * NULL: standard output. */
enum srcfind_status merge_check_input(const char *path, const char *catalogue, struct error *error);

/* Begins a merged catalogue. *merge is to be destroyed, also after an error. */
enum srcfind_status merge_create(const struct merge_options *options, struct merge **merge,
                                 struct error *error);
void merge_destroy(struct merge *merge);

/* The spool, for catalogues that are read to be added. */
struct spool *merge_spool(struct merge *merge);

/* Adds the result of image i, 0 <= i, of which none was added. Threads may add several at the
 * same time; the number gives the order. After an error the merge is as before. */
enum srcfind_status merge_add(struct merge *merge, int64_t i, const struct merge_input *input,
                              struct error *error);

/* The same for a catalogue in a file, with the table of Gaussians and the list of injected sources
 * beside it, if they are merged, too. name: what stands in the column Image; NULL: the path of the
 * image, if the catalogue tells it and no other has that one; else the path of the catalogue. */
enum srcfind_status merge_add_file(struct merge *merge, int64_t i, const char *path,
                                   const char *name, struct error *error);

/* Finds the duplicates, and writes what was added: first the Gaussians of the rows that stay, then
 * these; to be called once. Texts of `counts` belong to
 * the merge. Errors: images of different units, frames or
 * columns, or without a beam where it is needed; writing. */
enum srcfind_status merge_finish(struct merge *merge, struct threads *threads,
                                 struct srcfind_merge_counts *counts, struct error *error);

/* After merge_finish: the options, with NULL for tables that were not written. */
struct merge_options merge_written(const struct merge *merge);

/* The same: the message of the first table that could not be written; NULL: all were. */
const char *merge_table_error(const struct merge *merge);

/* The same: why there is no table of completeness, which needs the injected sources of all images;
 * NULL where it was written, was not wanted, or could not be written. */
const char *merge_no_completeness(const struct merge *merge);

#endif
