/* Tables beside a catalogue that are not of its rows: bins of completeness and of reliability, and
 * the sources that were injected for completeness. */
#ifndef BIN_TABLE_H
#define BIN_TABLE_H

struct srcfind_catalogue;
struct bin_rows;

enum bin_table { BINS_COMPLETENESS, BINS_RELIABILITY, BINS_INJECTIONS, BIN_TABLES };

/* A table of a catalogue, which has its options and, but for reliability, the injections.
 * Completeness: of an image, bins of S/N and of flux; of a merged catalogue those of flux alone.
 * The members that are not its rows and columns are those of the catalogue, which must outlive it
 * and owns it. NULL where memory ran out. */
const struct srcfind_catalogue *catalogue_bins(struct srcfind_catalogue *catalogue,
                                               enum bin_table table);

/* rows may be NULL. */
void bin_rows_free(struct bin_rows *rows);

#endif
