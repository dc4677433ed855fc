#include "input/wcs_part.h"

#include <stdlib.h>
#include <wcslib/wcs.h>
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
    return wcsset(part);
}

const char *wcs_part_words(int status) {
    return wcs_errmsg[status];
}

void wcs_part_free(struct wcsprm *part) {
    if (part)
        wcsfree(part);
    free(part);
}
