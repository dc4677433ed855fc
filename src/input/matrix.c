#include "input/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wcslib/wcs.h>
#include <wcslib/wcstrig.h>

#include "input/units.h"

/* Bits of altlin: which keywords the header has. Where it has PC, WCSLIB ignores CD. */
enum { HAS_PC = 1, HAS_CD = 2, HAS_CROTA = 4 };

static bool is_by_cd(const struct wcsprm *prm) {
    return (prm->altlin & HAS_CD) && !(prm->altlin & HAS_PC);
}

/* --- rows --- */

/* Whether a card is in the row of an axis, from 1: CD2_1, CD02_01, CD002001. */
static bool is_of_row(const char *card, const char *stem, int axis) {
    enum { KEYWORD = 8, STEM = 2 };
    int row, column, length = 0;
    char text[KEYWORD + 1];
    snprintf(text, sizeof text, "%.*s", KEYWORD, card);
    if (strncmp(text, stem, STEM) != 0)
        return false;
    if (sscanf(text + STEM, "%3d_%3d %n", &row, &column, &length) != 2)
        length = sscanf(text + STEM, "%3d%3d", &row, &column) == 2 ? KEYWORD - STEM : 0;
    return length == KEYWORD - STEM && row == axis;
}

static bool has_row(const struct header *header, const char *stem, int axis) {
    for (int64_t i = 0; i < header->n_cards; i++)
        if (is_of_row(header->cards + CARD * i, stem, axis))
            return true;
    return false;
}

/* Writes CROTA of the latitude to PC, if there is no PC, as WCSLIB does. */
static void rotate(struct wcsprm *prm, int lat) {
    const int n = prm->naxis, lon = 1 - lat;
    if (n < 2 || (prm->altlin & HAS_PC) || !(prm->altlin & HAS_CROTA) || prm->crota[lat] == 0 ||
        prm->cdelt[lon] == 0)
        return;
    const double ratio = prm->cdelt[lat] / prm->cdelt[lon];
    prm->pc[lon * n + lon] = prm->pc[lat * n + lat] = cosd(prm->crota[lat]);
    prm->pc[lon * n + lat] = -sind(prm->crota[lat]) * ratio;
    prm->pc[lat * n + lon] = sind(prm->crota[lat]) / ratio;
}

void matrix_complete(const struct header *header, int lat, struct wcsprm *prm) {
    const int n = prm->naxis;
    if (!(prm->altlin & HAS_CD))
        return;
    rotate(prm, lat);
    for (int i = 0; i < n; i++) {
        const bool keeps = has_row(header, "CD", i + 1) && !has_row(header, "PC", i + 1);
        for (int j = 0; j < n && !keeps; j++)
            prm->cd[i * n + j] = prm->cdelt[i] * prm->pc[i * n + j];
    }
    prm->altlin = HAS_CD;
}

bool matrix_has_scales(const struct wcsprm *prm, char *reason) {
    const double *cd = prm->cd;
    for (int i = 0; i < 2; i++, cd += prm->naxis) {
        if (is_by_cd(prm) ? cd[0] == 0 && cd[1] == 0 : prm->cdelt[i] == 0) {
            snprintf(reason, SRCFIND_REASON,
                     is_by_cd(prm) ? "CD%d_1 and CD%d_2 are 0" : "CDELT%d is 0", i + 1, i + 1);
            return false;
        }
    }
    return true;
}

/* --- the inverse --- */

/* Sets n rows to the matrix without its scales. False if a scale is 0. */
static bool take_rows(const struct wcsprm *prm, double rows[MOST_AXES][MOST_AXES]) {
    const double *from = is_by_cd(prm) ? prm->cd : prm->pc;
    const int n = prm->naxis;
    for (int i = 0; i < n; i++) {
        if (!is_by_cd(prm) && prm->cdelt[i] == 0)
            return false;
        memcpy(rows[i], from + i * n, (size_t)n * sizeof *from);
    }
    return true;
}

/* The row of the largest element of a column, from the diagonal on. */
static int pivot_of(double rows[MOST_AXES][MOST_AXES], int n, int column) {
    int best = column;
    for (int i = column + 1; i < n; i++)
        if (fabs(rows[i][column]) > fabs(rows[best][column]))
            best = i;
    return best;
}

bool matrix_is_singular(const struct wcsprm *prm) {
    double rows[MOST_AXES][MOST_AXES] = {0}, row[MOST_AXES];
    const int n = prm->naxis;
    if (n > MOST_AXES || !take_rows(prm, rows))
        return true;
    for (int k = 0; k < n; k++) {
        const int best = pivot_of(rows, n, k);
        memcpy(row, rows[best], sizeof row);
        memcpy(rows[best], rows[k], sizeof row);
        memcpy(rows[k], row, sizeof row);
        if (row[k] == 0)
            return true;
        for (int i = k + 1; i < n; i++) {
            const double share = rows[i][k] / row[k];
            for (int j = k; j < n; j++)
                rows[i][j] -= share * row[j];
        }
    }
    return false;
}

/* --- further axes --- */

bool matrix_mixes_axes(const struct wcsprm *prm) {
    const double *matrix = is_by_cd(prm) ? prm->cd : prm->pc;
    for (int i = 0; i < 2; i++)
        for (int j = 2; j < prm->naxis; j++)
            if (matrix[i * prm->naxis + j] != 0)
                return true;
    return false;
}

void matrix_separate(struct wcsprm *prm) {
    const int n = prm->naxis;
    for (int i = 0; i < 2; i++) {
        for (int j = 2; j < n; j++) {
            prm->pc[i * n + j] = prm->pc[j * n + i] = 0;
            prm->cd[i * n + j] = prm->cd[j * n + i] = 0;
        }
    }
}

/* --- degrees --- */

void matrix_to_degrees(int lat, struct wcsprm *prm) {
    const int n = prm->naxis;
    rotate(prm, lat);
    for (int i = 0; i < n; i++) {
        double factor = 1;
        if (i < 2 && *prm->cunit[i] && units_conform(prm->cunit[i], "deg", &factor))
            snprintf(prm->cunit[i], sizeof prm->cunit[i], "deg");
        for (int j = 0; j < n; j++)
            prm->pc[i * n + j] =
                factor * (is_by_cd(prm) ? prm->cd[i * n + j] : prm->cdelt[i] * prm->pc[i * n + j]);
        prm->crval[i] *= factor;
    }
    for (int i = 0; i < n; i++)
        prm->cdelt[i] = 1;
    prm->altlin = HAS_PC;
}
