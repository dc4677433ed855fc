/* Prints a table for test_tables.py: its facts in lines of `name=value`, a blank line, then its
 * columns as CSV with a line of kinds (i, r, t). Or, with four arguments more, positions for an
 * image of this frame and these coordinates. usage: print_table FILE [FRAME LON LAT] */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/positions.h"
#include "input/read_table.h"

static void print_text(const char *text) {
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void print_cell(const struct table_file_column *column, int64_t row) {
    if (column->kind == SRCFIND_STRING)
        print_text(table_file_text(column, row));
    else if (column->kind == SRCFIND_REAL && !isnan(column->reals[row]))
        printf("%.17g", column->reals[row]);
    else if (column->kind == SRCFIND_INTEGER && column->integers[row] != INT64_MIN)
        printf("%" PRId64, column->integers[row]);
}

static void print_table(const struct table_file *table) {
    printf("frame=%s\nimage=%s\nbeam=%.17g,%.17g,%.17g\n\n", table->image.frame,
           table->image.path ? table->image.path : "", table->image.beam.major,
           table->image.beam.minor, table->image.beam.angle);
    for (int64_t row = -2; row < table->n_rows; row++) {
        for (int i = 0; i < table->n_columns; i++) {
            if (row == -2)
                print_text(table->columns[i].name);
            else if (row == -1)
                putchar("irt"[table->columns[i].kind]);
            else
                print_cell(&table->columns[i], row);
            putchar(i + 1 < table->n_columns ? ',' : '\n');
        }
    }
}

static void print_positions(const struct positions *positions) {
    puts(positions->celestial ? "sky" : "pixels");
    for (int64_t i = 0; i < positions->n; i++)
        printf("%" PRId64 ",%.17g,%.17g\n", positions->id[i], positions->x[i], positions->y[i]);
}

int main(int argc, char **argv) {
    struct error error;
    enum srcfind_status status = SRCFIND_ERROR_OPTIONS;
    if (argc == 2) {
        struct table_file table;
        status = read_table(argv[1], NULL, &table, &error);
        if (status == SRCFIND_OK)
            print_table(&table);
        table_file_clear(&table);
    } else if (argc == 5) {
        struct positions positions;
        struct shared_table *shared = shared_table_create(positions_use, positions_rank);
        if (!shared)
            return EXIT_FAILURE;
        status = positions_read(shared, argv[1], argv[2], 2000, argv[3], argv[4], true, &positions,
                                &error);
        if (status == SRCFIND_OK)
            print_positions(&positions);
        positions_clear(&positions);
        shared_table_release(shared);
    }
    if (status != SRCFIND_OK)
        fprintf(stderr, "%s\n", error.text);
    return status == SRCFIND_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
