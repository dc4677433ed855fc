/* Amplitudes of fixed shapes, by weighted linear least squares, and their errors. */
#ifndef AMPLITUDES_H
#define AMPLITUDES_H

#include "measure/place_noise.h"
#include "measure/place_sums.h"

/* The factorised sums of a group. */
struct amplitude_system {
    int n;
    double *factors; /* n x n: U and, below its diagonal, L of the sums; it is that of place_sums */
    const double *squares; /* those of place_sums */
    const double *normal;  /* the sums of place_sums before: no amplitude is below 0; or NULL */
    double diagonal[PLACES_A_GROUP]; /* of the sums, before */
    int same[PLACES_A_GROUP]; /* of each member: itself; an earlier member that it cannot be told
                                 from; or -1: it is not fitted */
};

/* Factorises the sums of a group, in place. A member is not fitted if its nearest pixel is blank or
 * has no noise, if no pixel has its shape, or if its shape is a sum of other shapes. A member
 * within two thousandths of a beam of an earlier one of the same shape gets that one's result. */
struct amplitude_system amplitudes_factorise(const struct place_group *group,
                                             const struct place_sums *sums,
                                             const struct place_pixels *known);

/* Sets the errors of the amplitudes of a group, in the noise of the image, and whether they are
 * fitted. `amplitudes` has an element for each place. With N the integrals of w_i g_k, and B those
 * of w_i(x) C(x - y) w_k(y), where C is the correlation of the noise, the errors are the roots of
 * the diagonal of N^-1 B N^-T, times the rms; for a lone point with w = g sqrt(4 / 3) if C is the
 * beam. Few pixels have independent noise: the errors are at least those of independent pixels.
 * An amplitude whose error is above a hundred times that of a lone place on these pixels is
 * uncertain. The same matrix gives the variances of sums. Fits lower the expected sum of squares:
 * each place gets its part of it. */
void amplitudes_errors(const struct place *places, const struct place_group *group,
                       const struct amplitude_system *system, const struct place_noise *of_pairs,
                       const struct place_pixels *known, struct amplitude *amplitudes);

/* From now on no amplitude of a group is below 0: those above 0 solve their equations, and more at
 * one of the others would be above what is left there. Takes the room of the squares, which the
 * errors needed before. */
void amplitudes_hold_positive(struct amplitude_system *system, struct place_sums *sums);

/* Sets the amplitudes of a group, whose errors are set. Subtracts the last amplitudes of the others
 * of its cluster. Returns the largest change of an amplitude, in units of its error. */
double amplitudes_solve(const struct place_group *group, const struct amplitude_system *system,
                        const struct place_sums *sums, const struct place_pixels *known,
                        struct amplitude *amplitudes);

/* Gives members that cannot be told from another one its result, once it no longer changes. */
void amplitudes_share(const struct place_group *group, const struct amplitude_system *system,
                      struct amplitude *amplitudes);

#endif
