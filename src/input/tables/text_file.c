#include "input/tables/text_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/arrays.h"
#include "common/utf8.h"
#include "input/fits/file.h"
#include "input/fits/gunzip.h"

/* A catalogue packs to a tenth or a fifth; a file of the same byte, to a thousandth. */
enum { MOST_RATIO = 100, ANY_RATIO_BYTES = 1 << 26, STEP = 1 << 24 };

/* --- bytes --- */

static enum srcfind_status read_plain(struct text_file *text, const struct fits_file *file,
                                      struct error *error) {
    const int64_t size = file->version.size;
    text->bytes = arrays_allocate(size, 1);
    if (!text->bytes)
        return error_memory(error, "reading a catalogue");
    text->text = text->bytes;
    text->size = size;
    return fits_file_read(file, text->bytes, size, 0, error);
}

static enum srcfind_status unpack(struct text_file *text, const struct fits_file *file,
                                  struct error *error) {
    const int64_t packed = file->version.size;
    const int64_t most = packed < INT64_MAX / GUNZIP_MOST_RATIO / 2
                             ? (packed + 1) * GUNZIP_MOST_RATIO - 1
                             : INT64_MAX / 2;
    const int64_t limit = packed < INT64_MAX / MOST_RATIO / 2 ? packed * MOST_RATIO : INT64_MAX / 2;
    const int64_t accepted = limit > ANY_RATIO_BYTES ? limit : ANY_RATIO_BYTES;
    bool reached = true;
    enum srcfind_status status = gunzip_open(&text->gunzip, file->descriptor, packed, error);
    for (int64_t end = STEP; status == SRCFIND_OK && reached; end += STEP) {
        status = gunzip_reach(text->gunzip, file->path, end < most ? end : most, &reached, error);
        if (status == SRCFIND_OK && gunzip_size(text->gunzip) > accepted)
            return error_set(error, SRCFIND_ERROR_INPUT,
                             "%s: unpacks to more than %d times its size: is it a catalogue?",
                             file->path, MOST_RATIO);
    }
    if (status == SRCFIND_OK) {
        text->text = gunzip_data(text->gunzip);
        text->size = gunzip_size(text->gunzip);
    }
    return status;
}

static enum srcfind_status read_bytes(struct text_file *text, const struct fits_file *file,
                                      struct error *error) {
    unsigned char magic[2] = {0};
    enum srcfind_status status = SRCFIND_OK;
    if (file->version.size >= 2)
        status = fits_file_read(file, magic, sizeof magic, 0, error);
    if (status == SRCFIND_OK)
        status = magic[0] == 0x1f && magic[1] == 0x8b ? unpack(text, file, error)
                                                      : read_plain(text, file, error);
    return status == SRCFIND_OK ? fits_file_unchanged(file, &file->version, error) : status;
}

enum srcfind_status text_file_check(const char *text, int64_t size, int64_t line, const char *path,
                                    struct error *error) {
    const char *nul = size > 0 ? memchr(text, '\0', (size_t)size) : NULL;
    if (!nul)
        return SRCFIND_OK;
    for (const char *c = text; c < nul; c++)
        line += *c == '\n';
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: line %lld has a NUL byte: a catalogue is text in ASCII or UTF-8", path,
                     (long long)line);
}

enum srcfind_status text_file_open(struct text_file *text, const char *path, struct error *error) {
    struct fits_file file;
    *text = (struct text_file){.text = ""};
    enum srcfind_status status = fits_file_open_any(&file, path, error);
    if (status == SRCFIND_OK)
        status = read_bytes(text, &file, error);
    fits_file_close(&file);
    return status == SRCFIND_OK ? text_file_check(text->text, text->size, 1, path, error) : status;
}

void text_file_close(struct text_file *text) {
    gunzip_close(text->gunzip);
    free(text->bytes);
    *text = (struct text_file){.text = ""};
}

/* --- messages --- */

const char *text_file_quote(const char *text, size_t length, char *quote) {
    enum { MOST_CHARACTER = 4 }; /* bytes of UTF-8 */
    size_t n = 0, at = 0;
    while (at < length && n + MOST_CHARACTER + sizeof "..." <= TEXT_FILE_QUOTE) {
        char character[MOST_CHARACTER + 1] = "";
        memcpy(character, text + at, length - at < MOST_CHARACTER ? length - at : MOST_CHARACTER);
        const int size = utf8_length((const unsigned char *)character);
        const bool is_plain = size > 1 || (size == 1 && *character >= ' ' && *character != 0x7f);
        memcpy(quote + n, is_plain ? character : "?", is_plain ? (size_t)size : 1);
        n += is_plain ? (size_t)size : 1;
        at += size > 0 ? (size_t)size : 1;
    }
    if (at < length) {
        memcpy(quote + n, "...", 3);
        n += 3;
    }
    quote[n] = '\0';
    return quote;
}
