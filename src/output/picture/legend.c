#include "output/picture/legend.h"

#include <stdio.h>

#include "output/picture/marks.h"

static const struct {
    unsigned kind;
    const char *text;
} parts[] = {
    {MARK_FWHM, "twice the FWHM of sources"},
    {MARK_MOMENTS, "twice the FWHM of sources by moments"},
    {MARK_BEAM, "twice the beam, for sources without a shape"},
    {MARK_PIXELS, "around the pixels of sources"},
    {MARK_GAUSSIAN, "thin: FWHM of the Gaussians of a source"},
    {MARK_NOT_FITTED, "dashed: not fitted"},
    {MARK_SCALE, "orange, green, violet: scales"},
    {MARK_NEGATIVE, "blue: negative"},
    {MARK_NUMBER, "numbers: Source_id"},
};

void legend_text(unsigned kinds, char text[LEGEND_TEXT]) {
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (kinds & parts[i].kind)
            n += (size_t)snprintf(text + n, LEGEND_TEXT - n, "%s%s", n == 0 ? "ellipses: " : "; ",
                                  parts[i].text);
}
