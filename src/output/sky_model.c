/* How a sky model is made:
 *
 * 1. The image must have ICRS or FK5 of 2000, a frequency, a beam, and fluxes in Jy; the catalogue
 *    must have been fitted.
 * 2. Each Gaussian of a positive source with a position is a row: with the size less the beam, the
 *    flux at the reference frequency, and the spectral index of --measure-in or of the option.
 * 3. Rows of --at with one number become the Gaussians of one source.
 * 4. The first row of each patch (a source, an island, or all) gets the centre of the patch.
 *
 * The formats (skymodel.c, sagecal.c) write the rows. Rows always stay in the order of the sources,
 * but for those of --at, which are sorted. The rows are in memory, 112 bytes each. */
#include "output/sky_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/tensor.h"
#include "input/frame.h"

/* --- checks of the image --- */

static const char *name_of(const struct srcfind_image *image) {
    return *image->path ? image->path : "the image";
}

static enum srcfind_status refuse_frame(const struct srcfind_image *image, const char *format,
                                        struct error *error) {
    char equinox[FORMAT_TEXT + sizeof " of "] = "";
    if (!*image->frame)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the format %s needs sky coordinates, but the image has none%s%s: add "
                         "them to the header, or choose another format, as csv",
                         name_of(image), format, *image->no_sky ? ": " : "", image->no_sky);
    if (isfinite(image->equinox))
        format_double(image->equinox, (char *)memcpy(equinox, " of ", 4) + 4);
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: its coordinates are %s%s, but the format %s needs ICRS, or FK5 of 2000: "
                     "regrid the image, or choose another format, as csv",
                     name_of(image), image->frame, equinox, format);
}

static enum srcfind_status check_image(const struct srcfind_image *image, const char *format,
                                       struct error *error) {
    if (!frame_is_j2000(image->frame, image->equinox))
        return refuse_frame(image, format, error);
    if (!(image->frequency > 0))
        return error_set(
            error, SRCFIND_ERROR_INPUT, "%s: the format %s needs the frequency, %s%s",
            name_of(image), format,
            *image->no_frequency ? "and " : "which the header does not tell: add RESTFRQ, in Hz",
            image->no_frequency);
    if (!isfinite(image->beam_pixels))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the format %s has sizes without the beam, but the beam is not known: "
                         "give it with --beam",
                         name_of(image), format);
    if (strcmp(image->flux_unit, "Jy") != 0)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the format %s has fluxes in Jy, but the fluxes of the image are in "
                         "%s: correct BUNIT, as Jy/beam",
                         name_of(image), format, *image->flux_unit ? image->flux_unit : "no unit");
    return SRCFIND_OK;
}

/* --- rows --- */

/* The rows of a model. */
struct sky_list {
    const struct result *result;
    struct sky_row *rows;
    int64_t n;
};

/* The spectrum of a source: its flux at the frequency is `scale` times its flux in the image. */
struct source_spectrum {
    double frequency, index, scale;
};

static struct source_spectrum spectrum_of(const struct result *result,
                                          const struct srcfind_source *source) {
    const struct options *o = &result->options;
    const double scale = source->reference_flux / source->total_flux;
    const bool is_measured = o->measure_in.n > 0 && isfinite(source->spectral_index) && scale > 0 &&
                             isfinite(scale) && source->reference_frequency > 0;
    return is_measured
               ? (struct source_spectrum){source->reference_frequency, source->spectral_index,
                                          scale}
               : (struct source_spectrum){result->image.frequency, options_spectral_index(o), 1};
}

/* Squares of the axes, along north and east. */
static struct tensor tensor_of(double major, double minor, double angle) {
    const double twice = 2 * angle * M_PI / 180;
    const struct axes axes = {major * major, minor * minor, cos(twice), sin(twice)};
    return tensor_of_axes(&axes);
}

/* Takes the beam out of the size of a source that was not fitted: second moments of Gaussians add
 * up in a convolution. */
static void take_beam_out(const struct srcfind_beam *beam, const struct srcfind_source *source,
                          struct sky_row *row) {
    const struct tensor all = tensor_of(source->major, source->minor, source->angle);
    const struct tensor of_beam = tensor_of(beam->major, beam->minor, beam->angle);
    const struct tensor own = {all.xx - of_beam.xx, all.yy - of_beam.yy, all.xy - of_beam.xy};
    const struct axes axes = tensor_axes(&own);
    if (!(axes.major > 0))
        return;
    const double angle = atan2(axes.sine, axes.cosine) * 90 / M_PI;
    row->major = sqrt(axes.major);
    row->minor = sqrt(fmax(axes.minor, 0));
    row->angle = angle < 0 ? angle + 180 : angle;
}

static void set_size(const struct srcfind_beam *beam, const struct srcfind_source *gaussian,
                     struct sky_row *row) {
    if (gaussian->flags & SRCFIND_FLAG_NOT_FITTED) {
        take_beam_out(beam, gaussian, row);
    } else if (gaussian->dc_major > 0) {
        row->major = gaussian->dc_major;
        row->minor = gaussian->dc_minor;
        row->angle = gaussian->dc_angle;
    }
}

