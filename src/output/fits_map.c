#include "output/fits_map.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "input/fits/file.h"

/* Returns 0, or errno. */
static int write_at(int file, const void *bytes, int64_t count, int64_t offset) {
    const char *from = bytes;
    while (count > 0) {
        const ssize_t n = pwrite(file, from, (size_t)count, offset);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0)
            return EIO;
        if (n > 0) {
            from += n;
            offset += n;
            count -= n;
        }
    }
    return 0;
}

static enum srcfind_status write_error(const char *name, int code, struct error *error) {
    return error_set(error, SRCFIND_ERROR_OUTPUT, "%s: the map cannot be written: %s", name,
                     strerror(code));
}

enum srcfind_status fits_map_begin(struct fits_map *map, const struct cards *header,
                                   int64_t n_pixels, FILE *file, const char *name,
                                   struct error *error) {
    static const char zeros[FITS_BLOCK];
    *map = (struct fits_map){.file = fileno(file), .data = header->n * CARD, .name = name};
    const int64_t end = map->data + n_pixels * (int64_t)sizeof(uint32_t);
    const int64_t padding = (FITS_BLOCK - end % FITS_BLOCK) % FITS_BLOCK;
    int code = write_at(map->file, header->text, map->data, 0);
    if (!code)
        code = write_at(map->file, zeros, padding, end);
    return code ? write_error(name, code, error) : SRCFIND_OK;
}

enum srcfind_status fits_map_put(const struct fits_map *map, int64_t first, int64_t n,
                                 uint32_t *values, struct error *error) {
    const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (int64_t i = 0; is_little && i < n; i++)
        values[i] = __builtin_bswap32(values[i]);
    const int code = write_at(map->file, values, n * (int64_t)sizeof *values,
                              map->data + first * (int64_t)sizeof *values);
    return code ? write_error(map->name, code, error) : SRCFIND_OK;
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
