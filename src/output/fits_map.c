#include "output/fits_map.h"

#include <string.h>

#include "common/file_bytes.h"
#include "input/fits/file.h"

static enum srcfind_status write_at(const struct fits_map *map, const void *bytes, int64_t count,
                                    int64_t offset, struct error *error) {
    return file_bytes_write(map->file, bytes, count, offset)
               ? SRCFIND_OK
               : error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the map cannot be written: %s",
                           map->name, strerror(errno));
}

enum srcfind_status fits_map_begin(struct fits_map *map, const struct cards *header,
                                   int64_t n_pixels, FILE *file, const char *name,
                                   struct error *error) {
    static const char zeros[FITS_BLOCK];
    *map = (struct fits_map){.file = fileno(file), .data = header->n * CARD, .name = name};
    const int64_t end = map->data + n_pixels * (int64_t)sizeof(uint32_t);
    const int64_t padding = (FITS_BLOCK - end % FITS_BLOCK) % FITS_BLOCK;
    const enum srcfind_status status = write_at(map, header->text, map->data, 0, error);
    return status == SRCFIND_OK ? write_at(map, zeros, padding, end, error) : status;
}

enum srcfind_status fits_map_put(const struct fits_map *map, int64_t first, int64_t n,
                                 uint32_t *values, struct error *error) {
    const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (int64_t i = 0; is_little && i < n; i++)
        values[i] = __builtin_bswap32(values[i]);
    return write_at(map, values, n * (int64_t)sizeof *values,
                    map->data + first * (int64_t)sizeof *values, error);
}

bool fits_map_read(const char *path, struct hdu *hdu) {
    struct fits_file file;
    struct error ignored;
    bool found = false;
    *hdu = (struct hdu){0};
    const bool whole = fits_file_open(&file, path, &ignored) == SRCFIND_OK &&
                       hdu_next(&file, hdu, &found, &ignored) == SRCFIND_OK && found &&
                       hdu->is_image && hdu->next == fits_file_size(&file);
    fits_file_close(&file);
    return whole;
}
