/* The files of an image: what is written for it, and what is read beside it. */
#ifndef TARGET_FILES_H
#define TARGET_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Outputs come first. BESIDE: what belongs beside a sky model. */
enum file_role { FILE_CATALOGUE, FILE_BESIDE, FILE_MAP, FILE_TABLE, FILE_MEASURED, FILE_USER_MAP };

struct target_file {
    char *path;
    enum file_role role;
    int kind;         /* enum map, enum table_id or enum user_map_kind; else 0 */
    const char *what; /* messages call it so */
};

/* The path of the file of a role and kind; NULL if there is none. */
static inline const char *target_files_path(const struct target_file *files, int n,
                                            enum file_role role, int kind) {
    for (int i = 0; i < n; i++)
        if (files[i].role == role && files[i].kind == kind)
            return files[i].path;
    return NULL;
}

static inline bool target_file_is_output(const struct target_file *file) {
    return file->role <= FILE_TABLE;
}

#endif
