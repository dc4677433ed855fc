/* The options that shape a catalogue, as JSON. */
#ifndef OPTIONS_JSON_H
#define OPTIONS_JSON_H

#include <cjson/cJSON.h>

#include "options/options.h"

/* Returns an object with a member for each option: a number, a text, or null if the option is not
 * set and has no default. The caller deletes it. NULL if memory ran out. */
cJSON *options_json(const struct options *options);

#endif
