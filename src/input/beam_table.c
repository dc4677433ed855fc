/* How the row of a plane is found in a table of beams (CASA's, or another one of this form).
 *
 * 1. Tables are searched by the extension name BEAMS; a gzipped file of one plane is only unpacked
 *    for this if CASAMBM announces a table.
 * 2. find_plane: the plane's index on the spectral axis and on the Stokes axis.
 * 3. find_numbers: CHAN and POL count from 0, as CASA writes, or from 1, if all numbers are within
 *    1 ... n and n is one of them.
 * 4. find_row: a row whose CHAN and POL are the plane's; of several, the first from the plane's
 *    index on. Without one of these columns, all rows whose order suits may be meant, and must
 *    have one beam.
 *
 * Always: a beam that is not certain is not used; the image then has the header's or none.
 *
 * Cost: rows are read through a window of 4 KiB. */
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

/* The index of a plane on an axis, from 0, and the number of planes there. */
struct plane_on_axis {
    int64_t index, n;
};

static struct plane_on_axis plane_on(const struct srcfind_image *image, int axis) {
    return (struct plane_on_axis){image->plane[axis - 2] - 1, image->axes[axis]};
}

/* Sets the indices of the plane. Without a spectral axis the channels are on the only other axis
 * with several planes. False if there are several such axes. */
static bool find_plane(const struct header *header, const struct srcfind_image *image,
                       struct plane_on_axis *channel, struct plane_on_axis *stokes) {
    int spectral = 0, other = 0, n_others = 0;
    *channel = *stokes = (struct plane_on_axis){0, 1};
    for (int i = 2; i < image->n_axes; i++) {
        char type[SRCFIND_TEXT] = "";
        header_text(header, header_keyword("CTYPE", i + 1).text, type, sizeof type);
        if (begins_with(type, "STOKES")) {
            *stokes = plane_on(image, i);
        } else if (is_spectral(type)) {
            spectral = spectral ? spectral : i;
        } else if (image->axes[i] > 1) {
            other = i;
            n_others++;
        }
    }
    const int axis = spectral ? spectral : other;
    if (axis)
        *channel = plane_on(image, axis);
    return spectral || n_others <= 1;
}

/* The number of planes of an image. A beam table has at most one row for each. */
static int64_t count_planes(const struct srcfind_image *image) {
    int64_t n = 1;
    for (int i = 2; i < image->n_axes; i++)
        n *= image->axes[i];
    return n;
}

/* Whether the numbers of a column begin at 1. */
struct numbers {
    bool are_from_1; /* whole, and within 1 ... n for n planes */
    bool have_last;  /* n is one of them */
};

static struct numbers look_at(struct beams *b, const struct table_column *column, int64_t n_rows,
                              double n) {
    struct numbers numbers = {true, false};
    double value;
    for (int64_t row = 0; numbers.are_from_1 && row < n_rows; row++) {
        numbers.are_from_1 = read_number(b, column, row, &value) && value >= 1 && value <= n &&
                             value == floor(value);
        numbers.have_last = numbers.have_last || value == n;
    }
    return numbers;
}

/* The numbers of a plane in CHAN and POL, and its indices for tables without these columns. */
struct search {
    double channel, stokes;    /* numbers in CHAN and POL */
    int64_t index, n_channels; /* of the plane, from 0 */
    int64_t stokes_index, n_stokes;
    int64_t n_rows;    /* of the table */
    int64_t n_ordered; /* rows of the plane's POL, or all without POL */
};

/* Sets the numbers of the plane. Columns count from 0, as CASA does, or from 1 if all numbers are
 * within 1 ... n, and n is one of them in this column or, if both columns may begin at 1, in the
 * other. */
static void find_numbers(struct beams *b, struct search *s) {
    const struct numbers none = {false, false};
    const struct numbers channel =
        b->has_channel ? look_at(b, &b->channel, s->n_rows, (double)s->n_channels) : none;
    const struct numbers stokes =
        b->has_stokes ? look_at(b, &b->stokes, s->n_rows, (double)s->n_stokes) : none;
    const bool is_sure =
        (channel.are_from_1 && channel.have_last) || (stokes.are_from_1 && stokes.have_last);
    s->channel = (double)s->index + (channel.are_from_1 && is_sure);
    s->stokes = (double)s->stokes_index + (stokes.are_from_1 && is_sure);
}

