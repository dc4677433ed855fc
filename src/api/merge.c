/* The public calls for merging. */
#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "output/catalogue.h"

static const char MERGING[] = "merging catalogues";

struct srcfind_merge {
    struct merge *merge;
    bool is_open; /* it could begin, and is not finished */
    char *path;
    int threads;
    int64_t n; /* catalogues */
    struct srcfind_merge_counts counts;
    struct error error;
};

static enum srcfind_status read_settings(const struct srcfind_merge_settings *given,
                                         struct srcfind_merge_settings *s, int *sort,
                                         struct error *error) {
    *s = (struct srcfind_merge_settings){0};
    memcpy(s, given, given->size < sizeof *s ? given->size : sizeof *s);
    if (!s->path || !*s->path)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "path: the merged catalogue needs a path");
    if (!(s->radius >= 0 && s->radius <= 3600 * 180))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "radius: it is a number of arcseconds, up to 648000; 0 stands for half of "
                         "the beam");
    if (s->threads < 0 || s->threads > OPTIONS_MOST_THREADS)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "threads: their number is up to %d; 0 stands for all",
                         OPTIONS_MOST_THREADS);
    return options_read_sort(s->sort, sort, error);
}

enum srcfind_status srcfind_merge_create(const struct srcfind_merge_settings *settings,
                                         struct srcfind_merge **merge) {
    struct srcfind_merge_settings s;
    int sort;
    struct srcfind_merge *m = *merge = calloc(1, sizeof *m);
    if (!m)
        return SRCFIND_ERROR_MEMORY;
    enum srcfind_status status = read_settings(settings, &s, &sort, &m->error);
    if (status != SRCFIND_OK)
        return status;
    m->path = strdup(s.path);
    m->threads = s.threads > 0 ? s.threads : threads_available();
    if (!m->path)
        return error_memory(&m->error, MERGING);
    const struct merge_options options = {.path = m->path,
                                          .radius = s.radius / 3600,
                                          .keep_duplicates = s.keep_duplicates,
                                          .sort = sort};
    status = merge_create(&options, &m->merge, &m->error);
    m->is_open = status == SRCFIND_OK;
    return status;
}

void srcfind_merge_destroy(struct srcfind_merge *m) {
    if (m) {
        merge_destroy(m->merge);
        free(m->path);
    }
    free(m);
}

/* --- adding --- */

static enum srcfind_status check_open(struct srcfind_merge *m) {
    return m->is_open ? SRCFIND_OK
                      : error_set(&m->error, SRCFIND_ERROR_OPTIONS,
                                  "merging has ended, or could not begin: create another merge");
}

enum srcfind_status srcfind_merge_add(struct srcfind_merge *m,
                                      const struct srcfind_catalogue *catalogue, const char *name) {
    const struct merge_input input = {.result = catalogue->table.of,
                                      .name = name ? name : catalogue->table.of->image.path,
                                      .searched = &catalogue->table.of->options.image.plane,
                                      .knows_image = true,
                                      .knows_options = true};
    enum srcfind_status status = check_open(m);
    if (status == SRCFIND_OK && !*input.name)
        status = error_set(&m->error, SRCFIND_ERROR_OPTIONS,
                           "name: a catalogue of pixels in memory needs a name");
    if (status == SRCFIND_OK)
        status = merge_add(m->merge, m->n, &input, &m->error);
    m->n += status == SRCFIND_OK;
    return status;
}

enum srcfind_status srcfind_merge_add_file(struct srcfind_merge *m, const char *path,
                                           const char *name) {
    enum srcfind_status status = check_open(m);
    if (status == SRCFIND_OK)
        status = merge_add_file(m->merge, m->n, path, name, &m->error);
    m->n += status == SRCFIND_OK;
    return status;
}

/* --- the end --- */

enum srcfind_status srcfind_merge_finish(struct srcfind_merge *m,
                                         const struct srcfind_merge_counts **counts) {
    enum srcfind_status status = check_open(m);
    if (counts)
        *counts = &m->counts;
    if (status != SRCFIND_OK)
        return status;
    m->is_open = false;
    struct threads *threads = threads_create(m->threads);
    status = threads ? merge_finish(m->merge, threads, &m->counts, &m->error)
                     : error_memory(&m->error, MERGING);
    threads_destroy(threads);
    return status;
}

const char *srcfind_merge_message(const struct srcfind_merge *m) {
    return m ? m->error.text : "out of memory";
}
