/* Linear equations of small dense matrices, which need not be symmetric: A = L U. */
#ifndef LU_H
#define LU_H

/* same[i] of a row without a pivot. */
enum { LU_LEFT_OUT = -1 };

/* Factorises the n x n matrix a in place: U on and above the diagonal, and below it L, whose
 * diagonal is 1. A row i with same[i] != i stays out; a row that is a sum of others, so that it has
 * no pivot, gets same[i] = LU_LEFT_OUT. No rows are exchanged: shapes and their weights have the
 * largest elements on the diagonal. */
void lu_factorise(int n, double *a, int *same);

/* Solves L U x = b in place; what stays out becomes 0. */
void lu_solve(int n, const double *a, const int *same, double *x);

/* Solves U^T L^T x = b in place; what stays out becomes 0. */
void lu_solve_transposed(int n, const double *a, const int *same, double *x);

#endif
