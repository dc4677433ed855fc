/* Builds JSON with cJSON, and reports if memory runs out: cJSON itself only leaves the value out.
 */
#ifndef JSON_TREE_H
#define JSON_TREE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

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

/* Whether c may follow the first byte of a UTF-8 character. The second byte is limited where the
 * character would otherwise be longer than needed, half of a UTF-16 pair, or above U+10FFFF (RFC
 * 3629, section 4). */
static inline bool json_may_follow(unsigned char first, unsigned char c, bool is_second) {
    const int least = !is_second ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const int most = !is_second ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return c >= least && c <= most;
}

/* The length of the UTF-8 character at c, in bytes; 0 if the bytes are not UTF-8. */
static inline int json_utf8_length(const unsigned char *c) {
    const int n = *c < 0x80                 ? 1
                  : *c >= 0xc2 && *c < 0xe0 ? 2
                  : *c >= 0xe0 && *c < 0xf0 ? 3
                  : *c >= 0xf0 && *c < 0xf5 ? 4
                                            : 0;
    for (int i = 1; i < n; i++)
        if (!json_may_follow(*c, c[i], i == 1))
            return 0;
    return n;
}

/* Replaces bytes that are not UTF-8, which a path may contain, by `?`. */
static inline void json_replace_invalid(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c;) {
        const int n = json_utf8_length(c);
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
