#include "input/wcs_part.h"

#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
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

static void enable_words(void) {
    wcserr_enable(1); /* for the process: else WCSLIB has none */
}

int wcs_part_set_up(struct wcsprm *part, char *words) {
    static once_flag once = ONCE_FLAG_INIT;
    int fixes[NWCSFIX];
    call_once(&once, enable_words);
    wcsfix(0, NULL, part, fixes);
    const int status = wcsset(part);
    if (status != 0)
        snprintf(words, WCS_PART_TEXT, "%s",
                 part->err && part->err->msg ? part->err->msg : wcs_errmsg[status]);
    return status;
}

void wcs_part_free(struct wcsprm *part) {
    if (part)
        wcsfree(part);
    free(part);
}
