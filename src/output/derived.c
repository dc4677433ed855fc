#include "output/derived.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "output/sexagesimal.h"

/* --- columns --- */

static const struct {
    struct srcfind_column shown;
    size_t offset, width;
    unsigned with;
} entries[] = {
#define DERIVED(name, unit, ucd, member, kind, width, with, description)                           \
    {{name, unit, ucd, description, SRCFIND_##kind, unit},                                         \
     offsetof(struct derived_row, derived.member),                                                 \
     width,                                                                                        \
     with},
#include "output/derived.inc"
#undef DERIVED
};

enum { ENTRIES = sizeof entries / sizeof *entries };

const struct srcfind_column *derived_column(int i, bool *needs_fit) {
    *needs_fit = i < ENTRIES && entries[i].with;
    return i < ENTRIES ? &entries[i].shown : NULL;
}

void derived_add_columns(struct columns *columns, const struct column_facts *facts) {
    for (int i = 0; i < ENTRIES; i++) {
        if ((facts->with & entries[i].with) != entries[i].with)
            continue;
        struct column *column = &columns->column[columns->n++];
        *column = (struct column){
            .shown = entries[i].shown, .offset = entries[i].offset, .width = entries[i].width};
        columns_set_unit(&column->shown, facts);
    }
}

/* --- islands --- */

struct island_place *derived_places(const struct result *result) {
    const struct srcfind_source *rows = result->sources.rows;
    const int64_t n = result->sources.n;
    int64_t last = 0;
    for (int64_t i = 0; i < n; i++)
        last = rows[i].island_id > last ? rows[i].island_id : last;
    struct island_place *places = malloc((size_t)n * sizeof *places + 1);
    int32_t *count = calloc((size_t)last + 1, sizeof *count);
    for (int64_t i = 0; places && count && i < n; i++)
        places[i].number = count[rows[i].island_id]++;
    for (int64_t i = 0; places && count && i < n; i++)
        places[i].of = count[rows[i].island_id];
    const bool ok = places && count;
    free(count);
    if (ok)
        return places;
    free(places);
    return NULL;
}

/* Writes a, b, ..., z, aa, ab, ... */
static void write_letters(int64_t number, char *to, size_t size) {
    char letters[16];
    size_t n = sizeof letters;
    letters[--n] = '\0';
    for (int64_t left = number; left >= 0 && n > 0; left = left / 26 - 1)
        letters[--n] = (char)('a' + left % 26);
    snprintf(to, size, "%s", letters + n);
}

static void set_island(const struct srcfind_source *row, const struct island_place *place,
                       struct derived *d) {
    const int used = snprintf(d->component_name, sizeof d->component_name, "component_%lld",
                              (long long)row->island_id);
    d->isl_source = place->number;
    d->isl_sources = place->of;
    d->has_siblings = place->of > 1;
    snprintf(d->island_name, sizeof d->island_name, "island_%lld", (long long)row->island_id);
    write_letters(place->number, d->component_name + used, sizeof d->component_name - (size_t)used);
}

/* --- texts --- */

static void set_position(const struct srcfind_image *image, const struct srcfind_source *row,
                         struct derived *d) {
    enum { PARTS = 100 };
    if (strcmp(image->lon_name, "RA") != 0 || !isfinite(row->lon) || !isfinite(row->lat))
        return;
    const struct sexagesimal lon = sexagesimal_hours(row->lon, PARTS);
    const struct sexagesimal lat = sexagesimal_degrees(row->lat, PARTS);
    *sexagesimal_add(d->lon, &lon, ":", PARTS) = '\0';
    d->lat[0] = lat.is_negative ? '-' : '+';
    *sexagesimal_add(d->lat + 1, &lat, ":", PARTS) = '\0';
}

static uint64_t mix_real(uint64_t hash, double value) {
    const double none = 0;
    uint64_t bits;
    memcpy(&bits, isfinite(value) ? &value : &none, sizeof bits);
    return random_mix(hash ^ bits);
}

/* A UUID of version 8 (RFC 9562) of what a row has: no two rows have the same position, flux and
 * number to the last bit. */
static void set_uuid(const struct srcfind_image *image, const struct srcfind_source *row,
                     struct derived *d) {
    uint64_t hash[2];
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t h = random_mix(i ^ (uint64_t)row->id << 1);
        const double values[] = {row->x,   row->y,           row->peak_flux,   row->isl_rms,
                                 row->snr, image->frequency, image->pixel_area};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            h = mix_real(h, values[k]);
        for (const char *c = image->date_obs; *c; c++)
            h = random_mix(h ^ (unsigned char)*c);
        hash[i] = h;
    }
    snprintf(d->uuid, sizeof d->uuid, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(hash[0] >> 32),
             (unsigned)(hash[0] >> 16 & 0xffff), (unsigned)(hash[0] & 0xfff),
             (unsigned)(hash[1] >> 48 & 0x3fff) | 0x8000,
             (unsigned long long)(hash[1] & 0xffffffffffff));
}

