#include "input/own_map.h"

#include <string.h>

#include "input/fits/hdu.h"

/* Whether the text of a HISTORY card is `srcfind VERSION map:` and anything. */
static bool tells_of_map(const char *card) {
    static const char name[] = "srcfind ", kind[] = " map:";
    char text[CARD + 1];
    memcpy(text, card, CARD);
    text[CARD] = '\0';
    const char *at = text + strlen("HISTORY ");
    at += strspn(at, " ");
    if (strncmp(at, name, strlen(name)) != 0)
        return false;
    at += strlen(name);
    const size_t version = strcspn(at, " ");
    return version > 0 && strncmp(at + version, kind, strlen(kind)) == 0;
}

static bool header_tells_of_map(const struct header *header) {
    int64_t i = 0;
    for (const char *card; (card = header_next(header, "HISTORY", &i));)
        if (tells_of_map(card))
            return true;
    return false;
}

/* Goes to the first image of a file, or to what is left of it in a damaged one. */
static void find_image(struct fits_file *file, struct hdu *hdu) {
    struct error ignored;
    bool found;
    while (hdu_next(file, hdu, &found, &ignored) == SRCFIND_OK && found && !hdu->is_image)
        continue;
}

/* A gzipped file is not looked into: it would be unpacked twice. */
bool own_map_is(const char *path) {
    struct fits_file file;
    struct hdu hdu = {0};
    struct error ignored;
    const bool opened = fits_file_open(&file, path, &ignored) == SRCFIND_OK && !file.gunzip;
    if (opened)
        find_image(&file, &hdu);
    const bool is_map = header_tells_of_map(&hdu.header);
    hdu_clear(&hdu);
    fits_file_close(&file);
    return is_map;
}
