#include "cpu/sort.h"

enum { DIGIT = 8, DIGITS = 4, DIGIT_VALUES = 1 << DIGIT };

int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* One pass of a least-significant-digit radix sort. */
static void sort_by_digit(const uint32_t *keys, int64_t n, int digit, uint32_t *sorted) {
    int64_t start[DIGIT_VALUES] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        start[keys[i] >> digit * DIGIT & (DIGIT_VALUES - 1)]++;
    for (int b = 0; b < DIGIT_VALUES; b++) {
        const int64_t count = start[b];
        start[b] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        sorted[start[keys[i] >> digit * DIGIT & (DIGIT_VALUES - 1)]++] = keys[i];
}

void sort_keys(uint32_t *keys, int64_t n, uint32_t *scratch) {
    for (int digit = 0; digit < DIGITS; digit += 2) {
        sort_by_digit(keys, n, digit, scratch);
        sort_by_digit(scratch, n, digit + 1, keys);
    }
}
