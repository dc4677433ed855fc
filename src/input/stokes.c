#include "input/stokes.h"

#include <math.h>
#include <stdio.h>

#include "common/ascii.h"

/* The first axis with CTYPE STOKES behind the axes of the plane, from 1; 0: there is none. */
static int find_axis(const struct header *header, int n_axes) {
    for (int axis = 3; axis <= n_axes; axis++) {
        char type[SRCFIND_TEXT];
        if (header_text(header, header_keyword("CTYPE", axis).text, type, sizeof type) &&
            ascii_same(type, "STOKES"))
            return axis;
    }
    return 0;
}

void stokes_of_plane(const struct header *header, const struct srcfind_image *image,
                     char text[STOKES_TEXT]) {
    static const char *const positive[] = {"I", "Q", "U", "V"};
    static const char *const negative[] = {"RR", "LL", "RL", "LR", "XX", "YY", "XY", "YX"};
    double value, pixel = 0, step = 1; /* FITS 4.0, table 22 */
    char matrix[32];
    const int axis = find_axis(header, image->n_axes);
    text[0] = '\0';
    snprintf(matrix, sizeof matrix, "CD%d_%d", axis, axis);
    if (axis == 0 || !header_real(header, header_keyword("CRVAL", axis).text, &value) ||
        !header_optional_real(header, header_keyword("CRPIX", axis).text, &pixel) ||
        !header_optional_real(header, matrix, &step) ||
        !header_optional_real(header, header_keyword("CDELT", axis).text, &step))
        return;
    const double number = round(value + ((double)image->plane[axis - 3] - pixel) * step);
    if (number >= 1 && number <= 4)
        snprintf(text, STOKES_TEXT, "%s", positive[(int)number - 1]);
    else if (number <= -1 && number >= -8)
        snprintf(text, STOKES_TEXT, "%s", negative[(int)-number - 1]);
}
