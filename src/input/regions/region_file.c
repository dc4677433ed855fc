/* How a file of regions is told from an image: FITS begins with SIMPLE; a text begins with a
 * comment of DS9 or CASA, or with a word of theirs; and where all this says nothing, or is packed,
 * the suffix counts. */
#include "input/regions/region_file.h"

#include <string.h>

#include "common/path.h"
#include "input/fits/file.h"
#include "input/regions/casa.h"
#include "input/regions/ds9.h"
#include "input/regions/moc.h"
#include "input/tables/text_file.h"

enum region_file_kind {
    NO_REGIONS,
    FILE_OF_DS9,
    FILE_OF_CASA,
    FILE_OF_AEGEAN,
    MOC_IN_JSON,
    MOC_IN_ASCII,
    MOC_IN_FITS
};

enum { HEAD = 4096 }; /* bytes that tell what a file is */

static bool begins_with(const char *text, int64_t size, const char *begin) {
    const size_t n = strlen(begin);
    return (uint64_t)size >= n && memcmp(text, begin, n) == 0;
}

/* The first line that is neither empty nor a comment; an empty one where there is none. */
static struct region_word first_line(const char *path, const char *text, int64_t size) {
    struct region_text t = {.path = path, .next = text, .end = text + size};
    struct region_word line = {text, 0};
    while (region_text_line(&t, &line) && (line.length == 0 || *line.at == '#'))
        line.length = 0;
    return line;
}

/* What the file at `path` is, by its first bytes. */
static enum region_file_kind kind_of(const char *path, const char *text, int64_t size) {
    static const char PICKLE = '\x80'; /* and the number of its protocol */
    static const unsigned char GZIP[] = {0x1f, 0x8b, 0};
    bool is_moc = false;
    if (begins_with(text, size, "SIMPLE") || begins_with(text, size, (const char *)GZIP)) {
        moc_is_fits(path, &is_moc);
        return is_moc                             ? MOC_IN_FITS
               : path_ends_with(path, ".reg.gz")  ? FILE_OF_DS9
               : path_ends_with(path, ".crtf.gz") ? FILE_OF_CASA
                                                  : NO_REGIONS;
    }
    if (path_ends_with(path, ".mim") || (size > 1 && *text == PICKLE && text[1] < ' '))
        return FILE_OF_AEGEAN;
    if (size == 0 || memchr(text, '\0', (size_t)size))
        return NO_REGIONS;
    if (moc_is_json(text, text + size))
        return MOC_IN_JSON;
    if (moc_is_ascii(text, text + size))
        return MOC_IN_ASCII;
    const struct region_word line = first_line(path, text, size);
    if (begins_with(text, size, "#CRTF") || casa_is_line(line))
        return FILE_OF_CASA;
    if (begins_with(text, size, "# Region file format: DS9"))
        return FILE_OF_DS9;
    if (path_ends_with(path, ".crtf") || path_ends_with(path, ".crtf.gz"))
        return FILE_OF_CASA;
    return ds9_is_line(line) || path_ends_with(path, ".reg") ? FILE_OF_DS9 : NO_REGIONS;
}

static enum srcfind_status refuse_pickle(const char *path, struct error *error) {
    return error_set(
        error, SRCFIND_ERROR_INPUT,
        "%s: a region of Aegean is a Python pickle, which may run anything: convert it "
        "by python3 -c 'from AegeanTools.regions import Region; "
        "Region.load(\"%s\").write_fits(\"regions.fits\")', and give --mask "
        "regions.fits",
        path, path);
}

enum srcfind_status region_file_is(const char *path, bool *is, struct error *error) {
    struct error ignored;
    struct fits_file file;
    char head[HEAD];
    *is = false;
    enum srcfind_status status = fits_file_open_any(&file, path, &ignored);
    const int64_t size = status != SRCFIND_OK       ? 0
                         : file.version.size < HEAD ? file.version.size
                                                    : HEAD;
    if (status == SRCFIND_OK)
        status = fits_file_read(&file, head, size, 0, &ignored);
    fits_file_close(&file);
    if (status != SRCFIND_OK)
        return SRCFIND_OK; /* who opens it as an image says what is wrong */
    const enum region_file_kind kind = kind_of(path, head, size);
    *is = kind != NO_REGIONS;
    return kind == FILE_OF_AEGEAN ? refuse_pickle(path, error) : SRCFIND_OK;
}

static enum srcfind_status read_text(enum region_file_kind kind, struct region_text *text,
                                     struct regions *regions) {
    switch (kind) {
    case FILE_OF_AEGEAN:
        return refuse_pickle(text->path, text->error);
    case FILE_OF_CASA:
        return casa_read(text, regions);
    case MOC_IN_JSON:
        return moc_read_json(text, regions);
    case MOC_IN_ASCII:
        return moc_read_ascii(text, regions);
    default:
        return ds9_read(text, regions);
    }
}

static enum srcfind_status check_any(const char *path, const struct regions *regions,
                                     struct error *error) {
    return regions->n > 0 || regions->n_ranges > 0
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: there is no region in it: leave --mask out to search everything",
                           path);
}

enum srcfind_status region_file_parse(const char *path, const char *text, int64_t size,
                                      struct regions *regions, struct error *error) {
    struct region_text t = {.path = path, .next = text, .end = text + size, .error = error};
    *regions = (struct regions){0};
    enum srcfind_status status = text_file_check(text, size, 1, path, error);
    if (status == SRCFIND_OK)
        status = read_text(kind_of(path, text, size < HEAD ? size : HEAD), &t, regions);
    return status == SRCFIND_OK ? check_any(path, regions, error) : status;
}

/* Reads a MOC in a FITS file; *is: whether it is one. */
static enum srcfind_status read_fits(const char *path, bool *is, struct regions *regions,
                                     struct error *error) {
    moc_is_fits(path, is);
    if (!*is)
        return SRCFIND_OK;
    const enum srcfind_status status = moc_read_fits(path, regions, error);
    return status == SRCFIND_OK ? check_any(path, regions, error) : status;
}

enum srcfind_status region_file_read(const char *path, struct regions *regions,
                                     struct error *error) {
    struct text_file file;
    bool is_fits;
    *regions = (struct regions){0};
    enum srcfind_status status = read_fits(path, &is_fits, regions, error);
    if (is_fits)
        return status;
    status = text_file_open(&file, path, error);
    if (status == SRCFIND_OK)
        status = region_file_parse(path, file.text, file.size, regions, error);
    text_file_close(&file);
    return status;
}
