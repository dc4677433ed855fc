/* Calls for maps that the command needs beside the public ones. */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>

#include "common/error.h"
#include "options/options.h"
#include "output/products.h"

/* Whether a map can be made here, with these options: a picture needs cairo, a model a fit. If not,
 * the reason is in error. */
bool map_is_possible(enum map map, const struct srcfind_options *options, struct error *error);

/* Makes the finder's searches keep what the wanted maps will need: where it is not kept, a map
 * searches the image again. */
void maps_expect(struct srcfind *finder, const bool wanted[MAPS]);

/* Saves maps of a catalogue's image in one pass over its file. A map whose path is NULL is not
 * saved. Sets `saved` for each map that was saved, also on an error. */
enum srcfind_status maps_save(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                              const char *const paths[MAPS], bool saved[MAPS]);

/* Whether a map at this path would replace a file that is no map of srcfind. An empty file may be
 * one that a power failure left; devices and pipes are not looked into. */
bool map_replaces_other(enum map map, const char *path);

/* Whether the maps whose paths are not NULL are complete maps of an image. FITS files have the map
 * of this name, and shape, coordinates, beam, frequency and unit of the image. These are not
 * compared where the image cannot be read, or is gzipped as a whole, which would have to be
 * unpacked. */
bool maps_are_whole(const char *const paths[MAPS], const char *image,
                    const struct image_choice *choice);

#endif
