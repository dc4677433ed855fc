#include "input/beam_table.h"

#include <math.h>
#include <string.h>

#include "common/ascii.h"
#include "input/fits/table.h"
#include "input/units.h"
#include "input/usable_beam.h"

struct beams {
    struct table table;
    struct table_column major, minor, angle, channel, stokes;
    bool has_angle, has_channel, has_stokes;
    double major_units, minor_units;  /* units of the column per degree */
    unsigned char window[1 << 12];    /* bytes of the rows that were read last */
    int64_t window_start, window_end; /* where they are in the file */
};

/* Reads TUNITn. CASA writes arcsec, which is also the default. */
static bool beam_read_unit(const struct beams *b, const struct table_column *column,
                           double *units_per_degree) {
    char unit[SRCFIND_TEXT] = "arcsec";
    header_text(b->table.header, header_keyword("TUNIT", column->number).text, unit, sizeof unit);
    return units_conform("deg", unit, units_per_degree);
}

static bool open_beams(struct beams *b, struct fits_file *file, const struct hdu *hdu) {
    b->window_start = b->window_end = 0;
    if (!table_open(&b->table, file, hdu) || !table_find(&b->table, "BMAJ", &b->major) ||
        !table_find(&b->table, "BMIN", &b->minor))
        return false;
    b->has_angle = table_find(&b->table, "BPA", &b->angle);
    b->has_channel = table_find(&b->table, "CHAN", &b->channel);
    b->has_stokes = table_find(&b->table, "POL", &b->stokes);
    return beam_read_unit(b, &b->major, &b->major_units) &&
           beam_read_unit(b, &b->minor, &b->minor_units);
}

/* Fills the window from a byte of the file on. */
static bool move_window(struct beams *b, int64_t at) {
    const int64_t left = b->table.data + b->table.n_rows * b->table.row_bytes - at;
    const int64_t n = left < (int64_t)sizeof b->window ? left : (int64_t)sizeof b->window;
    struct error ignored;
    const bool is_read = fits_file_read(b->table.file, b->window, n, at, &ignored) == SRCFIND_OK;
    b->window_start = at;
    b->window_end = is_read ? at + n : at;
    return is_read;
}

/* Reads a column's number in a row; rows are counted from 0. */
static bool read_number(struct beams *b, const struct table_column *column, int64_t row,
                        double *value) {
    const int size = table_element_bytes(column->type);
    const int64_t at = b->table.data + row * b->table.row_bytes + column->offset;
    const bool is_there = at >= b->window_start && at + size <= b->window_end;
    struct table_column alone = *column;
    alone.offset = 0;
    return (is_there || move_window(b, at)) &&
           table_number(&alone, b->window + (at - b->window_start), value);
}

/* --- the plane --- */

static bool begins_with(const char *text, const char *start) {
    return ascii_same_start(text, start, strlen(start));
}

