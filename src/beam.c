#include "beam.h"

#include <math.h>
#include <string.h>

static bool is_usable(const struct srcfind_beam *beam) {
    return isfinite(beam->major) && isfinite(beam->minor) && isfinite(beam->angle) &&
           beam->major > 0 && beam->minor > 0;
}

/* A beam without BMIN is round, and one without BPA points north. */
static bool from_keywords(const struct header *header, struct srcfind_beam *beam) {
    if (!header_real(header, "BMAJ", &beam->major))
        return false;
    beam->minor = beam->major;
    beam->angle = 0;
    header_real(header, "BMIN", &beam->minor);
    header_real(header, "BPA", &beam->angle);
    return is_usable(beam);
}

/* The number behind `name` in a card. */
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

/* `HISTORY AIPS   CLEAN BMAJ=  1.7599E-03 BMIN=  1.5740E-03 BPA=   2.61`, of which the last holds.
 */
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

static bool read_column(const struct cfitsio *c, fitsfile *table, char *name, LONGLONG row,
                        double *value) {
    int column, any, code = 0;
    double nan = NAN;
    c->ffgcno(table, CASEINSEN, name, &column, &code);
    c->ffgcv(table, TDOUBLE, column, row, 1, 1, &nan, value, &any, &code);
    return code == 0 && isfinite(*value);
}

/* How many units of a column are a degree; CASA writes arcsec. */
static double units_a_degree(const struct cfitsio *c, fitsfile *table, char *name) {
    char keyword[FLEN_KEYWORD], unit[FLEN_VALUE] = "";
    int column = 0, code = 0;
    c->ffgcno(table, CASEINSEN, name, &column, &code);
    snprintf(keyword, sizeof keyword, "TUNIT%d", column);
    c->ffgkys(table, keyword, unit, NULL, &code);
    return strncmp(unit, "deg", 3) == 0 ? 1 : 3600;
}

/* 0-based plane along the axis whose CTYPE begins like this; 0 if there is none. */
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

/* The row of the plane: the one whose CHAN and POL are its frequency and Stokes planes. Tables
 * without these columns have one row, or one a channel. */
static bool find_row(const struct cfitsio *c, fitsfile *table, double channel, double stokes,
                     LONGLONG *row) {
    long n_rows = 0;
    double chan, pol;
    int code = 0;
    c->ffgnrw(table, &n_rows, &code);
    if (code)
        return false;
    if (!read_column(c, table, "CHAN", 1, &chan)) {
        *row = n_rows == 1 ? 1 : (LONGLONG)channel + 1;
        return *row >= 1 && *row <= n_rows;
    }
    for (*row = 1; *row <= n_rows; ++*row)
        if (read_column(c, table, "CHAN", *row, &chan) && chan == channel &&
            (!read_column(c, table, "POL", *row, &pol) || pol == stokes))
            return true;
    return false;
}

static bool from_table(const struct cfitsio *c, fitsfile *table, const struct header *header,
                       const struct srcfind_image *image, struct srcfind_beam *beam) {
    LONGLONG row;
    double channel = plane_along(header, image, "FREQ");
    if (channel == 0)
        channel = plane_along(header, image, "V"); /* VRAD, VOPT, VELO */
    if (!find_row(c, table, channel, plane_along(header, image, "STOKES"), &row) ||
        !read_column(c, table, "BMAJ", row, &beam->major) ||
        !read_column(c, table, "BMIN", row, &beam->minor))
        return false;
    beam->major /= units_a_degree(c, table, "BMAJ");
    beam->minor /= units_a_degree(c, table, "BMIN");
    if (!read_column(c, table, "BPA", row, &beam->angle))
        beam->angle = 0;
    return is_usable(beam);
}

/* A table that cannot be read is like none. */
static bool look_in_table(struct fits_file *file, const struct hdu *hdu,
                          const struct srcfind_image *image, struct srcfind_beam *beam) {
    struct error ignored;
    bool has_table = false;
    char name[] = "BEAMS";
    int code = 0;
    if (!header_logical(&hdu->header, "CASAMBM", &has_table) || !has_table ||
        fits_file_need_cfitsio(file, &ignored) != SRCFIND_OK)
        return false;
    const struct cfitsio *c = file->cfitsio;
    fitsfile *table = cfitsio_open(c, file->path, 0, &ignored);
    if (!table)
        return false;
    c->ffmnhd(table, BINARY_TBL, name, 0, &code);
    const bool found = code == 0 && from_table(c, table, &hdu->header, image, beam);
    c->ffcmsg();
    cfitsio_close(c, table);
    return found;
}

void beam_find(struct fits_file *file, const struct hdu *hdu, const struct srcfind_beam *option,
               struct srcfind_image *image) {
    struct srcfind_beam beam = *option;
    if (is_usable(option))
        image->beam_source = "option";
    else if (from_keywords(&hdu->header, &beam))
        image->beam_source = "keywords";
    else if (from_history(&hdu->header, &beam))
        image->beam_source = "history";
    else if (look_in_table(file, hdu, image, &beam))
        image->beam_source = "table";
    if (*image->beam_source)
        image->beam = beam;
    image->beam_pixels =
        M_PI * image->beam.major * image->beam.minor / (4 * M_LN2) / image->pixel_area;
}
