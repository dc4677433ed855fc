/* Checks, before an image is read, that no output would replace a file that should stay.
 *
 * All files of the run are listed once: inputs and outputs of all targets, and files of the whole
 * run. Sorted by identity (device and inode), an output that is also an input, or another output by
 * another name, stands beside it; sorted by path, two outputs of one name stand together.
 * conflicts_check_existing then looks into files that outputs would replace: a map replaces only
 * maps of srcfind, a catalogue no FITS file of somebody else.
 *
 * Among several images srcfind skips its own maps, so that their outputs conflict with nothing.
 * Images are opened only where there is a conflict. */
#include "cli/conflicts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/finder.h"
#include "api/maps.h"
#include "cli/exit_status.h"
#include "cli/merged_file.h"
#include "cli/messages.h"
#include "common/arrays.h"
#include "common/path.h"
#include "input/srcfind_map.h"
#include "output/fits_table.h"
#include "output/writer.h"

/* Identifies a file, whatever its path. */
struct identity {
    dev_t device;
    ino_t number;
};

/* A file that is read or written. */
struct use {
    struct identity identity; /* 0 if there is no such file yet */
    const char *path, *image; /* the file, and the image that it belongs to */
    const char *what;         /* "catalogue", "map", "image", "list of images" */
    bool is_output, is_link;
};

struct uses {
    struct use *use;
    int64_t n, capacity;
};

static bool identify(const char *path, struct identity *identity) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *identity = (struct identity){info.st_dev, info.st_ino};
    return true;
}

/* Adds a file, unless its path is NULL. False where memory ran out. */
static bool add_use(struct uses *u, const char *path, const char *image, const char *what,
                    bool is_output) {
    struct stat info;
    struct use use = {.path = path, .image = image, .what = what, .is_output = is_output};
    if (!path)
        return true;
    if (!GROW(u->use, u->capacity, u->n + 1))
        return false;
    identify(path, &use.identity);
    use.is_link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
    u->use[u->n++] = use;
    return true;
}

static bool add_uses(struct uses *u, const struct cli *cli, const struct targets *t) {
    const struct options *o = &cli->find->values;
    const char *at = o->at, *psf = options_measure_psf(o) ? "" : o->psf;
    const struct path_list *measured = &cli->find->values.measure_in;
    bool ok =
        add_use(u, cli->files_from, NULL, "the list of images", false) &&
        add_use(u, *at ? at : NULL, NULL, "the catalogue of --at", false) &&
        add_use(u, *o->inject ? o->inject : NULL, NULL, "the catalogue of --inject", false) &&
        add_use(u, *psf ? psf : NULL, NULL, "the file of --psf", false) &&
        add_use(u, cli->report, NULL, "report", true) &&
        add_use(u, cli->merge ? merged_file_path(cli->merge) : NULL, NULL, "merged catalogue",
                true) &&
        add_use(u, t->merged_tables[TABLE_GAUSSIANS], NULL, "merged table of Gaussians", true) &&
        add_use(u, t->merged_tables[TABLE_COMPLETENESS], NULL, "merged table of completeness",
                true);
    for (int64_t i = 0; ok && i < measured->n_files; i++)
        ok = add_use(u, measured->files[i], NULL, "the list of --measure-in", false);
    for (int64_t i = 0; ok && i < t->n; i++) {
        const struct target *target = &t->target[i];
        ok = add_use(u, target->image, target->image, "an image", false);
        for (int k = 0; ok && k < target->n_files; k++) {
            const struct target_file *file = &target->files[k];
            ok = add_use(u, file->path, target->image, file->what, target_file_is_output(file));
        }
    }
    return ok;
}

/* Outputs come first, then inputs. */
static int by_path(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    return x->is_output != y->is_output ? y->is_output - x->is_output : strcmp(x->path, y->path);
}

/* Files that exist come first; of a file, outputs before inputs. */
static int by_identity(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    if (x->identity.device != y->identity.device)
        return x->identity.device > y->identity.device ? -1 : 1;
    if (x->identity.number != y->identity.number)
        return x->identity.number > y->identity.number ? -1 : 1;
    return y->is_output - x->is_output;
}

/* Two files that conflict: an output, and an input or another output. */
struct conflict {
    const struct use *output, *other;
    bool is_path; /* both are outputs with one path */
};

/* Reports two outputs with one path, of two images, or of an image and of the run. */
static int complain_of_path(const struct use *a, const struct use *b) {
    if (a->image && b->image && strcmp(a->image, b->image) == 0)
        return messages_usage("%s is given twice", a->image);
    return messages_usage("%s and %s would both write %s: %s", a->image ? a->image : a->what,
                          b->image ? b->image : b->what, a->path,
                          a->image && b->image ? "search them in two runs, with two directories"
                                               : "name another file");
}