/* Whether a CTYPE is that of a spectral axis (FITS 4.0, table 25), or of one that AIPS writes. */
static bool is_spectral(const char *type) {
    static const char *const types[] = {"FREQ", "VRAD", "VOPT", "VELO", "FELO", "WAVE",
                                        "AWAV", "WAVN", "ENER", "ZOPT", "BETA"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (begins_with(type, types[i]))
            return true;
    return false;
}

/* The place of a plane on an axis, from 0, and the number of places. */
struct place_on_axis {
    double index, n;
};

static struct place_on_axis place_on(const struct srcfind_image *image, int axis) {
    return (struct place_on_axis){(double)image->plane[axis - 2] - 1, (double)image->axes[axis]};
}

/* Sets where the plane is. Without a spectral axis the channels are on the only further axis with
 * several planes. False if it cannot be told which. */
static bool find_place(const struct header *header, const struct srcfind_image *image,
                       struct place_on_axis *channel, struct place_on_axis *stokes) {
    int spectral = 0, other = 0, n_others = 0;
    *channel = *stokes = (struct place_on_axis){0, 1};
    for (int i = 2; i < image->n_axes; i++) {
        char type[SRCFIND_TEXT] = "";
        header_text(header, header_keyword("CTYPE", i + 1).text, type, sizeof type);
        if (begins_with(type, "STOKES")) {
            *stokes = place_on(image, i);
        } else if (is_spectral(type)) {
            spectral = spectral ? spectral : i;
        } else if (image->axes[i] > 1) {
            other = i;
            n_others++;
        }
    }
    const int axis = spectral ? spectral : other;
    if (axis)
        *channel = place_on(image, axis);
    return spectral || n_others <= 1;
}

/* The number of planes of an image. A beam table has at most one row for each. */
static int64_t count_planes(const struct srcfind_image *image) {
    int64_t n = 1;
    for (int i = 2; i < image->n_axes; i++)
        n *= image->axes[i];
    return n;
}

/* What a column has for the first of n places on an axis: 0, as CASA counts, or 1, where its
 * numbers are all within 1 ... n, and n is one of them. */
static double first_number(struct beams *b, const struct table_column *column, int64_t n_rows,
                           double n) {
    bool has_last = false;
    double value;
    for (int64_t row = 0; row < n_rows; row++) {
        if (!read_number(b, column, row, &value) || value < 1 || value > n || value != floor(value))
            return 0;
        has_last = has_last || value == n;
    }
    return has_last ? 1 : 0;
}

/* Finds the row of a plane: its CHAN and POL are the indices of the frequency and Stokes planes.
 * Tables without these columns have one row, or one row per channel. */
static bool find_row(struct beams *b, int64_t n_rows, const struct place_on_axis *channel,
                     const struct place_on_axis *stokes, int64_t *row) {
    const int64_t usual = n_rows == 1 ? 0 : (int64_t)channel->index;
    double chan, pol, wanted_pol = stokes->index;
    *row = usual;
    if (!b->has_channel)
        return *row < n_rows;
    const double wanted = channel->index + first_number(b, &b->channel, n_rows, channel->n);
    if (b->has_stokes)
        wanted_pol += first_number(b, &b->stokes, n_rows, stokes->n);
    for (int64_t k = 0; k < n_rows; k++) {
        /* Most tables have a row for each channel, in order. */
        *row = (usual + k) % n_rows;
        if (read_number(b, &b->channel, *row, &chan) && chan == wanted &&
            (!b->has_stokes || (read_number(b, &b->stokes, *row, &pol) && pol == wanted_pol)))
            return true;
    }
    return false;
}

/* Reads the beam of a row. False if it cannot be used. */
static bool read_beam(struct beams *b, int64_t row, double pixel_area, struct srcfind_beam *beam) {
    if (!read_number(b, &b->major, row, &beam->major) ||
        !read_number(b, &b->minor, row, &beam->minor))
        return false;
    beam->major /= b->major_units;
    beam->minor /= b->minor_units;
    if (!b->has_angle || !read_number(b, &b->angle, row, &beam->angle))
        beam->angle = 0;
    return beam_is_usable(beam, pixel_area);
}

static enum beam_row from_beams(struct beams *b, const struct header *header,
                                const struct srcfind_image *image, struct srcfind_beam *beam) {
    const int64_t n_planes = count_planes(image);
    const int64_t n_rows = b->table.n_rows < n_planes ? b->table.n_rows : n_planes;
    int64_t row;
    struct place_on_axis channel, stokes;
    if (!find_place(header, image, &channel, &stokes) ||
        !find_row(b, n_rows, &channel, &stokes, &row))
        return BEAM_NO_ROW;
    return read_beam(b, row, image->pixel_area, beam) ? BEAM_ROW : BEAM_EMPTY_ROW;
}

static bool is_beams(const struct hdu *hdu) {
    char extension[SRCFIND_TEXT] = "", name[SRCFIND_TEXT] = "";
    header_text(&hdu->header, "XTENSION", extension, sizeof extension);
    header_text(&hdu->header, "EXTNAME", name, sizeof name);
    return strcmp(extension, "BINTABLE") == 0 && ascii_same(name, "BEAMS");
}

/* Whether a table is looked for. To find that a file has none its HDUs are all gone through; one
 * that is gzipped is unpacked for that, as an image of one plane is not without CASAMBM. */
static bool may_have_table(const struct fits_file *file, const struct header *header,
                           const struct srcfind_image *image) {
    bool is_announced = false;
    header_logical(header, "CASAMBM", &is_announced);
    return is_announced || !file->gunzip || count_planes(image) > 1;
}

enum beam_row beam_table_find(struct fits_file *file, const struct header *header,
                              const struct srcfind_image *image, struct srcfind_beam *beam) {
    struct hdu hdu = {0};
    struct beams beams;
    struct error ignored;
    bool more = may_have_table(file, header, image), found = false;
    while (more && !found) {
        more = hdu_next(file, &hdu, &more, &ignored) == SRCFIND_OK && more;
        found = more && is_beams(&hdu);
    }
    enum beam_row row = found ? BEAM_NO_ROW : BEAM_NO_TABLE;
    if (found && open_beams(&beams, file, &hdu))
        row = from_beams(&beams, header, image, beam);
    hdu_clear(&hdu);
    return row;
}
