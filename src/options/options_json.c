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
    struct shaping_option option;
    for (int i = 0; options_next_shaping(options, &i, &option);)
        json_add(&object, option.name, value_json(option.value, option.is_name));
    return json_end(&object);
}
