/* Any file as a catalogue: a table, of which every cell is there, or an error with a text of one
 * line; and its positions and fluxes, and its rows as those of srcfind, or the same. The first byte
 * chooses the format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/positions.h"
#include "input/read_table.h"
#include "merge/read_catalogue.h"
#include "target.h"
#include "temporary.h"

static char directory[TEMPORARY_PATH], path[TEMPORARY_PATH + 16];

static void remove_directory(void) {
    rmdir(directory);
}

static void write_file(const uint8_t *data, size_t size) {
    static const char *const suffixes[] = {".csv", ".ecsv", ".json", ".fits", ".vot"};
    if (!*path && (!temporary_directory(directory) || atexit(remove_directory) != 0))
        abort();
    snprintf(path, sizeof path, "%s/a%s", directory, suffixes[data[0] % 5]);
    FILE *stream = fopen(path, "wb");
    if (!stream || fwrite(data + 1, 1, size - 1, stream) != size - 1 || fclose(stream) != 0)
        abort();
}

static void check_error(const struct error *error) {
    if (strncmp(error->text, path, strlen(path)) != 0 || strchr(error->text, '\n'))
        abort();
}

/* Looks at all cells, so that a sanitizer sees those that are not there. */
static void read_cells(const struct table_file *table) {
    static volatile double sum;
    for (int i = 0; i < table->n_columns; i++) {
        const struct table_file_column *column = &table->columns[i];
        sum += (double)strlen(column->name);
        for (int64_t row = 0; row < table->n_rows; row++)
            sum += column->kind == SRCFIND_STRING ? (double)strlen(table_file_text(column, row))
                   : column->kind == SRCFIND_REAL ? column->reals[row]
                                                  : (double)column->integers[row];
        if (!table_file_column(table, column->name))
            abort();
    }
}

static void read_positions(const char *lon, const char *lat) {
    struct positions positions;
    struct error error;
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    if (!shared)
        abort();
    if (positions_read(shared, path, "ICRS", NAN, lon, lat, true, &positions, &error) ==
        SRCFIND_OK) {
        for (int64_t i = 0; i < positions.n; i++)
            if (isinf(positions.x[i]) || isnan(positions.x[i]) != isnan(positions.y[i]))
                abort();
    } else {
        check_error(&error);
    }
    positions_clear(&positions);
    shared_table_release(shared);
}

/* Fluxes are finite or NaN, in numbers that fit the rows. */
static void read_models(void) {
    const struct srcfind_image image = {.frame = "ICRS", .lon_name = "RA", .lat_name = "DEC"};
    const struct flux_units units = {"Jy", "Jy/beam", 1, NAN};
    struct positions positions;
    struct error error;
    struct shared_table *shared = shared_table_create(positions_use, positions_rank);
    if (!shared)
        abort();
    if (positions_read_models(shared, path, &image, &units, &positions, &error) == SRCFIND_OK) {
        for (int64_t i = 0; i < positions.n; i++)
            if (isinf(positions.fluxes[i].total) || isinf(positions.fluxes[i].of_point))
                abort();
    } else {
        check_error(&error);
    }
    positions_clear(&positions);
    shared_table_release(shared);
}

static void check_rows(const struct read_catalogue *read) {
    const int64_t size = sizeof(struct srcfind_source);
    struct srcfind_source row;
    for (int64_t i = 0; i < read->result.sources.n; i++)
        if (!spool_read(read->spool, &row, sizeof row, read->kept.at + i * size) ||
            strlen(row.name) >= sizeof row.name)
            abort();
}

static void read_rows(void) {
    struct spool spool;
    struct read_catalogue read;
    struct error error;
    if (!spool_open(&spool, path))
        abort();
    if (read_catalogue(&spool, path, &read, &error) == SRCFIND_OK)
        check_rows(&read);
    else
        check_error(&error);
    read_catalogue_clear(&read);
    spool_close(&spool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct table_file table;
    struct error error;
    if (size < 1)
        return 0;
    write_file(data, size);
    if (read_table(path, NULL, &table, &error) == SRCFIND_OK)
        read_cells(&table);
    else
        check_error(&error);
    table_file_clear(&table);
    read_positions("RA", "DEC");
    read_positions("GLON", "GLAT");
    read_models();
    read_rows();
    unlink(path);
    return 0;
}
