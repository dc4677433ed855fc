#include "merge/read_injections.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "input/read_table.h"

/* The columns, and the members of a source that have their values. Found and Area are read apart.
 */
static const struct {
    const char *name;
    size_t offset;
} columns[] = {{"Width", offsetof(struct injection, width)},
               {"SNR", offsetof(struct injection, snr)},
               {"True_flux", offsetof(struct injection, flux)},
               {"Xposn", offsetof(struct injection, x)},
               {"Yposn", offsetof(struct injection, y)},
               {"Flux_ratio", offsetof(struct injection, ratio)},
               {"X_offset", offsetof(struct injection, dx)},
               {"Y_offset", offsetof(struct injection, dy)},
               {"Flux_pull", offsetof(struct injection, flux_pull)},
               {"X_pull", offsetof(struct injection, x_pull)},
               {"Y_pull", offsetof(struct injection, y_pull)}};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Copies the cells. False where a column is missing. */
static bool copy_columns(const struct table_file *table, struct injections *list) {
    const struct table_file_column *found = table_file_column(table, "Found");
    const struct table_file_column *of_area = table_file_column(table, "Area");
    for (int i = 0; i < COLUMNS; i++) {
        const struct table_file_column *from = table_file_column(table, columns[i].name);
        for (int64_t row = 0; from && row < list->n; row++) {
            const double value = table_file_real(from, row);
            memcpy((char *)&list->all[row] + columns[i].offset, &value, sizeof value);
        }
        if (!from)
            return false;
    }
    if (!found || !of_area)
        return false;
    if (table_file_column(table, "Entry_id"))
        list->widths[list->n_widths++] = INJECTION_OF_FILE;
    for (int64_t row = 0; row < list->n; row++) {
        list->all[row].is_added = isfinite(list->all[row].flux);
        list->all[row].is_found = table_file_real(found, row) == 1;
    }
    list->area = list->n > 0 ? table_file_real(of_area, 0) : 1;
    return true;
}

/* Whether the values of a source agree with whether it was added and found. One of a file that was
 * not added has no S/N. */
static bool is_sound(const struct injection *source, bool is_of_file) {
    const bool is_true = source->width > 0 && source->snr > 0;
    const bool is_added = source->is_added && source->flux > 0;
    const bool is_left_out = !source->is_added && !source->is_found;
    return is_of_file ? (is_true && is_added) || is_left_out : is_true && (is_added || is_left_out);
}

/* Whether the sources of a file are sound: they are one width. */
static bool take_file(struct injections *list) {
    list->n_a_width = list->n;
    for (int64_t i = 0; i < list->n; i++)
        if (!is_sound(&list->all[i], true))
            return false;
    return true;
}

/* Finds the widths. False unless they rise, with as many sources of each. */
static bool find_widths(struct injections *list) {
    if (list->n_widths > 0)
        return take_file(list);
    for (int64_t i = 0; i < list->n; i++) {
        const struct injection *source = &list->all[i];
        if (!is_sound(source, false))
            return false;
        if (i > 0 && source->width == source[-1].width)
            continue;
        if (list->n_widths == INJECTION_WIDTHS || (i > 0 && source->width < source[-1].width))
            return false;
        list->widths[list->n_widths++] = source->width;
    }
    list->n_a_width = list->n_widths > 0 ? list->n / list->n_widths : 0;
    for (int64_t i = 0; i < list->n; i++)
        if (list->all[i].width != list->widths[i / list->n_a_width])
            return false;
    return list->n == list->n_a_width * list->n_widths;
}

enum srcfind_status read_injections(const char *path, struct injections *list,
                                    struct error *error) {
    struct table_file table;
    *list = (struct injections){0};
    enum srcfind_status status = read_table(path, NULL, &table, error);
    if (status == SRCFIND_OK) {
        list->n = table.n_rows;
        list->all = calloc((size_t)list->n + 1, sizeof *list->all);
        if (!list->all)
            status = error_memory(error, "reading a list of injected sources");
    }
    if (status == SRCFIND_OK &&
        (!copy_columns(&table, list) || !find_widths(list) || !(list->area > 0)))
        status =
            error_set(error, SRCFIND_ERROR_INPUT,
                      "%s: this is no list of injected sources as srcfind writes it: make it and "
                      "the catalogue beside it again",
                      path);
    if (status != SRCFIND_OK)
        list->n = 0;
    table_file_clear(&table);
    return status;
}
