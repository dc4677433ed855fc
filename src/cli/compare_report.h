/* Compares two catalogues of one image, and writes their differences as text or JSON. */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "srcfind.h"

enum { SIDE_CPU, SIDE_GPU, SIDES };
enum { MOST_FORMATS = 16, STATISTICS = 9, STAGES = 5, MOST_DIFFERENCES = 5, CELL = 64 };

struct statistic {
    const char *name, *key; /* in the report, and in JSON */
    bool is_real;
    double real[SIDES];
    int64_t integer[SIDES];
    bool same; /* all bits are equal */
};

struct stage {
    const char *name;
    double seconds[SIDES];
};

/* A cell that differs in the CSV catalogues; a missing row has empty cells. */
struct difference {
    int64_t row; /* from 1 */
    char column[CELL], cell[SIDES][CELL];
};

/* The catalogues in one format, as in files. */
struct compared_text {
    char *at[SIDES];
    size_t size[SIDES];
};

struct compared_format {
    const char *name;
    size_t size[SIDES]; /* bytes */
    bool same;
};

struct compare_report {
    const struct srcfind_catalogue *catalogue[SIDES];
    bool same; /* all statistics and all formats */
    int n_formats;
    struct compared_format formats[MOST_FORMATS];
    struct statistic statistics[STATISTICS];
    struct stage stages[STAGES];
    double with_transfer[SIDES], without_transfer[SIDES]; /* sum of the stages, in seconds */
    struct difference differences[MOST_DIFFERENCES];      /* the first ones */
    int n_differences;
};

/* Whether catalogues are compared in format i: sky models say less of the same rows, and an image
 * may lack what they need. */
bool compare_report_has_format(int i);

/* Compares the catalogues. text[i] has format srcfind_format(i), if it is compared. The report
 * refers to the catalogues but not to the texts. */
struct compare_report compare_report_make(const struct srcfind_catalogue *const catalogue[SIDES],
                                          const struct compared_text text[MOST_FORMATS]);

/* Returns false where memory ran out. */
bool compare_report_write(const struct compare_report *report, bool as_json, FILE *stream);

#endif