/* Reports an output that is the same file as an input or another output. */
static int complain_of_file(const struct use *output, const struct use *other) {
    const bool is_other_image =
        other->image == other->path && output->image && strcmp(other->image, output->image) != 0;
    return messages_usage("%s: the %s%s%s would replace %s%s: name another file%s%s", output->path,
                          output->what, output->image ? " of " : "",
                          output->image ? output->image : "", other->is_output ? "the " : "",
                          other->what, output->image ? " or directory with -o" : "",
                          is_other_image ? ", or leave it out of the images" : "");
}

/* Reports a conflict. Returns the exit status. */
static int complain(const struct conflict *c) {
    return c->is_path ? complain_of_path(c->output, c->other)
                      : complain_of_file(c->output, c->other);
}

/* Whether an output would replace another file that exists. An output that is another name of
 * another output, by a hard link, replaces only the name. */
static bool replaces(const struct use *output, const struct use *other) {
    const bool is_one = output->identity.number != 0 &&
                        output->identity.number == other->identity.number &&
                        output->identity.device == other->identity.device;
    return output->is_output && is_one &&
           (!other->is_output ||
            ((output->is_link || other->is_link) && strcmp(output->path, other->path) != 0));
}

/* Finds a conflict, if there is any. */
static bool find_conflict(struct uses *u, struct conflict *c) {
    qsort(u->use, (size_t)u->n, sizeof *u->use, by_identity);
    for (int64_t i = 1; i < u->n; i++) {
        *c = (struct conflict){&u->use[i - 1], &u->use[i], false};
        if (replaces(c->output, c->other))
            return true;
    }
    qsort(u->use, (size_t)u->n, sizeof *u->use, by_path);
    for (int64_t i = 1; i < u->n && u->use[i].is_output; i++) {
        *c = (struct conflict){&u->use[i - 1], &u->use[i], true};
        if (strcmp(c->output->path, c->other->path) == 0)
            return true;
    }
    return false;
}

/* Reports that an output of an image would replace somebody else's file. Returns the exit status.
 */
static int refuse(const char *path, const char *output, const char *image) {
    return messages_usage("%s: the %s of %s would replace this file, which is no %s of srcfind: "
                          "name another file or directory with -o, or remove it",
                          path, output, image, output);
}

/* Whether an image is skipped: among several, srcfind does not search its own maps. */
static bool is_skipped(const struct targets *t, int64_t i) {
    return t->n_listed > 1 && is_srcfind_map(t->target[i].image);
}

/* Whether an output would replace a file of somebody else: a map one that is no map of srcfind; a
 * catalogue a FITS file, as an image that `-o *.fits` names. */
static bool replaces_other(const struct target_file *file) {
    return file->role == FILE_MAP ? map_replaces_other((enum map)file->kind, file->path)
                                  : fits_table_is_foreign(file->path);
}

/* Checks the outputs of all images. Returns the exit status. */
static int check_outputs(const struct targets *t) {
    for (int64_t i = 0; i < t->n; i++) {
        const struct target *target = &t->target[i];
        for (int k = 0; k < target->n_files; k++) {
            const struct target_file *file = &target->files[k];
            if (target_file_is_output(file) && replaces_other(file) && !is_skipped(t, i))
                return refuse(file->path, file->what, target->image);
        }
    }
    return EXIT_OK;
}

/* Leaves out what belongs to the maps of srcfind, which are skipped among several images. */
static void drop_srcfind_maps(struct uses *u) {
    int64_t n = 0;
    for (int64_t i = 0; i < u->n; i++)
        if (!u->use[i].image || !is_srcfind_map(u->use[i].image))
            u->use[n++] = u->use[i];
    u->n = n;
}

/* Images are opened, to see whether srcfind made them, only if there is a conflict. */
int conflicts_check(const struct cli *cli, const struct targets *t) {
    struct uses uses = {0};
    struct conflict conflict;
    const bool ok = add_uses(&uses, cli, t);
    bool found = ok && find_conflict(&uses, &conflict);
    if (found && t->n > 1) {
        drop_srcfind_maps(&uses);
        found = find_conflict(&uses, &conflict);
    }
    const int status = !ok     ? messages_no_memory("comparing the names of files")
                       : found ? complain(&conflict)
                               : EXIT_OK;
    free(uses.use);
    return status;
}

int conflicts_check_existing(const struct cli *cli, const struct targets *t) {
    int status = EXIT_OK;
    if (cli->merge) {
        const struct merge_options options = targets_merge_options(cli, t);
        status = merged_file_check(&options);
    }
    return status == EXIT_OK ? check_outputs(t) : status;
}