/* --- fits --- */

/* Flags of Aegean (AegeanTools/flags.py). */
enum { AEGEAN_SMALL = 1, AEGEAN_NOT_FITTED = 16, AEGEAN_NO_POSITION = 32, AEGEAN_PRIORIZED = 64 };

/* Aegean has islands of less than so many pixels for too small. */
enum { AEGEAN_FEW_PIXELS = 4 };

static int64_t aegean_flags(const struct result *result, const struct srcfind_source *row) {
    const bool is_fitted = !(row->flags & (SRCFIND_FLAG_NOT_FITTED | SRCFIND_FLAG_OUTSIDE));
    const bool is_small = row->n_pixels != SRCFIND_EMPTY && row->n_pixels < AEGEAN_FEW_PIXELS;
    const bool has_position = isfinite(row->lon) && isfinite(row->lat);
    return (is_fitted ? 0 : AEGEAN_NOT_FITTED) | (!is_fitted && is_small ? AEGEAN_SMALL : 0) |
           (*result->image.lon_name && !has_position ? AEGEAN_NO_POSITION : 0) |
           (*row->entry_id ? AEGEAN_PRIORIZED : 0);
}

/* Selavy takes a fit for good up to this chi squared per degree of freedom. */
static const double MOST_CHI2 = 5;

static void set_fit(const struct result *result, const struct srcfind_source *row,
                    struct derived *d) {
    const double rms = row->resid_isl_rms, mean = row->resid_isl_mean;
    const bool is_one = row->n_gaussians == 1;
    d->is_estimate = (row->flags & SRCFIND_FLAG_NOT_FITTED) != 0;
    d->is_poor = d->is_estimate || row->chi2 > MOST_CHI2;
    d->chi2_sum = row->chi2_sum;
    d->resid_isl_std = sqrt(fmax(rms * rms - mean * mean, 0));
    d->aegean_mean = -mean;
    d->aegean_flags = aegean_flags(result, row);
    d->e_lon_max = is_one ? row->e_lon : (double)NAN;
    d->e_lat_max = is_one ? row->e_lat : (double)NAN;
}

/* An angle in [0, 180). */
static double position_angle(double angle) {
    const double rest = fmod(angle, 180);
    return rest < 0 ? rest + 180 : rest;
}

/* Sizes without the beam, and errors, are scaled as the size is, and angles turned as its angle. */
static void set_plane(const struct srcfind_image *image, const struct srcfind_source *row,
                      struct derived *d) {
    const bool has_sky = image->pixel_area > 0 && isfinite(row->major);
    const double pixel = has_sky ? sqrt(image->pixel_area) : (double)NAN;
    d->major = row->pixel_major * pixel;
    d->minor = row->pixel_minor * pixel;
    d->angle = has_sky ? row->pixel_angle : (double)NAN;
    const double along = d->major / row->major, across = d->minor / row->minor;
    d->e_major = row->e_major * along;
    d->e_minor = row->e_minor * across;
    d->dc_major = row->dc_major * along;
    d->e_dc_major = row->e_dc_major * along;
    d->dc_minor = row->dc_minor * across;
    d->e_dc_minor = row->e_dc_minor * across;
    d->dc_angle =
        row->dc_major > 0 ? position_angle(row->dc_angle + d->angle - row->angle) : row->dc_angle;
}

void derived_set(const struct result *result, const struct island_place *places, int64_t i,
                 struct derived *derived) {
    const struct srcfind_source *row = &result->sources.rows[i];
    *derived = (struct derived){0};
    set_island(row, &places[i], derived);
    set_position(&result->image, row, derived);
    set_uuid(&result->image, row, derived);
    derived->aegean_angle = row->angle > 90 ? row->angle - 180 : row->angle;
    set_fit(result, row, derived);
    set_plane(&result->image, row, derived);
}
