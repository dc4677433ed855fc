/* The images to search, with their files. */
#ifndef TARGET_H
#define TARGET_H

#include "cli/cli.h"
#include "cli/target_files.h"
#include "input/user_maps.h"
#include "merge/merge.h"
#include "output/products.h"

/* A plane that ranges of --plane give. */
struct target_plane {
    struct plane_option option;
    char *name;    /* 3,1; NULL where it is the only one of its image */
    char *shown;   /* PATH[plane 3,1]; the same */
    char *failure; /* why the image has no such plane; else NULL */
};

/* An image or, of one that is searched in several planes, a plane. */
struct target {
    char *image;
    struct target_plane *plane; /* NULL: that of the options */
    char *name;                 /* of its outputs, without directory and suffix (names.h) */
    struct target_file *files;
    int n_files, files_capacity;
    int64_t bytes; /* approximate size of the pixels; 0 if unknown */
    bool is_done;  /* it is to be skipped: its outputs are there */
};

struct targets {
    struct target *target;
    int64_t n, capacity;
    int64_t n_listed;   /* with the images that other shards take */
    bool several;       /* or there may be several: outputs need a directory */
    bool several_files; /* the same, where planes of one file count as one */
    /* Tables beside the merged catalogue, of Gaussians and of completeness; else NULL. */
    char *merged_tables[TABLES];
    const struct srcfind_format *format;
    const char *columns; /* of catalogues; NULL: all that there are */
    bool to_stdout;      /* the catalogue goes to standard output */
};

/* Those of the merged catalogue, whose texts belong to these. */
struct merge_options targets_merge_options(const struct cli *cli, const struct targets *targets);

void target_clear(struct target *target);
void targets_free(struct targets *targets);

/* Adds a file; the path becomes the target's. False where memory ran out, as also if the path is
 * NULL. */
bool target_add(struct target *target, char *path, enum file_role role, int kind, const char *what);

/* The path of a file; NULL if there is none. */
static inline const char *target_path(const struct target *target, enum file_role role, int kind) {
    return target_files_path(target->files, target->n_files, role, kind);
}

/* NULL: standard output, or none. */
static inline const char *target_catalogue(const struct target *target) {
    return target_path(target, FILE_CATALOGUE, 0);
}

/* What messages and merged catalogues call it. */
static inline const char *target_shown(const struct target *target) {
    return target->plane && target->plane->shown ? target->plane->shown : target->image;
}

/* NULL where it is no plane of several. */
static inline const char *target_plane_name(const struct target *target) {
    return target->plane ? target->plane->name : NULL;
}

/* Why it cannot be searched; NULL: it can. */
static inline const char *target_failure(const struct target *target) {
    return target->plane ? target->plane->failure : NULL;
}

/* The plane that is searched. */
const struct plane_option *target_plane(const struct cli *cli, const struct target *target);

/* Whether the catalogues have a format of tables, which the tables beside them have, too: else
 * these are CSV. */
bool targets_are_tables(const struct targets *targets);

bool targets_are_json(const struct targets *targets);

#endif
