#include "input/beam_table.h"

#include <stdio.h>
#include <string.h>

#include "common/ascii.h"
#include "input/fits/table.h"
#include "input/units.h"
#include "input/usable_beam.h"

struct beams {
    struct table table;
    struct table_column major, minor, angle, channel, stokes;
    bool has_angle, has_channel, has_stokes;
    double major_units, minor_units; /* units of the column per degree */
};

/* Reads TUNITn. CASA writes arcsec, which is also the default. */
static bool beam_read_unit(const struct beams *b, const struct table_column *column,
                           double *units_per_degree) {
    char unit[SRCFIND_TEXT] = "arcsec";
    header_text(b->table.header, header_keyword("TUNIT", column->number).text, unit, sizeof unit);
    return units_conform("deg", unit, units_per_degree);
}

static bool open_beams(struct beams *b, struct fits_file *file, const struct hdu *hdu) {
    if (!table_open(&b->table, file, hdu) || !table_find(&b->table, "BMAJ", &b->major) ||
        !table_find(&b->table, "BMIN", &b->minor))
        return false;
    b->has_angle = table_find(&b->table, "BPA", &b->angle);
    b->has_channel = table_find(&b->table, "CHAN", &b->channel);
    b->has_stokes = table_find(&b->table, "POL", &b->stokes);
    return beam_read_unit(b, &b->major, &b->major_units) &&
           beam_read_unit(b, &b->minor, &b->minor_units);
}

/* Reads a column's number in a row; rows are counted from 0. */
static bool read_number(const struct beams *b, const struct table_column *column, int64_t row,
                        double *value) {
    unsigned char bytes[8];
    struct error ignored;
    const int size = table_element_bytes(column->type);
    const int64_t at = b->table.data + row * b->table.row_bytes + column->offset;
    struct table_column alone = *column;
    alone.offset = 0;
    return size <= (int)sizeof bytes &&
           fits_file_read(b->table.file, bytes, size, at, &ignored) == SRCFIND_OK &&
           table_number(&alone, bytes, value);
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

/* Sets *channel and *stokes to the 0-based indices of the plane. Without a spectral axis the
 * channels are on the only further axis with several planes. False if it cannot be told which. */
static bool indices_of_plane(const struct header *header, const struct srcfind_image *image,
                             double *channel, double *stokes) {
    int spectral = 0, other = 0, n_others = 0;
    *channel = *stokes = 0;
    for (int i = 2; i < image->n_axes; i++) {
        char type[SRCFIND_TEXT] = "";
        header_text(header, header_keyword("CTYPE", i + 1).text, type, sizeof type);
        if (begins_with(type, "STOKES")) {
            *stokes = (double)image->plane[i - 2] - 1;
        } else if (is_spectral(type)) {
            spectral = spectral ? spectral : i;
        } else if (image->axes[i] > 1) {
            other = i;
            n_others++;
        }
    }
    const int axis = spectral ? spectral : other;
    if (axis)
        *channel = (double)image->plane[axis - 2] - 1;
    return spectral || n_others <= 1;
}

/* The number of planes of an image. A beam table has at most one row for each. */
static int64_t count_planes(const struct srcfind_image *image) {
    int64_t n = 1;
    for (int i = 2; i < image->n_axes; i++)
        n *= image->axes[i];
    return n;
}

/* Finds the row of a plane: its CHAN and POL are the indices of the frequency and Stokes planes.
 * Tables without these columns have one row, or one row per channel. */
static bool find_row(const struct beams *b, int64_t n_rows, double channel, double stokes,
                     int64_t *row) {
    double chan, pol;
    *row = n_rows == 1 ? 0 : (int64_t)channel;
    if (!b->has_channel)
        return *row < n_rows;
    for (int64_t k = 0; k < n_rows; k++) {
        /* Most tables have a row for each channel, in order. */
        *row = ((int64_t)channel + k) % n_rows;
        if (read_number(b, &b->channel, *row, &chan) && chan == channel &&
            (!b->has_stokes || (read_number(b, &b->stokes, *row, &pol) && pol == stokes)))
            return true;
    }
    return false;
}

/* Reads the beam of a row. False if it cannot be used. */
static bool read_beam(const struct beams *b, int64_t row, double pixel_area,
                      struct srcfind_beam *beam) {
    if (!read_number(b, &b->major, row, &beam->major) ||
        !read_number(b, &b->minor, row, &beam->minor))
        return false;
    beam->major /= b->major_units;
    beam->minor /= b->minor_units;
    if (!b->has_angle || !read_number(b, &b->angle, row, &beam->angle))
        beam->angle = 0;
    return beam_is_usable(beam, pixel_area);
}

static enum beam_row from_beams(const struct beams *b, const struct header *header,
                                const struct srcfind_image *image, struct srcfind_beam *beam) {
    const int64_t n_planes = count_planes(image);
    const int64_t n_rows = b->table.n_rows < n_planes ? b->table.n_rows : n_planes;
    int64_t row;
    double channel, stokes;
    if (!indices_of_plane(header, image, &channel, &stokes) ||
        !find_row(b, n_rows, channel, stokes, &row))
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
