/* Unsorted lists of values, for a clip: sums of the values within bounds, and the value at a rank.
 * Passes over the lists, by all threads, take less time than a sort. */
#ifndef VALUES_H
#define VALUES_H

#include "cpu/scan.h"
#include "cpu/sorted_values.h"

/* Finite values, owned by the caller. */
struct values_list {
    const float *values;
    int64_t n;
};

/* The values within [low, high]. */
struct values_range {
    float low, high;
    int64_t before, n; /* the number of values below low; the number within the range */
};

struct values {
    const struct cpu_variant *variant;
    struct threads *threads;
    struct values_list *lists;
    int n_lists;
    int exponent; /* in units of 2^(exponent - 31), most values are integers below 2^31 */
    struct sorted_values inexact; /* the other values that are left */
    struct values_range all;      /* all values */
    struct values_range last;     /* the range that contains the rank that was last asked for */
    struct values_pass *passes;   /* of each list */
    uint32_t *keys;         /* of the values of a narrow range, sorted; and a scratch buffer */
    int64_t n_keys, before; /* number of keys; number of values below them */
};

/* Takes n_lists lists. Their values must be within [low, high], both finite, and outlive `values`,
 * which does not own them. Adds all values to sums, as values_trim does. The caller clears
 * `values`, also after a failure. */
bool values_make(struct values *values, const struct cpu_variant *variant, struct threads *threads,
                 const struct values_list *lists, int n_lists, float low, float high, float below,
                 struct values_sums *sums);
void values_clear(struct values *values);

/* Keeps the values within [low, high], which must lie within the bounds of the last call, adds the
 * values that are left to sums, and counts those of them that are < below in sums->n_below. */
void values_trim(struct values *values, float low, float high, float below,
                 struct values_sums *sums);

/* The i-th smallest (from 0) of all values, trimmed or not; 0 <= i < values->all.n. */
float values_at(struct values *values, int64_t i);

/* Lowers *least and raises *greatest to the extremes of the values within [low, high]. */
void values_extend(const struct values *values, float low, float high, float *least,
                   float *greatest);

#endif
