#include "input/shared_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "input/read_table.h"

struct shared_table {
    bool (*is_used)(const char *name);
    int (*rank)(const struct table_file *table, const struct table_wish *wish);
    atomic_int n_shares;
    mtx_t lock;               /* protects all that follows */
    struct taken_table *last; /* the table read last, of which this is one user; NULL: none */
};

struct shared_table *shared_table_create(bool (*is_used)(const char *name),
                                         int (*rank)(const struct table_file *table,
                                                     const struct table_wish *wish)) {
    struct shared_table *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->is_used = is_used;
    s->rank = rank;
    s->n_shares = 1;
    if (mtx_init(&s->lock, mtx_plain) == thrd_success)
        return s;
    free(s);
    return NULL;
}

struct shared_table *shared_table_share(struct shared_table *s) {
    if (s)
        atomic_fetch_add(&s->n_shares, 1);
    return s;
}

/* Ends one use of a table. The last one frees it. */
static void end_use(struct taken_table *t) {
    if (!t || --t->n_users > 0)
        return;
    table_file_clear(&t->table);
    free(t->path);
    free(t->lon);
    free(t->lat);
    free(t);
}

void shared_table_release(struct shared_table *s) {
    if (!s || atomic_fetch_sub(&s->n_shares, 1) > 1)
        return;
    end_use(s->last);
    mtx_destroy(&s->lock);
    free(s);
}

/* Makes a table that is not read yet; NULL where memory ran out. */
static struct taken_table *make_table(const char *path, const struct table_wish *wish,
                                      const struct fits_version *version) {
    struct taken_table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct taken_table){.path = strdup(path),
                              .lon = wish->lon ? strdup(wish->lon) : NULL,
                              .lat = wish->lat ? strdup(wish->lat) : NULL,
                              .version = *version,
                              .n_users = 1};
    if (t->path && !t->lon == !wish->lon && !t->lat == !wish->lat)
        return t;
    end_use(t);
    return NULL;
}

/* Replaces the table by the table of a file. */
static enum srcfind_status replace_table(struct shared_table *s, const char *path,
                                         const struct table_wish *wish,
                                         const struct fits_version *version, struct error *error) {
    struct taken_table *t = make_table(path, wish, version);
    if (!t)
        return error_memory(error, "reading a catalogue");
    const enum srcfind_status status = read_table(path, wish, &t->table, error);
    if (status != SRCFIND_OK) {
        end_use(t);
        return status;
    }
    table_file_keep_cells(&t->table, s->is_used);
    end_use(s->last);
    s->last = t;
    return SRCFIND_OK;
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* Whether no other table of its file would suit a wish better. A table that was chosen for any
 * image is the first that suits this image, if it suits it at all. */
static bool suits(const struct taken_table *t, const struct table_wish *wish) {
    return !t->table.may_have_others ||
           (is_same(t->lon, wish->lon) && is_same(t->lat, wish->lat)) ||
           (!t->lon && wish->rank(&t->table, wish) == TABLE_FILE_BEST);
}

static enum srcfind_status take_locked(struct shared_table *s, const char *path,
                                       const struct table_wish *wish, struct error *error) {
    struct fits_file file;
    enum srcfind_status status = fits_file_open_any(&file, path, error);
    const struct fits_version version = file.version;
    fits_file_close(&file);
    const bool is_last = status == SRCFIND_OK && s->last && strcmp(s->last->path, path) == 0 &&
                         fits_version_is(&s->last->version, &version) && suits(s->last, wish);
    return status == SRCFIND_OK && !is_last ? replace_table(s, path, wish, &version, error)
                                            : status;
}

enum srcfind_status shared_table_take(struct shared_table *s, const char *path, const char *lon,
                                      const char *lat, struct taken_table **taken,
                                      struct error *error) {
    const struct table_wish wish = {.rank = s->rank, .lon = lon, .lat = lat};
    *taken = NULL;
    mtx_lock(&s->lock); /* other threads wait here while the file is read */
    const enum srcfind_status status = take_locked(s, path, &wish, error);
    if (status == SRCFIND_OK) {
        *taken = s->last;
        s->last->n_users++;
    }
    mtx_unlock(&s->lock);
    return status;
}

void shared_table_give(struct shared_table *s, struct taken_table *taken) {
    mtx_lock(&s->lock);
    end_use(taken);
    mtx_unlock(&s->lock);
}
