#include "input/table_facts.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/format_double.h"
#include "input/table_file.h"

static const struct entry {
    struct table_fact shown;
    size_t offset; /* of a number, or of a text of SRCFIND_TEXT characters, in struct table_file */
} entries[] = {
    {{"bunit", "MAPUNIT", true}, offsetof(struct table_file, unit)},
    {{"flux_unit", "FLUXUNIT", true}, offsetof(struct table_file, flux_unit)},
    {{"image_width", "IMWIDTH", false}, offsetof(struct table_file, width)},
    {{"image_height", "IMHEIGHT", false}, offsetof(struct table_file, height)},
    {{"FREQ", NULL, false}, offsetof(struct table_file, frequency)},
    {{"BMAJ", NULL, false}, offsetof(struct table_file, beam.major)},
    {{"BMIN", NULL, false}, offsetof(struct table_file, beam.minor)},
    {{"BPA", NULL, false}, offsetof(struct table_file, beam.angle)},
    {{"RADESYS", NULL, true}, offsetof(struct table_file, frame)},
    {{"EQUINOX", NULL, false}, offsetof(struct table_file, equinox)},
    /* of the path of the image, which is longer */
    {{"image", "IMAGE", true}, 0},
    /* those that are not read back */
    {{"srcfind", "SRCFIND", true}, 0},
    {{"background_median", "BKGMED", false}, 0},
    {{"background_rms", "BKGRMS", false}, 0},
    {{"rms_box_size", "RMSBOX", false}, 0},
    {{"rms_box_step", "RMSSTEP", false}, 0},
    {{"rms_least", "RMSLEAST", false}, 0},
    {{"rms_median", "RMSMED", false}, 0},
    {{"rms_most", "RMSMOST", false}, 0},
};

enum { ENTRIES = sizeof entries / sizeof *entries };

static const struct entry *find_entry(const char *name) {
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(entries[i].shown.name, name) == 0)
            return &entries[i];
    return NULL;
}

const struct table_fact *table_facts_describe(int i) {
    return i < ENTRIES ? &entries[i].shown : NULL;
}

const char *table_facts_keyword(const char *name) {
    const struct entry *e = find_entry(name);
    return e && e->shown.keyword ? e->shown.keyword : name;
}

bool table_facts_set_text(struct table_file *table, const char *name, const char *text) {
    const struct entry *e = find_entry(name);
    if (strcmp(name, "image") == 0) {
        char *path = table->image ? NULL : strdup(text);
        if (path)
            table->image = path;
        return table->image;
    }
    if (e && e->shown.is_text && e->offset)
        snprintf((char *)table + e->offset, SRCFIND_TEXT, "%s", text);
    return true;
}

void table_facts_set_number(struct table_file *table, const char *name, double number) {
    const struct entry *e = find_entry(name);
    if (e && !e->shown.is_text && e->offset)
        memcpy((char *)table + e->offset, &number, sizeof number);
}

bool table_facts_set_option(struct table_file *table, const char *name, const char *value) {
    struct error ignored; /* an option of another version */
    if (!table->options) {
        table->options = malloc(sizeof *table->options);
        if (!table->options)
            return false;
        options_default(table->options);
    }
    options_set(table->options, name, value, &ignored);
    return true;
}

bool table_facts_set_options(struct table_file *table, const char *json, size_t length) {
    cJSON *tree = cJSON_ParseWithLength(json, length);
    bool ok = true;
    for (const cJSON *member = cJSON_IsObject(tree) ? tree->child : NULL; ok && member;
         member = member->next) {
        char number[FORMAT_TEXT];
        if (cJSON_IsNumber(member))
            format_double(member->valuedouble, number);
        if (cJSON_IsNumber(member) || cJSON_IsString(member))
            ok = table_facts_set_option(table, member->string,
                                        cJSON_IsString(member) ? member->valuestring : number);
    }
    cJSON_Delete(tree);
    return ok;
}
