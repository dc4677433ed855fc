#include "cli/target.h"

#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "cli/merged_file.h"
#include "common/arrays.h"
#include "output/writer.h"

void target_clear(struct target *target) {
    free(target->image);
    if (target->plane) {
        free(target->plane->name);
        free(target->plane->shown);
        free(target->plane->failure);
    }
    free(target->plane);
    free(target->name);
    for (int i = 0; i < target->n_files; i++)
        free(target->files[i].path);
    free(target->files);
}

bool target_add(struct target *target, char *path, enum file_role role, int kind,
                const char *what) {
    int64_t capacity = target->files_capacity;
    if (!path || !GROW(target->files, capacity, target->n_files + 1)) {
        free(path);
        return false;
    }
    target->files_capacity = (int)capacity;
    target->files[target->n_files++] = (struct target_file){path, role, kind, what};
    return true;
}

bool targets_are_tables(const struct targets *t) {
    return writer_named(t->format->name)->is_table;
}

const struct plane_option *target_plane(const struct cli *cli, const struct target *target) {
    return target->plane ? &target->plane->option : &cli->find->values.image.plane;
}

bool targets_are_json(const struct targets *targets) {
    return strcmp(targets->format->name, "json") == 0;
}

struct merge_options targets_merge_options(const struct cli *cli, const struct targets *t) {
    return (struct merge_options){.path = merged_file_path(cli->merge),
                                  .gaussians = t->merged_tables[TABLE_GAUSSIANS],
                                  .completeness = t->merged_tables[TABLE_COMPLETENESS],
                                  .keep_duplicates = cli->merge_duplicates == DUPLICATES_KEEP,
                                  .sort = cli->find->values.sort};
}

void targets_free(struct targets *t) {
    for (int64_t i = 0; i < t->n; i++)
        target_clear(&t->target[i]);
    free(t->target);
    for (int table = 0; table < TABLES; table++)
        free(t->merged_tables[table]);
    *t = (struct targets){0};
}
