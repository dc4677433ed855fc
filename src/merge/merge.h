/* Merges the catalogues of images into one: the rows of all images, in the order of the images,
 * with the name of the image, less those that another image has better; and, if wanted, tables of
 * Gaussians and of completeness. Rows wait in a temporary file beside the merged catalogue. In
 * memory are at most 64 bytes a row, and then 128 bytes for each row that touches an edge or a
 * blank pixel and is no duplicate yet. */
#ifndef MERGE_H
#define MERGE_H

#include "common/threads.h"
#include "merge/merge_input.h"
#include "output/writer.h"

struct merge_options {
    const char *path; /* of the merged catalogue; must outlive the merge; NULL: standard output */
    /* Paths of the merged tables of Gaussians and of completeness; must outlive the merge; NULL:
     * none. If a table fails, the catalogue is written all the same. */
    const char *gaussians, *completeness;
    double radius;        /* degrees, within which rows are one source; 0: half a beam */
    bool keep_duplicates; /* duplicates stay, with flag 256 */
    int sort;             /* enum sort_choice: of the merged catalogue */
};

struct merge;
struct spool;

/* Chooses the writer by the suffix of a path: CSV without a suffix, and for NULL. An error if no
 * format of merged catalogues has the suffix. */
enum srcfind_status merge_choose_writer(const char *path, const struct writer **writer,
                                        struct error *error);

/* The path of a table beside a catalogue: STEM.PART.EXT beside STEM.EXT, such as
 * STEM.gaussians.EXT; to be freed. NULL where memory ran out. */
char *merge_table_path(const char *catalogue, const char *part);

/* Checks that a merged catalogue and its tables replace no FITS file other than a catalogue of
 * srcfind. */
enum srcfind_status merge_check_output(const struct merge_options *options, struct error *error);

/* Checks that a merged catalogue at `path` (NULL: standard output) does not replace `catalogue`, of
 * which it is made. */
enum srcfind_status merge_check_input(const char *path, const char *catalogue, struct error *error);

/* Begins a merged catalogue. *merge is to be destroyed, also after an error. */
enum srcfind_status merge_create(const struct merge_options *options, struct merge **merge,
                                 struct error *error);
void merge_destroy(struct merge *merge);

/* The spool of a merge, to which catalogues are read. */
struct spool *merge_spool(struct merge *merge);

/* Adds the result of image i, once for each i >= 0; i gives the order of the images. Threads may
 * add several at the same time. After an error the merge is as before. */
enum srcfind_status merge_add(struct merge *merge, int64_t i, const struct merge_input *input,
                              struct error *error);

/* Adds a catalogue in a file, and the table of Gaussians and the list of injected sources beside
 * it, if these are merged. name: the text in the column Image; NULL: the path of the image, if the
 * catalogue has it and no other catalogue has the same, else the path of the catalogue. */
enum srcfind_status merge_add_file(struct merge *merge, int64_t i, const char *path,
                                   const char *name, struct error *error);

/* Finds the duplicates, and writes the tables, and then the catalogue; to be called once. Texts of
 * `counts` belong to the merge. Errors: images of different units, frames or columns, or without a
 * beam that is needed; writing. */
enum srcfind_status merge_finish(struct merge *merge, struct threads *threads,
                                 struct srcfind_merge_counts *counts, struct error *error);

/* After merge_finish: the options, with NULL for tables that were not written. */
struct merge_options merge_written(const struct merge *merge);

/* After merge_finish: the message of the first table that could not be written; NULL: none failed.
 */
const char *merge_table_error(const struct merge *merge);

/* After merge_finish: why no table of completeness could be made, which needs the injected sources
 * of all images; NULL if it was made or not wanted. */
const char *merge_no_completeness(const struct merge *merge);

#endif
