/* A result: all that a search found in an image. Tables (table.h) say which of it a writer writes.
 */
#ifndef RESULT_H
#define RESULT_H

#include "backend/gaussian.h"
#include "backend/noise_map.h"
#include "input/blanks.h"
#include "input/fits/file.h"
#include "input/stokes.h"
#include "measure/at_rows.h"
#include "measure/injection.h"
#include "measure/labels.h"
#include "measure/plane_fluxes.h"
#include "measure/psf.h"
#include "options/options.h"

/* Labels of pixels are numbers of islands or of sources. */
enum label_kind { LABEL_ISLANDS, LABEL_SOURCES, LABEL_KINDS };

/* The rows of sources. With a fit also all Gaussians, and rows for the Gaussians of sources that
 * have several (`parts`), both in the order of the sources; but for Gaussians that have joined a
 * source (api/join.h), which are behind those before. */
struct sources {
    struct srcfind_source *rows;
    int64_t *order;             /* of the rows in a catalogue (row_order.h); NULL: as they are */
    int64_t n, n_negative;      /* the negative ones are the last, and count as sources */
    struct gaussian *gaussians; /* those of the image itself, and then those of scales */
    int64_t n_gaussians;
    struct tensor *free; /* of the first n_free, those of the image itself: second moments of their
                            free shapes, pixels^2; NaN: they had none */
    int64_t n_free;
    struct srcfind_source *parts;
    int64_t n_parts;
    struct labels labels[LABEL_KINDS];
    unsigned has_labels;              /* 1 << kind for the labels that were kept */
    struct entries_left_out left_out; /* with the option at */
    int64_t n_entries;                /* with the option at: the first rows, which are of entries */
    struct at_noise *at_noise;        /* with the options at and fit */
};

void sources_clear(struct sources *sources);

/* Number i of the rows in the order of a catalogue: its place among the rows. */
int64_t sources_place(const struct sources *sources, int64_t i);

/* A row for each Gaussian, *n in all; to be freed. NULL where memory ran out. */
struct srcfind_source *sources_list_gaussians(const struct sources *sources, int64_t *n);

/* Moves n rows by whole pixels; their sky positions stay. */
void rows_move(struct srcfind_source *rows, int64_t n, int64_t x, int64_t y);

/* A plane in which sources were measured, of another image. */
struct measured_plane {
    int file;       /* the number of its path */
    int64_t number; /* from 1, in the order of the file, whatever its axes are */
    double frequency;
    char stokes[STOKES_TEXT], date_obs[SRCFIND_TEXT];
    bool is_blank, has_beam;
    bool is_too_wide; /* its beam is wider than the image */
};

struct measured_planes {
    char **paths; /* of files */
    int n_paths;
    struct measured_plane *planes;
    int64_t n, capacity;       /* planes */
    struct plane_flux *fluxes; /* fluxes[plane * n_sources + source] */
    int64_t n_sources;
};

/* Where the pixels of an image came from. */
struct image_origin {
    char *header;                /* see header_lines; NULL: not known */
    double footprint[8];         /* lon, lat of the four corners, degrees; NaN: not known */
    struct fits_version version; /* of the file, when it was searched */
    bool on_device;              /* they were in the memory of a device */
};

/* Numbers of rows that notes tell (api/quality.c counts them). */
struct row_numbers {
    int64_t off_sky; /* with a position in pixels alone, in an image that has sky coordinates */
    int64_t bright;  /* positive, above 100 rms */
};

struct result {
    struct srcfind_image image;
    struct image_origin origin;
    struct options options;
    struct srcfind_background background;
    struct srcfind_correlation correlation; /* its values are owned */
    struct noise_map noise;                 /* for maps of the image */
    struct noise_map detection_noise;       /* of the image for detection, if there is one */
    struct psf psf;                         /* with the option psf; else it has no nodes */
    struct blanks *blanks;     /* of image, mask and maps together; NULL: the image is alone */
    struct blanks *unsearched; /* by regions of the option mask; NULL: all is searched */
    struct srcfind_quality quality;
    struct row_numbers numbers;
    char *notes; /* texts, each with a NUL, and an empty one at the end; NULL: none */
    struct sources sources;
    struct injections injections;  /* with the option completeness */
    struct measured_planes planes; /* with the option measure-in */
    struct srcfind_timings timings;
    struct srcfind_run run;
};

/* Frees what a result owns. */
void result_clear(struct result *result);

/* Note i, from 0; NULL after the last one. */
const char *result_note(const struct result *result, int i);

#endif
