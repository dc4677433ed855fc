#include "measure/lu.h"

#include <stdint.h>

/* The least share of a row's diagonal element that the rows before it leave, for it to be a pivot.
 */
static const double LEAST_PIVOT = 1e-10;

void lu_factorise(int n, double *a, int *same) {
    for (int i = 0; i < n; i++) {
        double *const row = a + (int64_t)i * n;
        const double whole = row[i];
        for (int k = 0; k < i; k++) {
            const double *const other = a + (int64_t)k * n;
            row[k] = same[k] == k ? row[k] / other[k] : 0;
            for (int j = k + 1; same[k] == k && j < n; j++)
                row[j] -= row[k] * other[j];
        }
        if (same[i] == i && !(row[i] > LEAST_PIVOT * whole))
            same[i] = LU_LEFT_OUT;
        for (int k = 0; same[i] != i && k < n; k++)
            row[k] = 0;
    }
}

void lu_solve(int n, const double *a, const int *same, double *x) {
    for (int i = 0; i < n; i++) {
        x[i] = same[i] == i ? x[i] : 0;
        for (int k = 0; k < i; k++)
            x[i] -= a[(int64_t)i * n + k] * x[k];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= a[(int64_t)i * n + k] * x[k];
        x[i] = same[i] == i ? x[i] / a[(int64_t)i * n + i] : 0;
    }
}

void lu_solve_transposed(int n, const double *a, const int *same, double *x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= a[(int64_t)k * n + i] * x[k];
        x[i] = same[i] == i ? x[i] / a[(int64_t)i * n + i] : 0;
    }
    for (int i = n - 1; i >= 0; i--)
        for (int k = i + 1; same[i] == i && k < n; k++)
            x[i] -= a[(int64_t)k * n + i] * x[k];
}
