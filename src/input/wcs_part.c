#include "input/wcs_part.h"

#include <stdlib.h>
#include <threads.h>
#include <wcslib/dis.h>
#include <wcslib/wcs.h>
#include <wcslib/wcserr.h>
#include <wcslib/wcsfix.h>

#include "input/matrix.h"

_Static_assert((int)WCSERR_MEMORY == (int)WCS_PART_MEMORY, "WCSLIB has this status");

int wcs_part_copy(const struct wcsprm *whole, int n, const int *axes, struct wcsprm **part) {
    int wanted[MOST_AXES], n_wanted = n;
    struct wcsprm *copy = calloc(1, sizeof *copy);
    *part = NULL;
    if (!copy)
        return WCSERR_MEMORY;
    copy->flag = -1; /* nothing is to be freed */
    for (int i = 0; i < n; i++)
        wanted[i] = axes[i];
    const int status =
        n > 0 ? wcssub(1, whole, &n_wanted, wanted, copy) : wcssub(1, whole, NULL, NULL, copy);
    if (status == 0)
        *part = copy;
    else
        wcs_part_free(copy);
    return status;
}

int wcs_part_set_up(struct wcsprm *part) {
    int fixes[NWCSFIX];
    if (matrix_is_singular(part))
        return WCSERR_SINGULAR_MTX;
    wcsfix(0, NULL, part, fixes);
    wcs_part_drop_words(part);
    return wcsset(part);
}

/* --- words --- */

/* Whether WCSLIB keeps words is one setting of the process. */
static struct {
    mtx_t lock;
    bool has_lock, was_on;
} words;
static once_flag words_once = ONCE_FLAG_INIT;

static void make_lock(void) {
    words.has_lock = mtx_init(&words.lock, mtx_plain) == thrd_success;
}

static bool words_are_kept(void) {
    struct wcserr *probe = NULL;
    wcserr_set(&probe, WCSERR_BAD_PARAM, __func__, __FILE__, __LINE__, "probe");
    const bool are = probe;
    wcserr_clear(&probe);
    return are;
}

bool wcs_part_begin_words(void) {
    call_once(&words_once, make_lock);
    if (!words.has_lock || mtx_lock(&words.lock) != thrd_success)
        return false;
    words.was_on = words_are_kept();
    wcserr_enable(1);
    return true;
}

void wcs_part_end_words(void) {
    wcserr_enable(words.was_on);
    mtx_unlock(&words.lock);
}

enum { ERRORS = 7 };

/* The structs in which WCSLIB keeps its messages, the most precise first. NULL: the part has none
 * there. */
static void errors_of(struct wcsprm *part, struct wcserr **errors[ERRORS]) {
    errors[0] = part->lin.dispre ? &part->lin.dispre->err : NULL;
    errors[1] = part->lin.disseq ? &part->lin.disseq->err : NULL;
    errors[2] = &part->cel.prj.err;
    errors[3] = &part->cel.err;
    errors[4] = &part->spc.err;
    errors[5] = &part->lin.err;
    errors[6] = &part->err;
}

const char *wcs_part_words(struct wcsprm *part, int status) {
    struct wcserr **errors[ERRORS] = {NULL};
    if (part)
        errors_of(part, errors);
    for (int i = 0; i < ERRORS; i++)
        if (errors[i] && *errors[i] && (*errors[i])->msg)
            return (*errors[i])->msg;
    return wcs_errmsg[status];
}

void wcs_part_drop_words(struct wcsprm *part) {
    struct wcserr **errors[ERRORS];
    errors_of(part, errors);
    for (int i = 0; i < ERRORS; i++)
        if (errors[i])
            wcserr_clear(errors[i]);
}

void wcs_part_free(struct wcsprm *part) {
    if (part) {
        wcs_part_drop_words(part);
        wcsfree(part);
    }
    free(part);
}
