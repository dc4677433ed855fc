/* Builds JSON with cJSON, and reports if memory runs out: cJSON itself only leaves the value out.
 */
#ifndef JSON_TREE_H
#define JSON_TREE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/utf8.h"

struct json_tree {
    cJSON *root;
    bool complete; /* false where memory ran out */
};

static inline struct json_tree json_object(void) {
    cJSON *root = cJSON_CreateObject();
    return (struct json_tree){root, root != NULL};
}

static inline struct json_tree json_array(void) {
    cJSON *root = cJSON_CreateArray();
    return (struct json_tree){root, root != NULL};
}

/* Adds a value to an object under a name, or to an array; name is then NULL. The tree takes
 * ownership of the value. value may be NULL, if memory ran out for it. */
static inline void json_add(struct json_tree *tree, const char *name, cJSON *value) {
    const bool added = value && (name ? cJSON_AddItemToObject(tree->root, name, value)
                                      : cJSON_AddItemToArray(tree->root, value));
    if (!added)
        cJSON_Delete(value);
    tree->complete = tree->complete && added;
}

/* Replaces bytes that are not UTF-8, which a path may contain, by `?`. */
static inline void json_replace_invalid(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c;) {
        const int n = utf8_length(c);
        if (n == 0)
            *c = '?';
        c += n > 0 ? n : 1;
    }
}

/* A string. NULL where memory ran out. */
static inline cJSON *json_string(const char *text) {
    cJSON *value = cJSON_CreateString(text);
    if (value)
        json_replace_invalid(value->valuestring);
    return value;
}

/* Returns the tree, which the caller deletes with cJSON_Delete; NULL if it is not complete. */
static inline cJSON *json_end(struct json_tree *tree) {
    if (tree->complete)
        return tree->root;
    cJSON_Delete(tree->root);
    return NULL;
}

/* Writes a tree between two texts, and deletes it. False if the tree is NULL or memory runs out. */
static inline bool json_print(cJSON *tree, const char *before, const char *after, FILE *stream) {
    char *text = tree ? cJSON_PrintUnformatted(tree) : NULL;
    if (text)
        fprintf(stream, "%s%s%s", before, text, after);
    cJSON_free(text);
    cJSON_Delete(tree);
    return text != NULL;
}

#endif
