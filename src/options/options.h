/* The options of a search: the library's part of options.inc. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "common/error.h"
#include "options/path_list.h"

/* In the order of the values in options.inc. */
enum connectivity_choice { CONNECTIVITY_4, CONNECTIVITY_8 };
enum patches_choice { PATCHES_NOT_GIVEN = -1, PATCHES_NONE, PATCHES_SOURCE, PATCHES_ISLAND };
enum shapes_choice { SHAPES_NOT_GIVEN = -1, SHAPES_AUTO, SHAPES_FREE, SHAPES_BEAM };
enum regions_choice { REGIONS_NOT_GIVEN = -1, REGIONS_SEARCH, REGIONS_MASK };
enum sort_choice { SORT_NOT_GIVEN = -1, SORT_FLUX, SORT_SNR, SORT_RA, SORT_DEC };
enum progress_choice { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };
enum duplicates_choice { DUPLICATES_DROP, DUPLICATES_KEEP };

/* A seed that the user has not given: others are 0 or above. */
enum { SEED_NOT_GIVEN = -1 };

/* The device of a search: one of these, or the number of a CUDA device (0, 1, ...). */
enum { DEVICE_AUTO = -1, DEVICE_CPU = -2, DEVICE_ALL = -3 };

enum { OPTIONS_MOST_THREADS = 4096, OPTIONS_TEXT = 512, BOX_LEAST = 8, SCALES_MOST = 8 };

/* Axes: FWHM in arcsec. Position angle: degrees from north through east. */
struct beam_option {
    double major, minor, angle;
};

/* Boxes for local noise, in pixels. */
struct box_option {
    int64_t size, step; /* size 0: not given */
};

/* FWHM of smoothing kernels, in beams, rising. */
struct scales_option {
    int n; /* 0: not given */
    double fwhm[SCALES_MOST];
};

/* Indices, from 1, on axes 3, 4, ... */
struct plane_option {
    int n;
    int64_t index[SRCFIND_MAX_AXES];
    bool where_there_are;          /* of an axis with one plane this is taken */
    int64_t mean_first, mean_last; /* the average of these planes; 0: none; last INT64_MAX: all */
};

/* The columns x0 to x1 and the rows y0 to y1, from 1. */
struct trim_option {
    int64_t x0, x1, y0, y1; /* x0 0: not given */
};

/* Which pixels of a file are searched, and what is known of them. */
struct image_choice {
    char hdu[SRCFIND_TEXT]; /* number or EXTNAME; "": the first image */
    struct plane_option plane;
    struct trim_option trim;
    int64_t trimmed_width, trimmed_height; /* only images of this shape are trimmed; 0: all */
    struct beam_option beam;               /* replaces the header's beam, unless it is NaN */
    double blank;                          /* pixels of this value are blank; NAN: none are */
};

/* The first image of a file, and its first plane. */
struct image_choice image_choice_default(void);

/* How the background and the rms of an image are found. */
struct noise_choice {
    double kappa;      /* clip at median -+ kappa standard deviations */
    double background; /* is subtracted; NAN: the median after the clip */
    double rms;        /* in place of the clip's; 0: not given */
    bool local;        /* local noise, also if rms_box is not given */
    struct box_option rms_box;
};

/* Options own their texts: options_default or options_copy makes options, and options_clear ends
 * them. A plain copy of the struct borrows the texts: it is not to be set or cleared, and must not
 * outlive the options. A text that is not given is "". */