static bool is_of_stokes(struct beams *b, const struct search *s, int64_t row) {
    double pol;
    return !b->has_stokes || (read_number(b, &b->stokes, row, &pol) && pol == s->stokes);
}

/* Whether a row may be of the plane's channel by its order among the rows of one POL, or among all
 * rows. A single row is of all channels. */
static bool may_be_ordered(const struct beams *b, const struct search *s, int64_t order) {
    if (s->n_ordered == 1)
        return true;
    if (s->n_channels == 1 && s->n_ordered == s->n_stokes && !b->has_stokes)
        return order == s->stokes_index;
    return order % s->n_channels == s->index ||
           (s->n_ordered > s->n_channels && !b->has_stokes && order / s->n_stokes == s->index);
}

/* Whether a row may be the plane's. *order: its order among the rows of its POL. */
static bool may_be_row(struct beams *b, const struct search *s, int64_t row, int64_t *order) {
    double chan;
    if (!is_of_stokes(b, s, row))
        return false;
    if (b->has_channel)
        return read_number(b, &b->channel, row, &chan) && chan == s->channel;
    return may_be_ordered(b, s, (*order)++);
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

static bool is_same(const struct srcfind_beam *a, const struct srcfind_beam *b) {
    return a->major == b->major && a->minor == b->minor && a->angle == b->angle;
}

/* Finds the row of a plane among the rows that may be its. If the table has CHAN and POL, and
 * several rows have the plane's, the first one from the plane's index on is taken: most tables have
 * a row for each channel, in order. Else all these rows must have one beam, since any may be meant.
 */
static enum beam_row find_row(struct beams *b, const struct search *s, double pixel_area,
                              struct srcfind_beam *beam) {
    const bool is_told = b->has_channel && b->has_stokes;
    const int64_t first = is_told && s->n_rows > 1 ? s->index : 0;
    enum beam_row found = BEAM_NO_ROW;
    int64_t order = 0;
    for (int64_t k = 0; k < s->n_rows && !(is_told && found != BEAM_NO_ROW); k++) {
        const int64_t row = (first + k) % s->n_rows;
        struct srcfind_beam other;
        if (!may_be_row(b, s, row, &order))
            continue;
        const enum beam_row kind =
            read_beam(b, row, pixel_area, &other) ? BEAM_ROW : BEAM_EMPTY_ROW;
        if (found != BEAM_NO_ROW && (kind != found || (kind == BEAM_ROW && !is_same(&other, beam))))
            return BEAM_NO_ROW;
        found = kind;
        *beam = other;
    }
    return found;
}

static int64_t count_ordered(struct beams *b, const struct search *s) {
    int64_t n = 0;
    for (int64_t row = 0; row < s->n_rows; row++)
        n += is_of_stokes(b, s, row);
    return n;
}

static enum beam_row from_beams(struct beams *b, const struct header *header,
                                const struct srcfind_image *image, struct srcfind_beam *beam) {
    const int64_t n_planes = count_planes(image);
    struct plane_on_axis channel, stokes;
    if (!find_plane(header, image, &channel, &stokes))
        return BEAM_NO_ROW;
    struct search s = {.index = channel.index,
                       .n_channels = channel.n,
                       .stokes_index = stokes.index,
                       .n_stokes = stokes.n,
                       .n_rows = b->table.n_rows < n_planes ? b->table.n_rows : n_planes};
    find_numbers(b, &s);
    s.n_ordered = b->has_stokes && !b->has_channel ? count_ordered(b, &s) : s.n_rows;
    return find_row(b, &s, image->pixel_area, beam);
}

static bool is_beams(const struct hdu *hdu) {
    char extension[SRCFIND_TEXT] = "", name[SRCFIND_TEXT] = "";
    header_text(&hdu->header, "XTENSION", extension, sizeof extension);
    header_text(&hdu->header, "EXTNAME", name, sizeof name);
    return strcmp(extension, "BINTABLE") == 0 && ascii_same(name, "BEAMS");
}

/* Whether a table is looked for. The search goes through all HDUs of the file, and would unpack a
 * gzipped one: an image of one plane is not unpacked without CASAMBM. */
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
