#include "input/regions/shared_regions.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "input/fits/file.h"
#include "input/regions/region_file.h"

struct taken_regions {
    struct regions regions;
    char *path;
    struct fits_version version; /* of the file before it was read */
    int n_users;
};

struct shared_regions {
    atomic_int n_shares;
    mtx_t lock;                 /* protects all that follows */
    struct taken_regions *last; /* those read last, of which this is one user; NULL: none */
};

struct shared_regions *shared_regions_create(void) {
    struct shared_regions *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n_shares = 1;
    if (mtx_init(&s->lock, mtx_plain) == thrd_success)
        return s;
    free(s);
    return NULL;
}

struct shared_regions *shared_regions_share(struct shared_regions *s) {
    if (s)
        atomic_fetch_add(&s->n_shares, 1);
    return s;
}

/* Ends one use of regions. The last one frees them. */
static void end_use(struct taken_regions *t) {
    if (!t || --t->n_users > 0)
        return;
    regions_clear(&t->regions);
    free(t->path);
    free(t);
}

void shared_regions_release(struct shared_regions *s) {
    if (!s || atomic_fetch_sub(&s->n_shares, 1) > 1)
        return;
    end_use(s->last);
    mtx_destroy(&s->lock);
    free(s);
}

/* Replaces the regions by those of a file. */
static enum srcfind_status replace(struct shared_regions *s, const char *path,
                                   const struct fits_version *version, struct error *error) {
    struct taken_regions *t = calloc(1, sizeof *t);
    enum srcfind_status status = SRCFIND_OK;
    if (t) {
        t->n_users = 1;
        t->version = *version;
        t->path = strdup(path);
    }
    if (!t || !t->path)
        status = error_memory(error, "reading regions");
    else
        status = region_file_read(path, &t->regions, error);
    if (status != SRCFIND_OK) {
        end_use(t);
        return status;
    }
    end_use(s->last);
    s->last = t;
    return SRCFIND_OK;
}

static enum srcfind_status take_locked(struct shared_regions *s, const char *path,
                                       struct error *error) {
    struct fits_file file;
    const enum srcfind_status status = fits_file_open_any(&file, path, error);
    const struct fits_version version = file.version;
    fits_file_close(&file);
    const bool is_last = status == SRCFIND_OK && s->last && strcmp(s->last->path, path) == 0 &&
                         fits_version_is(&s->last->version, &version);
    return status == SRCFIND_OK && !is_last ? replace(s, path, &version, error) : status;
}

enum srcfind_status shared_regions_take(struct shared_regions *s, const char *path,
                                        struct taken_regions **taken, struct error *error) {
    *taken = NULL;
    mtx_lock(&s->lock); /* other threads wait here while the file is read */
    const enum srcfind_status status = take_locked(s, path, error);
    if (status == SRCFIND_OK) {
        *taken = s->last;
        s->last->n_users++;
    }
    mtx_unlock(&s->lock);
    return status;
}

const struct regions *taken_regions_of(const struct taken_regions *taken) {
    return &taken->regions;
}

void shared_regions_give(struct shared_regions *s, struct taken_regions *taken) {
    mtx_lock(&s->lock);
    end_use(taken);
    mtx_unlock(&s->lock);
}
