#include "output/result.h"

#include <stdlib.h>
#include <string.h>

#include "input/image.h"

void sources_clear(struct sources *sources) {
    free(sources->rows);
    free(sources->order);
    free(sources->gaussians);
    free(sources->free);
    free(sources->parts);
    for (int kind = 0; kind < LABEL_KINDS; kind++)
        labels_clear(&sources->labels[kind]);
    free(sources->at_noise);
    *sources = (struct sources){0};
}

int64_t sources_place(const struct sources *sources, int64_t i) {
    return sources->order ? sources->order[i] : i;
}

/* --- Gaussians --- */

/* Puts the Gaussians of a source at row n. parts: rows of Gaussians, those of this source first.
 * Returns how many of them it took: none for a source of one Gaussian. */
static int64_t put_gaussians(const struct srcfind_source *source,
                             const struct srcfind_source *parts, struct srcfind_source *rows,
                             int64_t n) {
    const int64_t several = source->n_gaussians > 1 ? source->n_gaussians : 0;
    for (int64_t i = 0; i < (several ? several : 1); i++) {
        rows[n + i] = several ? parts[i] : *source;
        memcpy(rows[n + i].name, source->name, sizeof source->name);
        rows[n + i].gaussian_id = n + i + 1;
    }
    return several;
}

struct srcfind_source *sources_list_gaussians(const struct sources *sources, int64_t *n) {
    const struct srcfind_source *part = sources->parts;
    struct srcfind_source *rows =
        malloc((size_t)(sources->n + sources->n_parts) * sizeof *rows + 1);
    *n = 0;
    for (int64_t i = 0; rows && i < sources->n; i++) {
        part += put_gaussians(&sources->rows[i], part, rows, *n);
        const int64_t n_own = sources->rows[i].n_gaussians;
        *n += n_own == SRCFIND_EMPTY ? 1 : n_own; /* a row of --at is one */
    }
    return rows;
}

void rows_move(struct srcfind_source *rows, int64_t n, int64_t x, int64_t y) {
    for (int64_t i = 0; i < n && (x != 0 || y != 0); i++) {
        struct srcfind_source *row = &rows[i];
        int64_t *const columns[] = {&row->x_min, &row->x_max, &row->x_peak}, *const lines[] = {
                                                                                 &row->y_min,
                                                                                 &row->y_max,
                                                                                 &row->y_peak};
        row->x += (double)x;
        row->y += (double)y;
        for (int k = 0; k < 3; k++) {
            *columns[k] += *columns[k] == SRCFIND_EMPTY ? 0 : x;
            *lines[k] += *lines[k] == SRCFIND_EMPTY ? 0 : y;
        }
    }
}

/* --- results --- */

const char *result_note(const struct result *result, int i) {
    const char *note = i < 0 ? NULL : result->notes;
    for (; note && *note && i > 0; i--)
        note += strlen(note) + 1;
    return note && *note ? note : NULL;
}

static void clear_planes(struct measured_planes *planes) {
    for (int i = 0; i < planes->n_paths; i++)
        free(planes->paths[i]);
    free(planes->paths);
    free(planes->planes);
    free(planes->fluxes);
}

void result_clear(struct result *result) {
    options_clear(&result->options);
    sources_clear(&result->sources);
    clear_planes(&result->planes);
    free((void *)result->correlation.values);
    injections_clear(&result->injections);
    free(result->origin.header);
    free(result->notes);
    image_clear_metadata(&result->image);
    noise_map_clear(&result->noise);
    noise_map_clear(&result->detection_noise);
    psf_clear(&result->psf);
    blanks_destroy(result->blanks);
    blanks_destroy(result->unsearched);
}
