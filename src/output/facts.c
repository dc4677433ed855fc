#include "output/facts.h"

#include <math.h>
#include <string.h>

#include "input/units.h"

const char *facts_unit(const char *unit) {
    static const char *const known[] = {"Jy/beam", "mJy/beam", "uJy/beam", "Jy/pixel", "Jy",
                                        "mJy",     "uJy",      "MJy/sr",   "Jy/sr",    "K",
                                        "mK",      "deg",      "pixel",    "Jy.km/s"};
    double factor;
    if (!unit || !*unit)
        return NULL;
    if (strcmp(unit, "pix") == 0)
        return "pixel";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(unit, known[i]) == 0 || (units_conform(unit, known[i], &factor) && factor == 1))
            return known[i];
    return NULL;
}

int facts_of(const struct srcfind_catalogue *c, struct fact facts[MOST_FACTS]) {
    const struct srcfind_image *image = &c->image;
    const struct srcfind_background *b = &c->background;
    const char *unit = facts_unit(image->unit);
    const struct fact all[MOST_FACTS] = {
        {"srcfind", SRCFIND_VERSION, NAN, NULL},
        {"image", image->path, NAN, NULL},
        {"image_width", NULL, image->width > 0 ? (double)image->width : (double)NAN, "pixel"},
        {"image_height", NULL, image->height > 0 ? (double)image->height : (double)NAN, "pixel"},
        {"bunit", image->unit, NAN, NULL},
        {"flux_unit", image->flux_unit, NAN, NULL},
        {"FREQ", NULL, image->frequency, "Hz"},
        {"BMAJ", NULL, image->beam.major, "deg"},
        {"BMIN", NULL, image->beam.minor, "deg"},
        {"BPA", NULL, image->beam.angle, "deg"},
        {"RADESYS", image->frame, NAN, NULL},
        {"EQUINOX", NULL, image->equinox, NULL},
        {"background_median", NULL, b->median, unit},
        {"background_rms", NULL, b->rms, unit},
        {"rms_box_size", NULL, b->box > 0 ? (double)b->box : (double)NAN, "pixel"},
        {"rms_box_step", NULL, b->box > 0 ? (double)b->step : (double)NAN, "pixel"},
        {"rms_least", NULL, b->box > 0 ? b->rms_least : (double)NAN, unit},
        {"rms_median", NULL, b->box > 0 ? b->rms_median : (double)NAN, unit},
        {"rms_most", NULL, b->box > 0 ? b->rms_most : (double)NAN, unit},
    };
    int n = 0;
    for (int i = 0; i < MOST_FACTS; i++)
        if (all[i].text ? *all[i].text != '\0' : isfinite(all[i].number))
            facts[n++] = all[i];
    return n;
}
