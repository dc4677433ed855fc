/* MOCs in FITS: the first binary table whose header says so. Its first column has whole numbers: a
 * cell and its order in one (NUNIQ), or first cells and those behind the last ones in turn (RANGE),
 * of order 29 or, in columns of 32 and 16 bits, 13 and 5. */
#include <string.h>

#include "common/ascii.h"
#include "input/fits/table.h"
#include "input/regions/healpix.h"
#include "input/regions/moc.h"

/* The order of ranges: the highest whose cells a type of columns can number. 0: is none of theirs.
 */
static int order_of(char type) {
    return type == 'K' ? HEALPIX_ORDER : type == 'J' ? 13 : type == 'I' ? 5 : 0;
}

/* A file, and the table in it. */
struct moc_file {
    struct fits_file file;
    struct hdu hdu;
};

static bool has_keyword(const struct header *header, const char *keyword) {
    int64_t i = 0;
    return header_next(header, keyword, &i);
}

/* Whether a table is of a MOC, or of another map of HEALPix, which then is refused. */
static bool is_of_healpix(const struct header *header) {
    char extension[SRCFIND_TEXT] = "", type[SRCFIND_TEXT] = "", ordering[SRCFIND_TEXT] = "";
    header_text(header, "XTENSION", extension, sizeof extension);
    header_text(header, "PIXTYPE", type, sizeof type);
    header_text(header, "ORDERING", ordering, sizeof ordering);
    return strcmp(extension, "BINTABLE") == 0 &&
           (has_keyword(header, "MOCORDER") || has_keyword(header, "MOCORD_S") ||
            has_keyword(header, "MOCORD_T") || strcmp(type, "HEALPIX") == 0 ||
            strcmp(ordering, "NUNIQ") == 0);
}

/* Finds the table. Images before it win: they are masks. */
static enum srcfind_status find_table(struct moc_file *f, const char *path, bool *found,
                                      struct error *error) {
    *f = (struct moc_file){0};
    enum srcfind_status status = fits_file_open(&f->file, path, error);
    bool is = false;
    *found = status == SRCFIND_OK;
    while (status == SRCFIND_OK && *found && !is) {
        status = hdu_next(&f->file, &f->hdu, found, error);
        is = status == SRCFIND_OK && *found && is_of_healpix(&f->hdu.header);
        if (f->hdu.is_image && !is)
            *found = false;
    }
    *found = is;
    return status;
}

static void close_file(struct moc_file *f) {
    hdu_clear(&f->hdu);
    fits_file_close(&f->file);
}

void moc_is_fits(const char *path, bool *is) {
    struct moc_file f;
    struct error ignored;
    find_table(&f, path, is, &ignored);
    close_file(&f);
}

/* --- rows --- */

struct reading {
    const char *path;
    struct table table;
    struct table_column column;
    struct regions *regions;
    bool are_ranges;
    int order;      /* of the ranges */
    bool has_first; /* of a range, whose end follows: */
    int64_t first;
};

/* Element i of the column in a row. */
static int64_t number_at(const struct reading *r, const unsigned char *row, int64_t i) {
    const int bytes = table_element_bytes(r->column.type);
    struct table_column element = r->column;
    int64_t value = 0;
    element.offset += i * bytes;
    element.count = 1;
    table_integer(&element, row, &value);
    return value;
}

static enum srcfind_status refuse_number(const struct reading *r, int64_t value,
                                         struct error *error) {
    return error_set(error, SRCFIND_ERROR_INPUT, "%s: %lld is no %s of a map of coverage", r->path,
                     (long long)value, r->are_ranges ? "end of a range" : "cell");
}

/* Adds a cell of its order: 4^(order + 1) + its number. */
static enum srcfind_status add_cell(struct reading *r, int64_t value, struct error *error) {
    if (value < 4)
        return refuse_number(r, value, error);
    const int order = (61 - __builtin_clzll((unsigned long long)value)) / 2;
    const int64_t cell = order > HEALPIX_ORDER ? -1 : value - (INT64_C(4) << (2 * order));
    if (cell < 0 || cell >= healpix_cells(order))
        return refuse_number(r, value, error);
    return moc_add(r->regions, order, cell, cell) ? SRCFIND_OK
                                                  : error_memory(error, "reading regions");
}

