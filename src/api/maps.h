/* What the command asks of maps beside the public calls. */
#ifndef MAPS_H
#define MAPS_H

#include "common/error.h"

/* Whether a map can be made here, with these options: a picture needs cairo, a model a fit. If not,
 * the reason is in error. */
bool map_is_possible(int map, const struct srcfind_options *options, struct error *error);

/* One line about a map, for help. */
const char *map_about(int map);

/* Makes the finder's searches keep what these maps will need (1 << i for srcfind_map(i)): where
 * they do not, a map searches the image again. */
void maps_expect(struct srcfind *finder, unsigned wanted);

/* Saves maps of a catalogue's image in one pass over its file: paths[i] is that of srcfind_map(i),
 * or NULL. Sets the bits in *saved of those that were saved, also on an error. */
enum srcfind_status maps_save(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                              char *const *paths, unsigned *saved);

/* Whether a map at this path would replace a file that is no map of srcfind. An empty file may be
 * one that a power failure left; devices and pipes are not looked into. */
bool map_replaces_other(int map, const char *path);

/* Whether files are complete maps of an image: paths[i] is that of srcfind_map(i), or NULL, and n
 * their number. FITS files have the map of this name, and shape, coordinates, beam, frequency and
 * unit of the image. These are not compared where the image cannot be read, or is gzipped as a
 * whole, which would have to be unpacked. */
bool maps_are_whole(char *const *paths, int n, const char *image,
                    const struct srcfind_options *options);

#endif
