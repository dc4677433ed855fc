#include "input/table_metadata.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/format_double.h"
#include "common/parse_number.h"
#include "input/table_file.h"

static const struct table_metadata entries[] = {
#define READ(member) offsetof(struct table_file, image.member)
#define UNREAD 0
#define METADATA_TEXT(name, keyword, value, member) {name, keyword, METADATA_IS_TEXT, member},
#define METADATA_PATH(name, keyword, value, member) {name, keyword, METADATA_IS_PATH, member},
#define METADATA_NUMBER(name, keyword, value, unit, member)                                        \
    {name, keyword, METADATA_IS_NUMBER, member},
#include "input/metadata.inc"
};

const struct table_metadata *table_metadata_describe(int i) {
    return i < (int)(sizeof entries / sizeof *entries) ? &entries[i] : NULL;
}

static bool set_entry(struct table_file *table, const struct table_metadata *e, const char *text) {
    void *to = (char *)table + e->offset;
    char **path = to;
    const struct number number = parse_number(text, strlen(text));
    if (e->kind == METADATA_IS_PATH)
        return *path || (*path = strdup(text));
    if (e->kind == METADATA_IS_TEXT)
        snprintf(to, SRCFIND_TEXT, "%s", text);
    else if (number.kind != NUMBER_NONE)
        memcpy(to, &number.real, sizeof number.real);
    return true;
}

bool table_metadata_set(struct table_file *table, const char *name, const char *text) {
    bool ok = true;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (entries[i].offset != UNREAD && strcmp(entries[i].name, name) == 0)
            ok = set_entry(table, &entries[i], text);
    return ok;
}

bool table_metadata_set_option(struct table_file *table, const char *name, const char *value) {
    struct error ignored; /* an option of another version */
    if (!table->options) {
        table->options = malloc(sizeof *table->options);
        if (!table->options)
            return false;
        options_default(table->options);
    }
    return options_restore(table->options, name, value, &ignored) != SRCFIND_ERROR_MEMORY;
}

bool table_metadata_set_options(struct table_file *table, const char *json, size_t length) {
    cJSON *tree = cJSON_ParseWithLength(json, length);
    bool ok = true;
    for (const cJSON *member = cJSON_IsObject(tree) ? tree->child : NULL; ok && member;
         member = member->next) {
        char number[FORMAT_TEXT];
        if (cJSON_IsNumber(member))
            format_double(member->valuedouble, number);
        if (cJSON_IsNumber(member) || cJSON_IsString(member))
            ok = table_metadata_set_option(table, member->string,
                                           cJSON_IsString(member) ? member->valuestring : number);
    }
    cJSON_Delete(tree);
    return ok;
}
