#include "input/wcs_part.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <wcslib/dis.h>
#include <wcslib/wcs.h>
#include <wcslib/wcserr.h>
#include <wcslib/wcsfix.h>

_Static_assert((int)WCSERR_MEMORY == (int)WCS_PART_MEMORY, "WCSLIB has this status");

enum { MOST_AXES = 32 };

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

/* Frees the messages of the structs in a struct: WCSLIB 7.12 forgets their texts. */
static void clear_words(struct wcsprm *part) {
    struct disprm *const distortions[] = {part->lin.dispre, part->lin.disseq};
    struct wcserr **const all[] = {&part->err, &part->lin.err, &part->cel.err, &part->cel.prj.err,
                                   &part->spc.err};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wcserr_clear(all[i]);
    for (size_t i = 0; i < sizeof distortions / sizeof *distortions; i++)
        if (distortions[i])
            wcserr_clear(&distortions[i]->err);
}

static mtx_t words_mutex;
static bool has_mutex;

static void make_mutex(void) {
    has_mutex = mtx_init(&words_mutex, mtx_plain) == thrd_success;
}

/* Takes WCSLIB's words for why it refuses a struct: it refuses it again. WCSLIB has words only
 * while they are enabled, for the whole process, and loses memory to them: so it is for one call.
 */
static void take_words(struct wcsprm *part, int status, char *words) {
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, make_mutex);
    if (has_mutex) {
        mtx_lock(&words_mutex);
        wcserr_enable(1);
        wcsset(part);
        wcserr_enable(0);
        mtx_unlock(&words_mutex);
    }
    snprintf(words, WCS_PART_TEXT, "%s",
             part->err && part->err->msg ? part->err->msg : wcs_errmsg[status]);
    clear_words(part);
}

int wcs_part_set_up(struct wcsprm *part, char *words) {
    int fixes[NWCSFIX];
    wcsfix(0, NULL, part, fixes);
    const int status = wcsset(part);
    if (status != 0 && words)
        take_words(part, status, words);
    return status;
}

void wcs_part_free(struct wcsprm *part) {
    if (part)
        wcsfree(part);
    free(part);
}