static enum srcfind_status add_end(struct reading *r, int64_t value, struct error *error) {
    if (value < 0 || value > healpix_cells(r->order) || (r->has_first && value <= r->first))
        return refuse_number(r, value, error);
    const bool is_complete = r->has_first;
    const int64_t first = r->first;
    r->has_first = !r->has_first;
    r->first = value;
    return !is_complete || moc_add(r->regions, r->order, first, value - 1)
               ? SRCFIND_OK
               : error_memory(error, "reading regions");
}

static enum srcfind_status take_rows(void *context, const unsigned char *rows, int64_t first,
                                     int64_t n, struct error *error) {
    struct reading *r = context;
    enum srcfind_status status = SRCFIND_OK;
    (void)first;
    for (int64_t row = 0; row < n; row++)
        for (int64_t i = 0; status == SRCFIND_OK && i < r->column.count; i++) {
            const int64_t value = number_at(r, rows + row * r->table.row_bytes, i);
            status = r->are_ranges ? add_end(r, value, error) : add_cell(r, value, error);
        }
    return status;
}

/* --- the header --- */

/* Checks that the map is of the sky alone, and in ICRS. */
static enum srcfind_status check_header(const char *path, const struct header *header,
                                        bool *are_ranges, struct error *error) {
    char ordering[SRCFIND_TEXT] = "NUNIQ", dimension[SRCFIND_TEXT] = "SPACE";
    char system[SRCFIND_TEXT] = "C";
    header_text(header, "ORDERING", ordering, sizeof ordering);
    header_text(header, "MOCDIM", dimension, sizeof dimension);
    header_text(header, "COORDSYS", system, sizeof system);
    *are_ranges = ascii_same(ordering, "RANGE") || ascii_same(ordering, "RANGE29");
    if (!*are_ranges && !ascii_same(ordering, "NUNIQ"))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: this is a map of HEALPix (ORDERING is %s) and no map of coverage "
                         "(NUNIQ or RANGE): convert it with mocpy",
                         path, ordering);
    if (!ascii_same(dimension, "SPACE") || has_keyword(header, "MOCORD_T"))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: a map of coverage of %s: one of space alone is needed", path,
                         dimension);
    if (!ascii_same(system, "C") && !ascii_same(system, "ICRS"))
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: its COORDSYS is %s, and maps of coverage are in ICRS (C): convert it",
                         path, system);
    return SRCFIND_OK;
}

static enum srcfind_status read_table(struct moc_file *f, struct reading *r, struct error *error) {
    struct table_column *column = &r->column;
    enum srcfind_status status = check_header(r->path, &f->hdu.header, &r->are_ranges, error);
    if (status != SRCFIND_OK)
        return status;
    if (!table_open(&r->table, &f->file, &f->hdu) || !table_next(&r->table, column) ||
        column->count < 1 || order_of(column->type) == 0 ||
        column->offset + column->bytes > r->table.row_bytes)
        return error_set(error, SRCFIND_ERROR_INPUT,
                         "%s: the table of HDU %d has no column of whole numbers, or is not "
                         "complete: is the file damaged?",
                         r->path, f->hdu.number);
    r->order = order_of(column->type);
    status = table_read_rows(&r->table, take_rows, r, error);
    return status == SRCFIND_OK && r->has_first ? refuse_number(r, r->first, error) : status;
}

enum srcfind_status moc_read_fits(const char *path, struct regions *regions, struct error *error) {
    struct moc_file f;
    bool found;
    struct reading r = {.path = path, .regions = regions};
    enum srcfind_status status = find_table(&f, path, &found, error);
    if (status == SRCFIND_OK && !found)
        status =
            error_set(error, SRCFIND_ERROR_INPUT, "%s: there is no map of coverage in it", path);
    if (status == SRCFIND_OK)
        status = read_table(&f, &r, error);
    close_file(&f);
    regions->is_moc = true;
    moc_finish(regions);
    return status;
}
