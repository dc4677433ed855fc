/* How rows of islands are made of the rows of their sources, which share out the pixels of the
 * island: numbers and sums of pixels add up, boxes are united, and the highest pixel is that of one
 * of the sources. What all sources of an island have alike is copied. The centre is the mean of the
 * sources' places as unit vectors, weighted by flux: it is right at poles, too. Islands are in the
 * order of their numbers. */
#include "output/island_table.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "input/frame.h"
#include "measure/jacobian.h"

struct island_row {
    int64_t id, n_sources, n_gaussians;
    double scale, lon, lat, x, y;
    double total_flux, e_total_flux, peak;
    int64_t x_peak, y_peak;
    double pixel_sum;
    int64_t n_pixels, x_min, x_max, y_min, y_max;
    double area, resid_rms, resid_mean, rms, mean;
    int64_t flags;
};

/* --- columns --- */

static const struct {
    struct column_entry entry;
    unsigned with;
} entries[] = {
#define INTEGER SRCFIND_INTEGER
#define REAL SRCFIND_REAL
#define COLUMN(name, unit, ucd, member, kind, with, description)                                   \
    {{TABLE_OF_ISLANDS, name, unit, ucd, offsetof(struct island_row, member), kind, 8,             \
      description},                                                                                \
     with},
#include "output/island_columns.inc"
#undef INTEGER
#undef REAL
#undef COLUMN
};

static void add_columns(struct columns *columns, const struct column_facts *facts) {
    const struct frame *frame = frame_of_axis(facts->lon_name);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct column_entry entry = entries[i].entry;
        const enum {
            LON = SKY_LON,
            LAT = SKY_LAT,
            OTHER
        } axis = entry.offset == offsetof(struct island_row, lon)   ? LON
                 : entry.offset == offsetof(struct island_row, lat) ? LAT
                                                                    : OTHER;
        if (axis != OTHER) {
            entry.name = frame->columns[axis];
            entry.ucd = frame->ucds[axis];
        }
        if ((facts->with & entries[i].with) == entries[i].with)
            columns_add_entries(columns, facts, TABLE_OF_ISLANDS, &entry, 1);
    }
}

/* --- rows --- */

/* What is summed over the sources of an island. One that is alone keeps its place to the last bit.
 */
struct island_sums {
    double weight, x, y, vector[3];
};

static void add_place(const struct srcfind_source *s, struct island_sums *sums) {
    const double weight = isfinite(s->total_flux) ? fabs(s->total_flux) : 0;
    const double lon = s->lon * RADIAN, lat = s->lat * RADIAN;
    sums->weight += weight;
    sums->x += weight * s->x;
    sums->y += weight * s->y;
    sums->vector[0] += weight * cos(lat) * cos(lon);
    sums->vector[1] += weight * cos(lat) * sin(lon);
    sums->vector[2] += weight * sin(lat);
}

static void set_place(const struct island_sums *sums, struct island_row *row) {
    const double *v = sums->vector, lon = atan2(v[1], v[0]) / RADIAN;
    row->x = sums->x / sums->weight;
    row->y = sums->y / sums->weight;
    row->lon = lon < 0 ? lon + 360 : lon;
    row->lat = atan2(v[2], hypot(v[0], v[1])) / RADIAN;
}

/* Takes the pixels of a source, if it has any. */
static void add_pixels(const struct srcfind_source *s, struct island_row *row) {
    const bool is_first = row->n_pixels == 0;
    if (s->n_pixels == SRCFIND_EMPTY)
        return;
    row->n_pixels += s->n_pixels;
    row->pixel_sum += s->pixel_sum;
    row->x_min = is_first || s->x_min < row->x_min ? s->x_min : row->x_min;
    row->x_max = is_first || s->x_max > row->x_max ? s->x_max : row->x_max;
    row->y_min = is_first || s->y_min < row->y_min ? s->y_min : row->y_min;
    row->y_max = is_first || s->y_max > row->y_max ? s->y_max : row->y_max;
    if (!is_first && !(fabs(s->pixel_peak) > fabs(row->peak)))
        return;
    row->peak = s->pixel_peak;
    row->x_peak = s->x_peak;
    row->y_peak = s->y_peak;
    row->rms = s->isl_rms;
    row->mean = s->isl_mean;
}

static void add_source(const struct srcfind_source *s, struct island_row *row) {
    static const int64_t of_any = SRCFIND_FLAG_EDGE | SRCFIND_FLAG_NO_BEAM | SRCFIND_FLAG_NEGATIVE |
                                  SRCFIND_FLAG_NOT_FITTED | SRCFIND_FLAG_ARTEFACT;
    row->id = s->island_id;
    row->n_sources++;
    row->n_gaussians += s->n_gaussians > 0 ? s->n_gaussians : 0;
    row->scale = s->scale;
    row->lon = s->lon;
    row->lat = s->lat;
    row->x = s->x;
    row->y = s->y;
    row->total_flux = s->isl_total_flux;
    row->e_total_flux = s->e_isl_total_flux;
    row->resid_rms = s->resid_isl_rms;
    row->resid_mean = s->resid_isl_mean;
    row->flags |= s->flags & of_any;
    add_pixels(s, row);
}

static void finish(const struct result *result, const struct island_sums *sums,
                   struct island_row *row) {
    const double pixel = result->image.pixel_area;
    if (row->n_sources > 1)
        set_place(sums, row);
    row->area = pixel > 0 ? (double)row->n_pixels * pixel : (double)NAN;
    row->flags |= row->n_pixels == 1 ? SRCFIND_FLAG_SINGLE_PIXEL : 0;
}

/* Sets the rows of the islands 1 ... last, those without sources, too. */
static void fill(const struct result *result, int64_t last, struct island_row *rows,
                 struct island_sums *sums) {
    const struct srcfind_source *sources = result->sources.rows;
    for (int64_t i = 0; i < result->sources.n; i++) {
        add_source(&sources[i], &rows[sources[i].island_id - 1]);
        add_place(&sources[i], &sums[sources[i].island_id - 1]);
    }
    for (int64_t i = 0; i < last; i++)
        finish(result, &sums[i], &rows[i]);
}

static int64_t drop_empty(struct island_row *rows, int64_t n) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (rows[i].n_sources > 0)
            rows[kept++] = rows[i];
    return kept;
}

bool island_table_make(const struct result *result, struct table *table) {
    const struct column_facts facts = column_facts_of(&result->options, &result->image);
    int64_t last = 0;
    for (int64_t i = 0; i < result->sources.n; i++)
        last = result->sources.rows[i].island_id > last ? result->sources.rows[i].island_id : last;
    struct island_row *rows = calloc((size_t)last + 1, sizeof *rows);
    struct island_sums *sums = calloc((size_t)last + 1, sizeof *sums);
    *table = table_of(result, TABLE_OF_ISLANDS);
    add_columns(&table->columns, &facts);
    table->row_bytes = sizeof *rows;
    table->rows = table->owned.memory = rows;
    if (rows && sums) {
        fill(result, last, rows, sums);
        table->n_rows = drop_empty(rows, last);
    }
    free(sums);
    return rows && sums;
}
