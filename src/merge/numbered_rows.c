#include "merge/numbered_rows.h"

#include <errno.h>
#include <stdlib.h>

#include "srcfind.h"

enum { AT_ONCE = 256 };

static const int64_t ROW = sizeof(struct srcfind_source);

/* Sets row_of[i] to the row with number i + 1, of n rows; *are_numbers is false if the numbers are
 * not 1 to n. False with errno. */
static bool find_numbers(const struct spool *spool, int64_t at, int64_t n, int64_t *row_of,
                         bool *are_numbers) {
    struct srcfind_source rows[AT_ONCE];
    *are_numbers = true;
    for (int64_t i = 0; i < n; i++)
        row_of[i] = -1;
    for (int64_t i = 0; i < n && *are_numbers; i++) {
        const int64_t left = n - i;
        if (i % AT_ONCE == 0 &&
            !spool_read(spool, rows, (size_t)((left < AT_ONCE ? left : AT_ONCE) * ROW),
                        at + i * ROW))
            return false;
        const int64_t id = rows[i % AT_ONCE].id;
        *are_numbers = id >= 1 && id <= n && row_of[id - 1] == -1;
        if (*are_numbers)
            row_of[id - 1] = i;
    }
    return true;
}

/* Copies the rows to another place of the spool, *to, one by one. False with errno. */
static bool copy_rows(struct spool *spool, int64_t from, int64_t n, const int64_t *row_of,
                      int64_t *to) {
    struct srcfind_source rows[AT_ONCE];
    *to = spool_reserve(spool, (size_t)(n * ROW));
    for (int64_t first = 0; first < n; first += AT_ONCE) {
        const int64_t count = n - first < AT_ONCE ? n - first : AT_ONCE;
        for (int64_t i = 0; i < count; i++)
            if (!spool_read(spool, &rows[i], (size_t)ROW, from + row_of[first + i] * ROW))
                return false;
        if (!spool_write(spool, rows, (size_t)(count * ROW), *to + first * ROW))
            return false;
    }
    return true;
}

bool numbered_rows_order(struct spool *spool, int64_t *at, int64_t n) {
    const int64_t from = *at;
    int64_t *row_of = malloc((size_t)n * sizeof *row_of + 1);
    bool are_numbers = false;
    errno = ENOMEM;
    const bool ok = row_of && find_numbers(spool, from, n, row_of, &are_numbers) &&
                    (!are_numbers || copy_rows(spool, from, n, row_of, at));
    free(row_of);
    return ok;
}
