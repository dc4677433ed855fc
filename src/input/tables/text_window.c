#include "input/tables/text_window.h"

#include <stdlib.h>
#include <string.h>

#include "input/tables/text_file.h"

enum { WINDOW = 1 << 22, BLOCK = 1 << 18 };

/* Reads behind the text that is there. */
static enum srcfind_status fill(struct text_window *w, int64_t n_kept, int64_t line,
                                struct error *error) {
    const int64_t left = w->file.version.size - w->position, room = WINDOW - n_kept;
    const int64_t n = left < room ? left : room;
    enum srcfind_status status = fits_file_read(&w->file, w->bytes + n_kept, n, w->position, error);
    w->position += n;
    w->text = w->bytes;
    w->end = w->bytes + n_kept + n;
    w->is_last = n == left;
    if (status == SRCFIND_OK)
        status = text_file_check(w->text, w->end - w->text, line, w->file.path, error);
    if (status == SRCFIND_OK && w->is_last)
        status = fits_file_unchanged(&w->file, &w->file.version, error);
    return status;
}

enum srcfind_status text_window_open(struct text_window *w, const char *path, bool *fits,
                                     struct error *error) {
    unsigned char magic[2] = {0};
    *w = (struct text_window){0};
    *fits = false;
    enum srcfind_status status = fits_file_open_any(&w->file, path, error);
    if (status != SRCFIND_OK || w->file.version.size <= WINDOW)
        return status;
    status = fits_file_read(&w->file, magic, sizeof magic, 0, error);
    *fits = status == SRCFIND_OK && !(magic[0] == 0x1f && magic[1] == 0x8b);
    if (!*fits)
        return status;
    w->bytes = malloc(WINDOW);
    return w->bytes ? fill(w, 0, 1, error) : error_memory(error, "reading a catalogue");
}

void text_window_close(struct text_window *w) {
    fits_file_close(&w->file);
    free(w->bytes);
    *w = (struct text_window){.file.descriptor = -1};
}

enum srcfind_status text_window_move(struct text_window *w, const char *at, int64_t line,
                                     struct error *error) {
    const int64_t n_kept = w->end - at;
    memmove(w->bytes, at, (size_t)n_kept);
    return fill(w, n_kept, line, error);
}

enum srcfind_status text_window_count(const struct text_window *w, int64_t *n,
                                      struct error *error) {
    enum srcfind_status status = SRCFIND_OK;
    char *block = malloc(BLOCK);
    *n = 0;
    if (!block)
        return error_memory(error, "reading a catalogue");
    for (int64_t at = 0; status == SRCFIND_OK && at < w->file.version.size; at += BLOCK) {
        const int64_t left = w->file.version.size - at, size = left < BLOCK ? left : BLOCK;
        status = fits_file_read(&w->file, block, size, at, error);
        for (int64_t i = 0; status == SRCFIND_OK && i < size; i++)
            *n += block[i] == '\n' || block[i] == '\r';
    }
    free(block);
    return status;
}
