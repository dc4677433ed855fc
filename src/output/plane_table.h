/* The table of planes: what each source has in each plane of other images. */
#ifndef PLANE_TABLE_H
#define PLANE_TABLE_H

#include "input/stokes.h"
#include "measure/plane_fluxes.h"

struct measured_plane {
    int file;       /* the number of its path */
    int64_t number; /* from 1, in the order of the file, whatever its axes are */
    double frequency;
    char stokes[STOKES_TEXT], date_obs[SRCFIND_TEXT];
    bool is_blank, has_beam;
    bool is_too_wide; /* its beam is wider than the image */
};

struct plane_table {
    char **paths; /* of files */
    int n_paths;
    struct measured_plane *planes;
    int64_t n, capacity;       /* planes */
    struct plane_flux *fluxes; /* fluxes[plane * n_sources + source] */
    int64_t n_sources;
};

/* A row, as writers take it. */
struct plane_row {
    int64_t source_id, plane;
    double frequency;
    char stokes[STOKES_TEXT];
    struct plane_flux flux;
};

/* Frees what a table owns. */
void plane_table_clear(struct plane_table *table);

struct srcfind_catalogue;
struct plane_rows;

/* The rows of a catalogue's table of planes, source by source, as a catalogue; the members that are
 * not its rows and columns are those of the other one, which must outlive it and owns it. NULL
 * where memory ran out. */
const struct srcfind_catalogue *catalogue_planes(struct srcfind_catalogue *catalogue);

/* rows may be NULL. */
void plane_rows_free(struct plane_rows *rows);

#endif