struct options {
    struct image_choice image;
    struct noise_choice noise;
    double threshold; /* detection: value - background > threshold x rms */
    double island;    /* islands extend down to island x rms; 0: to threshold x rms */
    const char *rms_map, *background_map, *mask, *detect_on; /* files, or directories of them */
    const char *detect_rms_map, *detect_background_map;      /* the same, of detect_on's image */
    bool mask_noise;             /* the noise, too, is only of what the regions of `mask` leave */
    int regions_as;              /* enum regions_choice: what they change; not given: the search */
    struct path_list measure_in; /* the same, any number */
    int connectivity;            /* enum connectivity_choice */
    int64_t min_pixels;
    bool negative;         /* sources of the negated image, too */
    int64_t completeness;  /* so many sources of each width are added and searched; 0: not given */
    const char *inject;    /* catalogue of these sources; "": random ones */
    int64_t seed;          /* from 0 on, or SEED_NOT_GIVEN; options_seed() has the default */
    bool deblend, fit;     /* see options_deblend() and options_fit() */
    double contrast;       /* 0: not given; options_contrast() has the default */
    double group;          /* NAN: not given; INFINITY: island; see options_group() */
    int shapes;            /* enum shapes_choice; not given: auto */
    double flux_error;     /* percent of a flux; 0: not given */
    double position_error; /* in FWHM of the beam; 0: not given */
    const char *psf;       /* "measured", or a file, or a directory of files */
    struct scales_option scales;
    const char *at;        /* catalogue of the positions to measure */
    int64_t mask_dilate;   /* radius of the discs that widen the map `mask`, in pixels */
    bool mask_fill;        /* its holes are filled */
    bool at_all;           /* rows of entries outside of the image, too */
    bool at_fixed;         /* entries keep their fluxes, and are a model of the image */
    bool at_positive;      /* no flux at a position is below 0 */
    bool at_search;        /* the image less what is measured is searched for other sources */
    int patches;           /* enum patches_choice: of sky models; not given: none */
    double spectral_index; /* the same; NAN: not given; options_spectral_index() has the default */
    int sort;              /* enum sort_choice: the order of rows; not given: as found */
    int device;            /* DEVICE_AUTO, ..., or a number */
    int threads;           /* of the CPU; 0: all that the process may use */
    int64_t device_memory; /* most bytes of a CUDA device's memory to use; 0: what is free */
};

/* Whether the point-spread function is to be measured; else `psf` is a path, or "". */
bool options_measure_psf(const struct options *options);

/* Sets all options to their defaults. Options that were set before are to be cleared first. */
void options_default(struct options *options);

/* Makes a copy that owns its texts. False where memory ran out: the copy may then lack some. */
bool options_copy(struct options *copy, const struct options *options);

/* Frees the texts. Zeroed options have none. */
void options_clear(struct options *options);

/* Sets an option, by its name without dashes, from a text in the command line's format. The message
 * of an error names the option and the values that it accepts; the options are then unchanged. */
enum srcfind_status options_set(struct options *options, const char *name, const char *value,
                                struct error *error);

/* The same, but a list gets the paths of the text behind those that it has. */
enum srcfind_status options_add(struct options *options, const char *name, const char *value,
                                struct error *error);

/* The same as options_set, from a text that options_get wrote into a file. Nobody may have looked
 * at the file: a path that begins with @ is a path as others, and no list file is opened. */
enum srcfind_status options_restore(struct options *options, const char *name, const char *value,
                                    struct error *error);

/* Sets *sort, an enum sort_choice, from a text of the option sort; NULL: not given. */
enum srcfind_status options_read_sort(const char *text, int *sort, struct error *error);

/* Checks the options against each other. */
enum srcfind_status options_check(const struct options *options, struct error *error);

/* Whether islands are divided into sources, and by how many rms a peak is then above its saddle. */
bool options_deblend(const struct options *options);
double options_contrast(const struct options *options);

/* Whether Gaussians are fitted, and how far apart those of a source may be: see group.h. */
bool options_fit(const struct options *options);
double options_group(const struct options *options);

/* Whether sources are added to the image, to see which of them are found. */
bool options_inject(const struct options *options);

/* The seed of random numbers. */
int64_t options_seed(const struct options *options);

/* The spectral index of sources in sky models, where none was measured. */
double options_spectral_index(const struct options *options);

/* The value of an option, in the format of options_set; "" if it is not set and has no default;
 * NULL if there is no such option. It stands in `text` or belongs to the options. */
const char *options_get(const struct options *options, const char *name, char text[OPTIONS_TEXT]);

/* Writes a plane in the format of options_set; "" if none is chosen. */
void options_print_plane(const struct plane_option *plane, char text[OPTIONS_TEXT]);

/* The i-th of the library's options, in the order of options.inc; NULL after the last. */
const struct srcfind_option *options_describe(int i);

/* An option that shapes the catalogue, and its value as options_get has it. */
struct shaping_option {
    const char *name, *value; /* the value stands in `text` or belongs to the options */
    bool is_name, is_path; /* the value: a name as of an HDU, or a path, is no number or choice */
    char text[OPTIONS_TEXT];
};

/* Writes the first of these from the i-th option on, and sets *i behind it; false if there is none
 * left. */
bool options_next_shaping(const struct options *options, int *i, struct shaping_option *shaping);

/* `values` of a choice are a|b|c. Returns the index of `value` among them, or -1. */
int options_choice(const char *values, const char *value);

/* Writes the values a|b|c of a choice to text, of OPTIONS_TEXT characters, as: a, b or c. */
void options_name_choices(const char *values, char *text);

#endif
