/* The public calls for options. */
#include "options/options.h"

#include <stdlib.h>

#include "api/finder.h"
#include "input/positions.h"

struct srcfind_options *srcfind_options_create(void) {
    struct srcfind_options *options = calloc(1, sizeof *options);
    if (!options)
        return NULL;
    options_default(&options->values);
    options->at = shared_table_create(positions_use, positions_rank);
    options->inject = shared_table_create(positions_use, positions_rank);
    options->regions = shared_regions_create();
    if (options->at && options->inject && options->regions)
        return options;
    srcfind_options_destroy(options);
    return NULL;
}

struct srcfind_options *srcfind_options_copy(const struct srcfind_options *options) {
    struct srcfind_options *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *options;
    shared_table_share(copy->at);
    shared_table_share(copy->inject);
    shared_regions_share(copy->regions);
    if (options_copy(&copy->values, &options->values))
        return copy;
    srcfind_options_destroy(copy);
    return NULL;
}

void srcfind_options_destroy(struct srcfind_options *options) {
    if (options) {
        shared_table_release(options->at);
        shared_table_release(options->inject);
        shared_regions_release(options->regions);
        options_clear(&options->values);
    }
    free(options);
}

enum srcfind_status srcfind_options_set(struct srcfind_options *options, const char *name,
                                        const char *value) {
    if (!name)
        return error_set(&options->error, SRCFIND_ERROR_OPTIONS, "an option's name is not NULL");
    return options_set(&options->values, name, value, &options->error);
}

int srcfind_options_get(const struct srcfind_options *options, const char *name, char *buffer,
                        size_t size) {
    char text[OPTIONS_TEXT];
    const char *value = name ? options_get(&options->values, name, text) : NULL;
    const int length = snprintf(buffer, size, "%s", value ? value : "");
    return value ? length : -1;
}

enum srcfind_status srcfind_options_check(struct srcfind_options *options) {
    return options_check(&options->values, &options->error);
}

const char *srcfind_options_message(const struct srcfind_options *options) {
    return options ? options->error.text : "out of memory";
}

const struct srcfind_option *srcfind_option(int i) {
    return options_describe(i);
}
