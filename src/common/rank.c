#include "common/rank.h"

double value_of_rank(double *values, int64_t n, int64_t rank) {
    int64_t first = 0, last = n - 1;
    while (first < last) {
        const double pivot = values[first + (last - first) / 2];
        int64_t i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j) {
                const double value = values[i];
                values[i++] = values[j];
                values[j--] = value;
            }
        }
        if (rank > j && rank < i)
            return pivot;
        if (rank <= j)
            last = j;
        else
            first = i;
    }
    return values[first];
}
