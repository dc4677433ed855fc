#include "output/fits_map.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "input/chunks.h"

enum { BLOCK = 1 << 14 }; /* values that are written at a time */

/* A map that is being written. Each thread writes chunks to their places in the file. */
struct writing {
    int file;
    int64_t data;     /* offset of the first value */
    bool swaps;       /* values come in the other byte order than that of FITS */
    const char *name; /* of the file, for errors */
};

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

static enum srcfind_status write_chunk(void *context, int worker, const struct chunk *chunk,
                                       struct error *error) {
    const struct writing *w = context;
    uint32_t block[BLOCK];
    (void)worker;
    for (int64_t i = 0; i < chunk->count; i += BLOCK) {
        const int64_t n = chunk->count - i < BLOCK ? chunk->count - i : BLOCK;
        for (int64_t k = 0; k < n; k++)
            block[k] = w->swaps ? __builtin_bswap32(chunk->pixels[i + k]) : chunk->pixels[i + k];
        const int64_t bytes = n * (int64_t)sizeof *block;
        const int64_t offset = w->data + (chunk->first + i) * (int64_t)sizeof *block;
        const int code = write_at(w->file, block, bytes, offset);
        if (code)
            return write_error(w->name, code, error);
    }
    return SRCFIND_OK;
}

enum srcfind_status fits_map_write(const struct cards *header, const struct pixel_source *values,
                                   struct threads *threads, FILE *file, const char *name,
                                   struct error *error) {
    static const char zeros[FITS_BLOCK];
    const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    struct writing w = {.file = fileno(file),
                        .data = header->n * CARD,
                        .swaps = values->swapped == is_big,
                        .name = name};
    const struct chunk_work work = {.work = write_chunk, .context = &w};
    const int64_t end = w.data + values->width * values->height * (int64_t)sizeof(uint32_t);
    const int64_t padding = (FITS_BLOCK - end % FITS_BLOCK) % FITS_BLOCK;
    int code = write_at(w.file, header->text, w.data, 0);
    if (!code)
        code = write_at(w.file, zeros, padding, end);
    return code ? write_error(name, code, error)
                : chunks_run(values, threads, threads_count(threads), &work, error);
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
