#include "output/catalogue_metadata.h"

#include <math.h>

#include "input/units.h"

static double positive(int64_t number) {
    return number > 0 ? (double)number : (double)NAN;
}

/* A number of local noise; NaN if there is none. */
static double local(const struct srcfind_background *noise, double number) {
    return noise->box > 0 ? number : (double)NAN;
}

/* The area over which noise is correlated; NaN where it is not known. */
static double area_of(const struct srcfind_correlation *correlation) {
    return correlation->values ? correlation->area : (double)NAN;
}

int catalogue_metadata(const struct result *result, struct metadata_item items[MOST_METADATA]) {
    const struct srcfind_image *image = &result->image;
    const struct srcfind_background *noise = &result->background;
    const char *unit = units_vounit(image->unit);
    const struct metadata_item all[] = {
#define METADATA_TEXT(name, keyword, value, member) {name, keyword, value, NAN, NULL},
#define METADATA_PATH METADATA_TEXT
#define METADATA_NUMBER(name, keyword, value, unit, member) {name, keyword, NULL, value, unit},
#include "input/metadata.inc"
    };
    _Static_assert(sizeof all / sizeof *all <= MOST_METADATA, "there is room for all items");
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].text ? *all[i].text != '\0' : isfinite(all[i].number))
            items[n++] = all[i];
    return n;
}
