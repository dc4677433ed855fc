#include "options/options_json.h"

#include <string.h>

#include "common/json_tree.h"
#include "common/parse_number.h"

/* A name is a JSON string, even if it looks like a number. */
static cJSON *value_json(const char *text, bool is_name) {
    if (!*text)
        return cJSON_CreateNull();
    const bool is_number = parse_number(text, strlen(text)).kind != NUMBER_NONE;
    return is_name || !is_number ? json_string(text) : cJSON_CreateRaw(text);
}

cJSON *options_json(const struct options *options) {
    struct json_tree object = json_object();
    char text[OPTIONS_TEXT];
    for (int i = 0; options_describe(i); i++) {
        const struct srcfind_option *option = options_describe(i);
        if (!option->shapes_catalogue)
            continue;
        options_get(options, option->name, text);
        json_add(&object, option->name, value_json(text, options_is_name(i)));
    }
    return json_end(&object);
}
