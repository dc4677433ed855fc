#include "cli/merging.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/finder.h"
#include "cli/exit_status.h"
#include "cli/merged_file.h"
#include "cli/signals.h"
#include "common/plural.h"
#include "input/image.h"
#include "merge/read_catalogue.h"
#include "output/catalogue.h"

struct merging {
    const struct cli *cli;
    const struct targets *targets;
    struct merge *merge;
    atomic_bool has_failed;
    enum srcfind_status status; /* of the first call that failed */
    struct error error;
};

int merging_begin(const struct cli *cli, const struct targets *targets, struct merging **merging) {
    *merging = NULL;
    if (!cli->merge)
        return EXIT_OK;
    struct merging *m = *merging = calloc(1, sizeof *m);
    if (!m)
        return messages_no_memory("merging catalogues");
    m->cli = cli;
    m->targets = targets;
    const struct merge_options options = targets_merge_options(cli, targets);
    const enum srcfind_status status = merge_create(&options, &m->merge, &m->error);
    if (status != SRCFIND_OK)
        messages_usage("%s", m->error.text);
    return exit_status_of(status);
}

void merging_end(struct merging *m) {
    if (m)
        merge_destroy(m->merge);
    free(m);
}

static void add(struct merging *m, int64_t i, const struct merge_input *input) {
    struct error error;
    const enum srcfind_status status = merge_add(m->merge, i, input, &error);
    if (status == SRCFIND_OK || atomic_exchange(&m->has_failed, true))
        return;
    m->status = status;
    m->error = error;
}

void merging_add(struct merging *m, int64_t i, const struct srcfind_catalogue *catalogue) {
    if (!m)
        return;
    const struct merge_input input = {.result = catalogue->table.of,
                                      .name = target_shown(&m->targets->target[i]),
                                      .plane = target_plane_name(&m->targets->target[i]),
                                      .searched = &catalogue->table.of->options.image.plane,
                                      .knows_image = true,
                                      .knows_options = true};
    add(m, i, &input);
}

/* Reads the metadata of an image, for a catalogue that does not have them. */
static enum srcfind_status read_metadata(const char *path, const struct image_choice *choice,
                                         struct srcfind_image *metadata, struct error *error) {
    struct image image;
    image_clear_metadata(metadata);
    const enum srcfind_status status = image_open(&image, path, choice, metadata, error);
    image_close(&image);
    return status;
}

/* Rows of other options may lack columns. */
static enum srcfind_status check_options(const char *path, const struct options *found,
                                         const struct options *o, struct error *error) {
    const bool wants_parts = options_deblend(o) && !*o->at;
    if (options_fit(found) == options_fit(o) &&
        (options_deblend(found) && !*found->at) == wants_parts)
        return SRCFIND_OK;
    return error_set(error, SRCFIND_ERROR_INPUT,
                     "%s: this catalogue was made with other options, and has other columns: "
                     "remove it, or add --report, which searches such images again",
                     path);
}

static enum srcfind_status take_options(const struct options *options, struct read_catalogue *read,
                                        struct error *error) {
    options_clear(&read->result.options);
    read->knows_options = true;
    return options_copy(&read->result.options, options) ? SRCFIND_OK
                                                        : error_memory(error, "merging catalogues");
}

bool merging_add_existing(struct merging *m, int64_t i, const struct srcfind *finder,
                          struct error *error) {
    const struct target *target = &m->targets->target[i];
    struct read_catalogue read;
    struct error why = {""};
    enum srcfind_status status =
        read_catalogue(merge_spool(m->merge), target_catalogue(target), &read, error);
    if (status == SRCFIND_OK)
        status =
            check_options(target_catalogue(target), &read.result.options, &finder->options, error);
    if (status == SRCFIND_OK && m->cli->report) /* it says that the options are those of this run */
        status = take_options(&finder->options, &read, error);
    const char *gaussians = target_path(target, FILE_TABLE, TABLE_GAUSSIANS);
    const char *injections = target_path(target, FILE_TABLE, TABLE_INJECTIONS);
    if (status == SRCFIND_OK && gaussians)
        status = read_catalogue_gaussians(gaussians, &read, error);
    if (status == SRCFIND_OK && injections)
        read_catalogue_injections(injections, &read, &why);
    if (status == SRCFIND_OK && !read.knows_image)
        status = read_metadata(target->image, &finder->options.image, &read.result.image, error);
    const struct merge_input input = {.result = &read.result,
                                      .kept = &read.kept,
                                      .no_injections = *why.text ? why.text : NULL,
                                      .name = target_shown(target),
                                      .plane = target_plane_name(target),
                                      .searched = &finder->options.image.plane,
                                      .entry = read.entry,
                                      .knows_image = true,
                                      .knows_options = read.knows_options};
    if (status == SRCFIND_OK)
        add(m, i, &input);
    read_catalogue_clear(&read);
    return status == SRCFIND_OK;
}

static void say_counts(const struct merging *m, const struct srcfind_merge_counts *counts,
                       struct messages *messages) {
    merged_file_say(messages, m->cli->merge, counts, m->cli->merge_duplicates == DUPLICATES_KEEP,
                    "image", "--beam");
    if (merge_no_completeness(m->merge))
        messages_note(messages, "%s: not written: %s",
                      m->targets->merged_tables[TABLE_COMPLETENESS],
                      merge_no_completeness(m->merge));
    if (m->cli->shard.n > 1)
        messages_note(messages,
                      "%s: it has only the images of shard %lld of %lld: when all shards are done, "
                      "merge with --skip-existing and without --shard",
                      m->cli->merge, (long long)m->cli->shard.k, (long long)m->cli->shard.n);
}

int merging_finish(struct merging *m, bool all_done, struct threads *threads,
                   struct messages *messages) {
    struct srcfind_merge_counts counts;
    if (!m)
        return EXIT_OK;
    progress_clear(&messages->progress);
    if (!all_done) {
        messages_error(messages,
                       "%s: not written, since the run ended before all images were searched",
                       m->cli->merge);
        return EXIT_IMAGE;
    }
    if (!m->has_failed) {
        const bool is_held = signals_hold_for(merged_file_path(m->cli->merge));
        m->status = merge_finish(m->merge, threads, &counts, &m->error);
        if (is_held)
            signals_release();
    }
    if (m->status == SRCFIND_OK) {
        const struct merge_options written = merge_written(m->merge);
        say_counts(m, &counts, messages);
        const struct options *o = &m->cli->find->values;
        merged_file_remove_earlier(&written, (const char *const[]){o->at, o->inject}, messages);
    }
    if (m->status != SRCFIND_OK)
        messages_error(messages, "%s", m->error.text);
    const char *table_error = merge_table_error(m->merge);
    if (table_error)
        messages_error(messages, "%s", table_error);
    return m->status == SRCFIND_OK && !table_error ? EXIT_OK : EXIT_IMAGE;
}
