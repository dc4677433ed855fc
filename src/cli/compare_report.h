/* Two catalogues of one image, and what differs between them. */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "srcfind.h"

enum { SIDE_CPU, SIDE_GPU, SIDES };
enum { COMPARED_FORMATS = 2, STATISTICS = 9, STAGES = 5, MOST_DIFFERENCES = 5, CELL = 64 };

struct statistic {
    const char *name;
    bool is_real;
    double real[SIDES];
    int64_t integer[SIDES];
    bool same; /* to the last bit */
};

struct stage {
    const char *name;
    double seconds[SIDES];
};

/* A cell of the CSV catalogue; an absent row has empty cells. */
struct difference {
    int64_t row; /* from 1 */
    char column[CELL], cell[SIDES][CELL];
};

struct comparison {
    const struct srcfind_catalogue *catalogue[SIDES];
    bool same;                            /* all of it */
    size_t size[COMPARED_FORMATS][SIDES]; /* bytes of each catalogue as a file */
    bool same_bytes[COMPARED_FORMATS];    /* by enum srcfind_format */
    struct statistic statistics[STATISTICS];
    struct stage stages[STAGES];
    double with_transfer[SIDES], without_transfer[SIDES]; /* seconds from pixels to sources */
    struct difference differences[MOST_DIFFERENCES];      /* the first ones */
    int n_differences;
};

/* text[format][side]: the catalogues as they are written to files, `size` bytes of each. */
struct comparison comparison_make(const struct srcfind_catalogue *const catalogue[SIDES],
                                  char *const text[COMPARED_FORMATS][SIDES],
                                  const size_t size[COMPARED_FORMATS][SIDES]);

/* Each returns false where memory ran out. */
void comparison_write_text(const struct comparison *comparison, FILE *stream);
bool comparison_write_json(const struct comparison *comparison, FILE *stream);

#endif