/* Adds a Gaussian of a source, unless its flux is not positive or its position not known. A
 * Gaussian without a size becomes a point. */
static void add_gaussian(struct sky_list *l, const struct srcfind_source *gaussian, int64_t number,
                         const struct source_spectrum *spectrum) {
    const double flux = gaussian->total_flux * spectrum->scale;
    if (!isfinite(gaussian->lon) || !isfinite(gaussian->lat) || !isfinite(flux) || !(flux > 0))
        return;
    struct sky_row *row = &l->rows[l->n++];
    *row = (struct sky_row){.source_id = gaussian->id,
                            .island_id = gaussian->island_id,
                            .number = number,
                            .lon = gaussian->lon,
                            .lat = gaussian->lat,
                            .flux = flux,
                            .frequency = spectrum->frequency,
                            .index = spectrum->index};
    set_size(&l->result->image.beam, gaussian, row);
}

/* How many rows of `parts` belong to a source. */
static int64_t count_parts(const struct srcfind_source *source) {
    return source->n_gaussians > 1 ? source->n_gaussians : 0;
}

static void add_source(struct sky_list *l, const struct srcfind_source *source,
                       const struct srcfind_source *parts) {
    const struct source_spectrum spectrum = spectrum_of(l->result, source);
    const int64_t several = count_parts(source);
    if (source->flags & SRCFIND_FLAG_NEGATIVE)
        return;
    for (int64_t i = 0; i < (several ? several : 1); i++)
        add_gaussian(l, several ? &parts[i] : source, i + 1, &spectrum);
}

static void add_sources(struct sky_list *l) {
    const struct sources *sources = &l->result->sources;
    const struct srcfind_source *part = sources->parts;
    for (int64_t i = 0; i < sources->n; i++) {
        const struct srcfind_source *source = &sources->rows[i];
        add_source(l, source, part);
        part += count_parts(source);
    }
}

static int by_source(const void *a, const void *b) {
    const struct sky_row *x = a, *y = b;
    if (x->source_id != y->source_id)
        return x->source_id < y->source_id ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* In a catalogue of --at several entries may have one number, in any order. They become the
 * Gaussians of one source. */
static void number_entries(struct sky_list *l) {
    for (int64_t i = 0; i < l->n; i++)
        l->rows[i].number = i;
    qsort(l->rows, (size_t)l->n, sizeof *l->rows, by_source);
    for (int64_t i = 0; i < l->n; i++) {
        const bool is_first = i == 0 || l->rows[i].source_id != l->rows[i - 1].source_id;
        l->rows[i].number = is_first ? 1 : l->rows[i - 1].number + 1;
    }
}

/* --- patches --- */

int64_t sky_model_patch(const struct options *options, const struct sky_row *row) {
    switch (options->patches) {
    case PATCHES_SOURCE:
        return row->source_id;
    case PATCHES_ISLAND:
        return row->island_id;
    default:
        return 0;
    }
}

/* Sets the centre of a patch of n rows in its first row: the mean of their unit vectors, weighted
 * by flux. So a patch may lie across right ascension 0. */
static void set_centre(struct sky_row *rows, int64_t n) {
    const double radian = M_PI / 180;
    double x = 0, y = 0, z = 0;
    for (int64_t i = 0; i < n; i++) {
        const double lon = rows[i].lon * radian, lat = rows[i].lat * radian;
        x += rows[i].flux * cos(lat) * cos(lon);
        y += rows[i].flux * cos(lat) * sin(lon);
        z += rows[i].flux * sin(lat);
    }
    rows->begins_patch = true;
    rows->patch_lon = n > 1 ? atan2(y, x) / radian : rows->lon;
    rows->patch_lat = n > 1 ? atan2(z, hypot(x, y)) / radian : rows->lat;
}

/* Finds the patches: the rows of a source, and of an island, follow each other. */
static void find_patches(struct sky_list *l) {
    for (int64_t first = 0, end; first < l->n; first = end) {
        const int64_t patch = sky_model_patch(&l->result->options, &l->rows[first]);
        for (end = first + 1; end < l->n; end++)
            if (sky_model_patch(&l->result->options, &l->rows[end]) != patch)
                break;
        set_centre(l->rows + first, end - first);
    }
}

/* --- models --- */

enum srcfind_status sky_model_make(const struct result *result, const char *format,
                                   struct table *model, struct error *error) {
    *model = table_of(result, TABLE_OF_SKY_MODEL);
    if (!options_fit(&result->options))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "format: %s lists Gaussians, and none were fitted: add --fit", format);
    const enum srcfind_status status = check_image(&result->image, format, error);
    if (status != SRCFIND_OK)
        return status;
    const int64_t most = result->sources.n + result->sources.n_parts;
    struct sky_list l = {result, malloc((size_t)most * sizeof *l.rows + 1), 0};
    if (!l.rows)
        return error_memory(error, "listing a sky model");
    add_sources(&l);
    if (*result->options.at)
        number_entries(&l);
    find_patches(&l);
    model->rows = model->owned.memory = l.rows;
    model->n_rows = l.n;
    model->row_bytes = sizeof *l.rows;
    return SRCFIND_OK;
}
