/* Patterns of keywords with numbers: those of axes, terms and coefficients. */
#ifndef KEYWORD_PATTERN_H
#define KEYWORD_PATTERN_H

#include <stdbool.h>

/* Whether the keyword of a card fits a pattern. In a pattern, # stands for an axis from 1 to n_axes
 * (PC01_02 fits PC#_#, as PC1_2 does), @ for one of three digits, % for a number, and * for digits,
 * letters and blanks up to the end of the keyword. */
bool keyword_fits(const char *card, const char *pattern, int n_axes);

/* Whether it fits one of n patterns. */
bool keyword_fits_one(const char *card, const char *const *patterns, int n, int n_axes);

#endif
