#include "cli/near_options.h"

#include <string.h>

#include "common/ascii.h"

/* Names of other programs, with hyphens. */
static const struct {
    const char *theirs, *ours;
} others[] = {
    /* PyBDSF */
    {"thresh-pix", "threshold"},
    {"thresh-isl", "island"},
    {"minpix-isl", "min-pixels"},
    {"mean-map", "background"},
    {"rms-value", "rms"},
    {"rmsmean-map-filename", "rms-map"},
    {"rmsmean-map-filename-det", "detect-rms-map"},
    {"detection-image", "detect-on"},
    {"group-tol", "group"},
    {"adaptive-rms-box", "local"},
    {"trim-box", "trim"},
    {"collapse-mode", "plane"},
    {"atrous-do", "scales"},
    {"spectralindex-do", "measure-in"},
    {"ncores", "threads"},
    {"outfile", "output"},
    /* Aegean and BANE */
    {"seedclip", "threshold"},
    {"floodclip", "island"},
    {"forcerms", "rms"},
    {"forcebkg", "background"},
    {"noise", "rms-map"},
    {"priorized", "at"},
    {"box", "rms-box"},
    {"grid", "rms-box"},
    {"cores", "threads"},
    {"table", "output"},
    {"outprefix", "output"},
    /* SExtractor */
    {"detect-thresh", "threshold"},
    {"analysis-thresh", "island"},
    {"detect-minarea", "min-pixels"},
    {"deblend-mincont", "contrast"},
    {"back-size", "rms-box"},
    {"weight-image", "rms-map"},
    {"catalog-name", "output"},
    {"catalog-type", "format"},
    /* Selavy */
    {"snrcut", "threshold"},
    {"growthcut", "island"},
    {"minpix", "min-pixels"},
    /* breizorro */
    {"boxsize", "rms-box"},
    {"dilate", "mask-dilate"},
    {"fill-holes", "mask-fill"},
};

static bool is_named(const char *name, const char *given, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (name[i] != (given[i] == '_' ? '-' : ascii_lower(given[i])))
            return false; /* also at the end of the name */
    return !name[length];
}

const char *near_option_of_others(const char *given, size_t length) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is_named(others[i].theirs, given, length))
            return others[i].ours;
    return NULL;
}
