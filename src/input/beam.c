#include "input/beam.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "input/fits/table.h"
#include "input/units.h"

/* Whether fluxes can be divided by the area: that of 1e-300 degrees is 0. */
static bool is_usable(const struct srcfind_beam *beam) {
    return beam->major > 0 && beam->minor > 0 && isnormal(beam->major * beam->minor) &&
           isfinite(beam->angle);
}

/* Without BMIN the beam is circular; without BPA its position angle is 0 (north). */
static bool from_keywords(const struct header *header, struct srcfind_beam *beam) {
    if (!header_real(header, "BMAJ", &beam->major))
        return false;
    beam->minor = beam->major;
    beam->angle = 0;
    header_real(header, "BMIN", &beam->minor);
    header_real(header, "BPA", &beam->angle);
    return is_usable(beam);
}

/* Reads the number after `name` in a card. */
static bool number_after(const char *card, const char *name, double *value) {
    char text[CARD + 1];
    size_t used;
    memcpy(text, card, CARD);
    text[CARD] = '\0';
    const char *at = strstr(text, name);
    if (!at)
        return false;
    at += strlen(name);
    at += strspn(at, " =");
    return header_parse_real(at, strlen(at), value, &used);
}

/* `HISTORY AIPS   CLEAN BMAJ=  1.7599E-03 BMIN=  1.5740E-03 BPA=   2.61`; the last such card is
 * valid. */
static bool from_history(const struct header *header, struct srcfind_beam *beam) {
    bool found = false;
    int64_t i = 0;
    for (const char *card; (card = header_next(header, "HISTORY", &i));) {
        struct srcfind_beam b;
        char text[CARD + 1];
        memcpy(text, card, CARD);
        text[CARD] = '\0';
        if (strstr(text, "CLEAN") && number_after(card, "BMAJ", &b.major) &&
            number_after(card, "BMIN", &b.minor) && number_after(card, "BPA", &b.angle) &&
            is_usable(&b)) {
            *beam = b;
            found = true;
        }
    }
    return found;
}

/* --- CASA's BEAMS table --- */

struct beams {
    struct table table;
    struct table_column major, minor, angle, channel, stokes;
    bool has_angle, has_channel, has_stokes;
    double major_units, minor_units; /* units of the column per degree */
};

/* Reads TUNITn. CASA writes arcsec, which is also the default. */
static bool beam_read_unit(const struct beams *b, const struct table_column *column,
                           double *units_per_degree) {
    char keyword[16], unit[SRCFIND_TEXT] = "arcsec";
    snprintf(keyword, sizeof keyword, "TUNIT%d", column->number);
    header_text(b->table.header, keyword, unit, sizeof unit);
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

/* The 0-based plane on the axis whose CTYPE begins with `type`; 0 if there is no such axis. */
static double plane_along(const struct header *header, const struct srcfind_image *image,
                          const char *type) {
    for (int i = 2; i < image->n_axes; i++) {
        char keyword[16], value[SRCFIND_TEXT];
        snprintf(keyword, sizeof keyword, "CTYPE%d", i + 1);
        if (header_text(header, keyword, value, sizeof value) &&
            strncmp(value, type, strlen(type)) == 0)
            return (double)image->plane[i - 2] - 1;
    }
    return 0;
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
    for (*row = 0; *row < n_rows; ++*row)
        if (read_number(b, &b->channel, *row, &chan) && chan == channel &&
            (!b->has_stokes || (read_number(b, &b->stokes, *row, &pol) && pol == stokes)))
            return true;
    return false;
}

static bool from_beams(const struct beams *b, const struct header *header,
                       const struct srcfind_image *image, struct srcfind_beam *beam) {
    const int64_t n_planes = count_planes(image);
    const int64_t n_rows = b->table.n_rows < n_planes ? b->table.n_rows : n_planes;
    int64_t row;
    double channel = plane_along(header, image, "FREQ");
    if (channel == 0)
        channel = plane_along(header, image, "V"); /* VRAD, VOPT, VELO */
    if (!find_row(b, n_rows, channel, plane_along(header, image, "STOKES"), &row) ||
        !read_number(b, &b->major, row, &beam->major) ||
        !read_number(b, &b->minor, row, &beam->minor))
        return false;
    beam->major /= b->major_units;
    beam->minor /= b->minor_units;
    if (!b->has_angle || !read_number(b, &b->angle, row, &beam->angle))
        beam->angle = 0;
    return is_usable(beam);
}

static bool is_beams(const struct hdu *hdu) {
    char extension[SRCFIND_TEXT] = "", name[SRCFIND_TEXT] = "";
    header_text(&hdu->header, "XTENSION", extension, sizeof extension);
    header_text(&hdu->header, "EXTNAME", name, sizeof name);
    return strcmp(extension, "BINTABLE") == 0 && strcasecmp(name, "BEAMS") == 0;
}

/* Looks for a BEAMS table in all HDUs of the file. False also for a table that cannot be read. */
static bool from_table(struct fits_file *file, const struct header *header,
                       const struct srcfind_image *image, struct srcfind_beam *beam) {
    struct hdu hdu = {0};
    struct beams beams;
    struct error ignored;
    bool has_table = false, more = true, found = false;
    header_logical(header, "CASAMBM", &has_table);
    while (file && has_table && more && !found) {
        more = hdu_next(file, &hdu, &more, &ignored) == SRCFIND_OK && more;
        found = more && is_beams(&hdu);
    }
    found = found && open_beams(&beams, file, &hdu) && from_beams(&beams, header, image, beam);
    hdu_clear(&hdu);
    return found;
}

void beam_find(const struct header *header, struct fits_file *file,
               const struct beam_option *option, struct srcfind_image *image) {
    struct srcfind_beam beam = {option->major / 3600, option->minor / 3600, option->angle};
    if (is_usable(&beam))
        image->beam_source = "option";
    else if (from_keywords(header, &beam))
        image->beam_source = "keywords";
    else if (from_history(header, &beam))
        image->beam_source = "history";
    else if (from_table(file, header, image, &beam))
        image->beam_source = "table";
    if (*image->beam_source)
        image->beam = beam;
    image->beam_pixels =
        M_PI * image->beam.major * image->beam.minor / (4 * M_LN2) / image->pixel_area;
}
