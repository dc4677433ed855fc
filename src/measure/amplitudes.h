/* Amplitudes of shapes that are held, by linear least squares, and their errors. */
#ifndef AMPLITUDES_H
#define AMPLITUDES_H

#include "measure/place_sums.h"

/* The factors of a group's sums, which least squares are solved with. */
struct amplitude_system {
    int n;
    double *lower; /* n x n: L and, on its diagonal, D of L D L^T; it is that of place_sums */
    double squares[PLACES_A_GROUP]; /* of each member: the sum of the squares of its shape */
    int same[PLACES_A_GROUP]; /* of each member: itself, one before it that it cannot be told from,
                                 or -1: it is not fitted */
};

/* Factorises the sums of a group, in place. A member is not fitted if its nearest pixel is blank or
 * has no noise, if nothing of its shape is on pixels, or if its shape is the sum of others'. One
 * that is within a thousandth of a beam of another of the same shape has the result of that one. */
struct amplitude_system amplitudes_factorise(const struct place_group *group,
                                             const struct place_sums *sums,
                                             const struct place_pixels *known);

/* Sets the errors of the amplitudes of a group, which are those of the least squares, in noise
 * whose autocorrelation is the beam, and whether they are fitted; `found` has an element for each
 * of all places. With N the integrals of g_i g_k, and B those of g_i(x) C(x - y) g_k(y), the errors
 * are the roots of the diagonal of N^-1 B N^-1, times the rms; for a lone point sqrt(4 / 3). Few
 * pixels have independent noise: the errors are at least those of independent pixels. An amplitude
 * whose error is above a hundred times that of a lone place on these pixels is uncertain. beam: its
 * second moments, pixels^2. The same matrix gives the variances of sums; fits lower the expected
 * sum of squares by the trace of N^-1 B, of which each place has its element. */
void amplitudes_errors(const struct place *places, const struct place_group *group,
                       const struct amplitude_system *system, const struct tensor *beam,
                       const struct place_pixels *known, struct amplitude *amplitudes);

/* Sets the amplitudes of a group; its errors are known. What others of its cluster have, as found
 * before, is subtracted. Returns the largest change of an amplitude, in its errors. */
double amplitudes_solve(const struct place_group *group, const struct amplitude_system *system,
                        const struct place_sums *sums, const struct place_pixels *known,
                        struct amplitude *amplitudes);

/* Gives members that cannot be told from another one its result, once that does not change. */
void amplitudes_share(const struct place_group *group, const struct amplitude_system *system,
                      struct amplitude *amplitudes);

#endif
