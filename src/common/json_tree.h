/* JSON out of parts, of which none is lost unnoticed: cJSON leaves out what it finds no memory for.
 */
#ifndef JSON_TREE_H
#define JSON_TREE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

struct json_tree {
    cJSON *root;
    bool whole; /* false where memory ran out */
};

static inline struct json_tree json_object(void) {
    cJSON *root = cJSON_CreateObject();
    return (struct json_tree){root, root != NULL};
}

static inline struct json_tree json_array(void) {
    cJSON *root = cJSON_CreateArray();
    return (struct json_tree){root, root != NULL};
}

/* Adds a value to an object under a name, or to an array, which has none (NULL). The value is the
 * tree's from then on; NULL is one that memory ran out for. */
static inline void json_add(struct json_tree *tree, const char *name, cJSON *value) {
    const bool added = value && (name ? cJSON_AddItemToObject(tree->root, name, value)
                                      : cJSON_AddItemToArray(tree->root, value));
    if (!added)
        cJSON_Delete(value);
    tree->whole = tree->whole && added;
}

/* The tree, to be deleted; NULL where it is not whole. */
static inline cJSON *json_end(struct json_tree *tree) {
    if (tree->whole)
        return tree->root;
    cJSON_Delete(tree->root);
    return NULL;
}

/* Writes a tree and deletes it; false where it is NULL or memory runs out. */
static inline bool json_print(cJSON *tree, const char *before, const char *after, FILE *stream) {
    char *text = tree ? cJSON_PrintUnformatted(tree) : NULL;
    if (text)
        fprintf(stream, "%s%s%s", before, text, after);
    cJSON_free(text);
    cJSON_Delete(tree);
    return text != NULL;
}

#endif
