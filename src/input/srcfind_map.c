#include "input/srcfind_map.h"

#include <stdio.h>
#include <string.h>

#include "input/fits/hdu.h"

/* Reads the name of the map from a HISTORY card with the text `srcfind VERSION map: NAME`. */
static bool read_name(const char *card, char name[SRCFIND_MAP_NAME]) {
    static const char program[] = "srcfind ", map[] = " map:";
    char text[CARD + 1];
    memcpy(text, card, CARD);
    text[CARD] = '\0';
    const char *at = text + strlen("HISTORY ");
    at += strspn(at, " ");
    if (strncmp(at, program, strlen(program)) != 0)
        return false;
    at += strlen(program);
    const size_t version = strcspn(at, " ");
    if (version == 0 || strncmp(at + version, map, strlen(map)) != 0)
        return false;
    at += version + strlen(map);
    at += strspn(at, " ");
    snprintf(name, SRCFIND_MAP_NAME, "%.*s", (int)strcspn(at, " "), at);
    return true;
}

bool srcfind_map_name(const struct header *header, char name[SRCFIND_MAP_NAME]) {
    int64_t i = 0;
    for (const char *card; (card = header_next(header, "HISTORY", &i));)
        if (read_name(card, name))
            return true;
    return false;
}

/* Moves to the first image of a file, or to its header in a damaged file. */
static void find_image(struct fits_file *file, struct hdu *hdu) {
    struct error ignored;
    bool found;
    while (hdu_next(file, hdu, &found, &ignored) == SRCFIND_OK && found && !hdu->is_image)
        continue;
}

/* Gzipped files are not read: they would be unpacked twice. */
bool is_srcfind_map(const char *path) {
    struct fits_file file;
    struct hdu hdu = {0};
    struct error ignored;
    char name[SRCFIND_MAP_NAME];
    const bool opened = fits_file_open(&file, path, &ignored) == SRCFIND_OK && !file.gunzip;
    if (opened)
        find_image(&file, &hdu);
    const bool is_map = srcfind_map_name(&hdu.header, name);
    hdu_clear(&hdu);
    fits_file_close(&file);
    return is_map;
}
