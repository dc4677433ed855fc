/* Calls for maps that the command needs beside the public ones. */
#ifndef MAPS_H
#define MAPS_H

#include "common/error.h"

/* Whether a map can be made here, with these options: a picture needs cairo, a model a fit. If not,
 * the reason is in error. */
bool map_is_possible(int map, const struct srcfind_options *options, struct error *error);

/* One line about a map, for help. */
const char *map_about(int map);

/* Makes searches of the finder keep the labels of these maps (1 << i for srcfind_map(i)). Without
 * its labels, a map searches the image again. */
void maps_expect(struct srcfind *finder, unsigned wanted);

/* Saves maps of the image of a catalogue. paths[i]: the path of map srcfind_map(i), or NULL. Sets
 * bit i of *saved if map i was saved, also after an error. */
enum srcfind_status maps_save(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                              char *const *paths, unsigned *saved);

/* Whether a map at this path would replace a file that is no map of srcfind. An empty file may be
 * replaced: a power failure may have left it. Devices and pipes are not read. */
bool map_replaces_other(int map, const char *path);

/* Whether files are complete maps of an image. paths[i]: the path of map srcfind_map(i), or NULL, n
 * in all. A FITS file must have the name of its map, and shape, coordinates, beam, frequency and
 * unit of the image. Only the name is compared if the image cannot be read, or is a gzip file,
 * which would have to be unpacked. */
bool maps_are_whole(char *const *paths, int n, const char *image,
                    const struct srcfind_options *options);

#endif
