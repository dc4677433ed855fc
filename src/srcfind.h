/* srcfind: finds the sources in a radio-astronomy image.
 *
 * The public header of libsrcfind. The usual order of calls:
 *
 *     struct srcfind_options *options = srcfind_options_create();
 *     struct srcfind *finder = NULL;
 *     struct srcfind_catalogue *catalogue = NULL;
 *     if (srcfind_options_set(options, "threshold", "6") != SRCFIND_OK)
 *         fprintf(stderr, "%s\n", srcfind_options_message(options));
 *     else if (srcfind_create(options, &finder) == SRCFIND_OK &&
 *              srcfind_find_file(finder, "image.fits", &catalogue) == SRCFIND_OK)
 *         printf("%lld sources\n", (long long)srcfind_catalogue_size(catalogue));
 *     else
 *         fprintf(stderr, "%s\n", srcfind_message(finder));
 *     srcfind_catalogue_destroy(catalogue);
 *     srcfind_destroy(finder);
 *     srcfind_options_destroy(options);
 *
 * Threads: several threads may use different finders at the same time, but only one thread at a
 * time may use the same finder. A catalogue belongs to the caller and does not refer to the finder
 * that made it.
 *
 * Binary compatibility: a program that was linked with one version works with the next. Options are
 * set by name, with the texts that the command takes. New members of structs are added at the end.
 * The library allocates these structs: read them through the pointers that the calls below return,
 * and do not copy or index them. A struct that the program fills begins with its own size.
 *
 * The library does not print and does not exit. It changes the process only in this way: it makes
 * threads; it loads CFITSIO for the first compressed file, or when its version is requested; it
 * loads CUDA, and starts it in a separate thread, when a device is to be used.
 *
 * Pixel coordinates are 0-based: the centre of the first pixel is 0. A double that does not apply
 * (no beam, no sky coordinates) is NaN, a text "", an integer SRCFIND_EMPTY.
 */
#ifndef SRCFIND_H
#define SRCFIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SRCFIND_VERSION "0.1.0"

#if defined(__GNUC__)
#define SRCFIND_API __attribute__((visibility("default")))
#else
#define SRCFIND_API
#endif

enum srcfind_status {
    SRCFIND_OK = 0,
    SRCFIND_ERROR_OPTIONS, /* an option or an argument is not valid */
    SRCFIND_ERROR_INPUT,   /* the image cannot be read, or is not an image */
    SRCFIND_ERROR_OUTPUT,  /* the catalogue cannot be written */
    SRCFIND_ERROR_DEVICE,  /* the requested device cannot be used */
    SRCFIND_ERROR_MEMORY,  /* memory ran out */
    SRCFIND_INTERRUPTED,   /* the caller wanted the call to end: srcfind_set_interrupted */
};

enum { SRCFIND_MAX_AXES = 16, SRCFIND_TEXT = 72, SRCFIND_CELL = 32, SRCFIND_REASON = 240 };

/* --- options --- */

/* The options of a search: what to find, in which part of an image, and on which hardware. */
struct srcfind_options;

/* Makes options with their default values, to be destroyed; NULL where memory ran out. */
SRCFIND_API struct srcfind_options *srcfind_options_create(void);

/* A copy, to be destroyed; NULL where memory ran out. */
SRCFIND_API struct srcfind_options *srcfind_options_copy(const struct srcfind_options *options);

/* options may be NULL. */
SRCFIND_API void srcfind_options_destroy(struct srcfind_options *options);

/* Sets an option. Names and values are those of the command's long options (srcfind(1)), for
 * example "threshold" and "5.5", or "device" and "cpu"; an option without a value there (`argument`
 * of srcfind_option is NULL) takes "yes" or "no"; NULL means "yes". For other options a NULL value
 * is an error. A value may have any length. Each call replaces the option's value: "measure-in"
 * takes all files at once, with commas between them, or @LIST, where the file LIST has a path on
 * each line. On an error the option is not changed. */
SRCFIND_API enum srcfind_status srcfind_options_set(struct srcfind_options *options,
                                                    const char *name, const char *value);

/* Writes the value of an option to a buffer of `size` bytes, as a text that srcfind_options_set
 * takes; "" if it is not set and has no default. Returns the length of the value, without the 0 at
 * its end; -1 if there is no such option. As snprintf does: if the length is not below `size`, the
 * buffer has only the first size - 1 bytes of the value; buffer may be NULL if size is 0. */
SRCFIND_API int srcfind_options_get(const struct srcfind_options *options, const char *name,
                                    char *buffer, size_t size);

/* Checks that the options are valid together, as srcfind_create does. */
SRCFIND_API enum srcfind_status srcfind_options_check(struct srcfind_options *options);

/* The message of the last call that did not return SRCFIND_OK: one line, without a newline, which
 * begins with the option's name. The text is valid until the next call with these options. */
SRCFIND_API const char *srcfind_options_message(const struct srcfind_options *options);

struct srcfind_option {
    const char *name,
        *argument;       /* argument: the manual's word for the value; NULL if it has none */
    const char *initial; /* the default; NULL if `help` describes it */
    const char *values;  /* a|b|c: all values, or the common ones; NULL if not listed */
    const char *help;
    bool shapes_catalogue; /* changes the catalogue, not only the device or the speed */
};

/* Option i (from 0), or NULL after the last one. */
SRCFIND_API const struct srcfind_option *srcfind_option(int i);

/* --- finders --- */

/* Finds sources with one set of options. */
struct srcfind;

/* Makes a finder with a copy of the options; NULL stands for the defaults. Also on an error *finder
 * has a message and must be destroyed; it is NULL only where memory ran out. A CUDA device that the
 * options name is opened in the background: the first search reports its errors. With device
 * "auto", each search estimates whether the CPU or the first device would finish this and the
 * following searches sooner, including half a second for the start of the device. It assumes that
 * this run will search as many pixels again as its finders have searched so far, at the same speed.
 * The first search reads the catalogue of the option at, and a later one reads it again if the file
 * has changed. Finders with the same options, or with copies of them, share it. A limit of the
 * stack below 512 KiB (RLIMIT_STACK) is an error, since threads have the same limit. */
SRCFIND_API enum srcfind_status srcfind_create(const struct srcfind_options *options,
                                               struct srcfind **finder);

/* finder may be NULL. */
SRCFIND_API void srcfind_destroy(struct srcfind *finder);

/* Makes n finders (1 or more) that work at the same time, each in a thread of the caller. They
 * share the threads, of which each finder has at least one, and the memory of a device. On an error
 * finders[0] has the message, and all finders must be destroyed; a finder for which memory ran out
 * is NULL. */
SRCFIND_API enum srcfind_status srcfind_create_many(const struct srcfind_options *options, int n,
                                                    struct srcfind **finders);

/* The number of CPUs that the process may use, which is the default number of threads: by its
 * affinity (taskset, cpusets) and, rounded up, by the quotas of CPU time of its cgroups, as
 * containers have them. */
SRCFIND_API int srcfind_available_threads(void);

/* True if the finder has a CUDA device that can be used. Starts the device and waits until it is
 * ready. False after an error that has left the device unusable. */
SRCFIND_API bool srcfind_device_is_usable(struct srcfind *finder);

/* Lets calls of this finder end early. While it searches an image, makes a map or measures the
 * speed, the library calls interrupted(user) at most every 50 ms: between chunks of pixels, fits,
 * planes, scales and trials of completeness, and between the stages of a device. It does so from
 * the thread that made the call, and from no other. Once the answer is true, the call ends soon
 * with SRCFIND_INTERRUPTED, as after an error: without a result, and without unfinished files. The
 * finder may be used again. `interrupted` must not use the finder. NULL: calls end by themselves,
 * as those of a new finder do. */
SRCFIND_API void srcfind_set_interrupted(struct srcfind *finder, bool (*interrupted)(void *user),
                                         void *user);

/* The message of the last call that did not return SRCFIND_OK: one line, without a newline. finder
 * may be NULL. The text belongs to the finder and is valid until its next call. */
SRCFIND_API const char *srcfind_message(const struct srcfind *finder);

/* --- searches --- */

/* The sources of an image, its metadata, and the noise. */
struct srcfind_catalogue;

/* Finds the sources of an image in a FITS file. path is a plain path: CFITSIO's extended file names
 * are not supported. The catalogue is to be destroyed by the caller; it is NULL on an error. It is
 * an error if the file changes during the search. */
SRCFIND_API enum srcfind_status srcfind_find_file(struct srcfind *finder, const char *path,
                                                  struct srcfind_catalogue **catalogue);

/* Pixels in memory, and their header. Set all members that are not used to 0. */
struct srcfind_pixels {
    size_t size;         /* sizeof(struct srcfind_pixels) */
    const float *values; /* values[y * row_stride + x]; not modified */
    int64_t width, height;
    int64_t row_stride; /* in pixels; 0 means width */
    bool swapped;       /* the values do not have the byte order of this machine */
    /* FITS cards of 80 characters each, without separators, as astropy's Header.tostring() and
     * WCS.to_header_string() write them. Coordinates, unit (BUNIT), beam (BMAJ, BMIN, BPA) and
     * frequency are read from these cards, as from the header of a file; the shape is not. NULL if
     * there is no header; the options may give a beam. */
    const char *header;
};

/* The same for pixels in memory. The option hdu is not used; plane gives only the position on the
 * further axes of the header, and the mean of planes is an error. The options mask, rms-map,
 * background-map, detect-on, detect-rms-map and detect-background-map name files, as for images in
 * files, but no directories. */
SRCFIND_API enum srcfind_status srcfind_find_pixels(struct srcfind *finder,
                                                    const struct srcfind_pixels *pixels,
                                                    struct srcfind_catalogue **catalogue);

/* The same for pixels in the memory of a CUDA device: the device that the finder's options name, or
 * the first one for "auto" and "all". stream is a cudaStream_t; NULL is the default stream. The
 * pixels are read after the work that is in the stream now. Returns when the catalogue is complete.
 * The options mask, rms-map, background-map, detect-on and completeness are an error. */
SRCFIND_API enum srcfind_status srcfind_find_device_pixels(struct srcfind *finder,
                                                           const struct srcfind_pixels *pixels,
                                                           void *stream,
                                                           struct srcfind_catalogue **catalogue);

/* --- catalogues --- */

/* catalogue may be NULL. */
SRCFIND_API void srcfind_catalogue_destroy(struct srcfind_catalogue *catalogue);

/* The number of sources. */
SRCFIND_API int64_t srcfind_catalogue_size(const struct srcfind_catalogue *catalogue);

/* How many of them are negative: the last ones, with the option negative; else 0. */
SRCFIND_API int64_t srcfind_catalogue_negatives(const struct srcfind_catalogue *catalogue);

/* An integer that does not apply, such as x_peak of a source without pixels. */
#define SRCFIND_EMPTY INT64_MIN

/* A row of the catalogue; srcfind(1) describes every column. x_peak, y_peak, n_pixels, the
 * bounding box and n_gaussians may be SRCFIND_EMPTY with the options fit and at. */
struct srcfind_source {
    int64_t id, island_id;
    char name[SRCFIND_CELL];
    double lon, lat, e_lon, e_lat;           /* degrees */
    double x, y, e_x, e_y;                   /* pixels */
    double isl_total_flux, e_isl_total_flux; /* Jy */
    double total_flux, e_total_flux;         /* Jy */
    double peak_flux, e_peak_flux;           /* map unit */
    int64_t x_peak, y_peak;
    double pixel_sum; /* map unit */
    int64_t n_pixels, x_min, x_max, y_min, y_max;
    double major, minor, angle; /* degrees */
    double isl_rms, isl_mean;   /* map unit */
    double snr;
    int64_t flags;
    char s_code[8];                            /* with the option deblend: "S", "C" or "M" */
    int64_t gaussian_id;                       /* of a row of a Gaussian: its number; else 0 */
    int64_t n_gaussians;                       /* with the option fit, from here on */
    double lon_max, lat_max;                   /* degrees; where the highest value is */
    double e_major, e_minor, e_angle;          /* degrees */
    double dc_major, dc_minor, dc_angle;       /* degrees */
    double e_dc_major, e_dc_minor, e_dc_angle; /* degrees */
    double resid_isl_rms, resid_isl_mean;      /* map unit */
    double chi2, dof; /* of the fit: chi squared per degree of freedom; degrees of freedom */
    double chi2_sum;  /* the sum of (residual / rms)^2 over the pixels of the fit. In no column. */
    /* The size in pixels, not deconvolved: FWHM, and the angle of the major axis from the y axis
     * against the clock. If the source has no shape, the beam. In no column. */
    double pixel_major, pixel_minor, pixel_angle;
    double pix_snr;       /* with the option fit */
    double hole;          /* with the option fit: rms */
    double e_total_shape; /* with the option fit: Jy */
    double blend;         /* with the options at and fit */
    double scale; /* with the option scales: FWHM of the kernel, in beams; 0 for the image */
    char entry_id[SRCFIND_CELL]; /* with the option at: the identifier of its entry; else "" */
    double spectral_index, e_spectral_index; /* with the option measure-in, from here on */
    double reference_frequency;              /* Hz */
    double reference_flux;                   /* Jy */
    /* The highest pixel, less the background; NaN where the row has no pixels. In no column. */
    double pixel_peak;
    double scale_background; /* of a row of a scale: below it, in map units. In no column. */
};

enum srcfind_flags {
    SRCFIND_FLAG_EDGE = 1,             /* touches the image's edge or a blank pixel */
    SRCFIND_FLAG_SINGLE_PIXEL = 2,     /* is one pixel */
    SRCFIND_FLAG_NO_BEAM = 4,          /* no beam: fluxes are in map unit x pixels */
    SRCFIND_FLAG_NO_SHAPE = 8,         /* too few pixels for a size: Maj, Min, PA are empty */
    SRCFIND_FLAG_UNCERTAIN_TOTAL = 16, /* Total_flux is uncertain by more than half of itself */
    SRCFIND_FLAG_NEGATIVE = 32,        /* is below the background: its fluxes are negative */
    SRCFIND_FLAG_NOT_FITTED = 64,      /* no Gaussian could be fitted: it has its moments */
    SRCFIND_FLAG_BEAM_SHAPE = 128,     /* was fitted with the shape of the beam */
    SRCFIND_FLAG_DUPLICATE = 256,      /* another image has it better; for merged catalogues */
    SRCFIND_FLAG_OUTSIDE = 512,        /* a position outside of the image, or on a blank pixel */
    SRCFIND_FLAG_NARROW = 1024,        /* its Gaussian is narrower than the beam */
    SRCFIND_FLAG_ARTEFACT = 2048,      /* may be an artefact of a brighter source near it */
};

/* Source i, 0 <= i < srcfind_catalogue_size(). */
SRCFIND_API const struct srcfind_source *
srcfind_catalogue_source(const struct srcfind_catalogue *catalogue, int64_t i);

/* The Gaussians of a catalogue of the option fit, which is not one of the option at: a catalogue of
 * the same image with a row for each Gaussian, in the order of the sources, and one with its
 * moments for each source that is not fitted. `id` is that of the source. All calls that take a
 * const catalogue take it, but for maps and merges. It belongs to the catalogue, and is made by the
 * first call; one thread at a time may make it. NULL without a fit, or where memory ran out. */
SRCFIND_API const struct srcfind_catalogue *
srcfind_catalogue_gaussians(struct srcfind_catalogue *catalogue);

/* The islands of a catalogue that is not one of the option at: a catalogue of the same image with a
 * row for each island that has sources; srcfind(1) describes its columns. As for the table of
 * planes below, rows are read by columns. NULL with the option at, or where memory ran out. */
SRCFIND_API const struct srcfind_catalogue *
srcfind_catalogue_islands(struct srcfind_catalogue *catalogue);

/* The pairs of rows of a catalogue of the options at and fit whose errors have a correlation of
 * more than 0.1, of either sign: a catalogue of the same image with a row for each pair; srcfind(1)
 * describes its columns. Rows are read by columns. NULL without these options, or where memory ran
 * out. */
SRCFIND_API const struct srcfind_catalogue *
srcfind_catalogue_covariance(struct srcfind_catalogue *catalogue);

/* What the sources have in each plane of the images of the option measure-in: a catalogue of the
 * same image with a row for each source and plane, source by source; srcfind(1) describes its
 * columns. All calls that take a const catalogue take it, but for maps and merges, and
 * srcfind_catalogue_source: its rows are read by columns. It belongs to the catalogue, and is made
 * by the first call; one thread at a time may make it. NULL without the option, or where memory ran
 * out. */
SRCFIND_API const struct srcfind_catalogue *
srcfind_catalogue_planes(struct srcfind_catalogue *catalogue);

/* The path of the image of row i of that table, whose column Image has only its first characters.
 */
SRCFIND_API const char *srcfind_catalogue_row_image(const struct srcfind_catalogue *planes,
                                                    int64_t i);

/* How complete the catalogue is, with the option completeness or inject, and how reliable, with the
 * option negative: catalogues of the same image with a row for each bin; srcfind(1) describes their
 * columns. As for the table of planes, rows are read by columns. NULL without the option, or where
 * memory ran out. */
SRCFIND_API const struct srcfind_catalogue *
srcfind_catalogue_completeness(struct srcfind_catalogue *catalogue);
SRCFIND_API const struct srcfind_catalogue *
srcfind_catalogue_reliability(struct srcfind_catalogue *catalogue);

/* What the cells of a column are: int64_t, double, or a text of less than SRCFIND_CELL characters.
 */
enum srcfind_kind { SRCFIND_INTEGER, SRCFIND_REAL, SRCFIND_STRING };

/* A column of the catalogue. unit is NULL if there is none. */
struct srcfind_column {
    const char *name, *unit, *ucd, *description;
    enum srcfind_kind kind;
    const char *vounit; /* the unit in the spelling of VOUnit (IVOA 2014); NULL if it has none */
};

/* Column i (from 0), or NULL after the last one. Names and units depend on the image; which columns
 * there are, on the options deblend, fit, at, scales and measure-in. */
SRCFIND_API const struct srcfind_column *
srcfind_catalogue_column(const struct srcfind_catalogue *catalogue, int i);

/* Makes a table of the same rows with other columns: those of a list, as the option --columns of
 * the command has it, with new names and units ("RA=ra,Total_flux:mJy=flux", "@aegean"). All calls
 * that take a const catalogue take it, but for maps and merges, and it is written as csv, json,
 * votable, fits or ecsv. It belongs to the catalogue, and lasts until the next call.
 * SRCFIND_ERROR_OPTIONS for a list that is wrong, or for a unit that a column does not have. */
SRCFIND_API enum srcfind_status srcfind_catalogue_select(struct srcfind *finder,
                                                         struct srcfind_catalogue *catalogue,
                                                         const char *columns,
                                                         const struct srcfind_catalogue **table);

/* Copies column i, which there must be, to an array of int64_t, double or char[SRCFIND_CELL], by
 * its kind, with an element for each source. A real that does not apply is NaN, a text "", an
 * integer SRCFIND_EMPTY. What follows a text in its element is 0; a longer text, as the path of an
 * image or a constant of srcfind_catalogue_select, is cut to SRCFIND_CELL - 1 bytes. */
SRCFIND_API void srcfind_catalogue_cells(const struct srcfind_catalogue *catalogue, int i,
                                         void *cells);

/* A restoring beam: FWHM of the axes, and the position angle from north through east. All are in
 * degrees; all are NaN if no beam is known. */
struct srcfind_beam {
    double major, minor, angle;
};

/* The metadata of an image, from its header. */
struct srcfind_image {
    char *path; /* as given; "" for pixels in memory */
    /* Of what is searched: the image, or the part that the option trim chooses, whose first pixel
     * is (first_x, first_y) of the image, from 0. */
    int64_t width, height, first_x, first_y;
    int hdu; /* 0 is the primary HDU; -1 for pixels in memory */
    char hdu_name[SRCFIND_TEXT];
    int n_axes;
    int64_t axes[SRCFIND_MAX_AXES];  /* of the whole image */
    int64_t plane[SRCFIND_MAX_AXES]; /* 1-based, of axes 3, 4, ... (plane[0] is axis 3's) */
    int bitpix;
    char compression[SRCFIND_TEXT]; /* RICE_1, GZIP_1, ..., gzip for a whole file; "" if none */
    char unit[SRCFIND_TEXT];        /* BUNIT as in the header */
    char flux_unit[SRCFIND_TEXT];   /* of Total_flux: Jy, or Jy km/s, if BUNIT can be converted */
    char frame[SRCFIND_TEXT];       /* ICRS, FK5, FK4, GALACTIC, ...; "" without sky coordinates */
    double equinox;                 /* years, for FK5 and FK4 */
    char lon_name[8], lat_name[8];  /* RA and DEC, GLON and GLAT, ... */
    double pixel_area;              /* square degrees, at the reference pixel */
    double frequency;               /* Hz */
    struct srcfind_beam beam;
    const char *beam_source; /* "option", "keywords", "history", "table" or "" */
    double beam_pixels;      /* beam area: pi BMAJ BMIN / (4 ln 2 pixel_area) */
    bool beam_is_turned; /* the major axis was given as the smaller one, and both were exchanged */
    bool beam_row_is_missing; /* no beam: a BEAMS table has no usable row of the plane */
    /* The beam of the plane in a BEAMS table, if the keywords or the history have another beam,
     * which is used; 0 if the table has no beam for the plane; else NaN. */
    struct srcfind_beam row_beam;
    /* Why the sky coordinates of the header cannot be used, and how to correct the header; "" if
     * they can be used, or if there are none. */
    char no_sky[SRCFIND_REASON];
    /* Which axis should give the frequency but does not, and how to correct it; "" if the frequency
     * is known, or if there is no such axis. */
    char no_frequency[SRCFIND_REASON];
    /* Which distortions of the header are left out, and what this does to positions; "" if none. */
    char distortion[SRCFIND_REASON];
    /* DATE-OBS as in the header, if it is a date of FITS, else MJD-OBS as ISO 8601; TELESCOP;
     * OBJECT. "" if not known. */
    char date_obs[SRCFIND_TEXT], telescope[SRCFIND_TEXT], object[SRCFIND_TEXT];
};

SRCFIND_API const struct srcfind_image *
srcfind_catalogue_image(const struct srcfind_catalogue *catalogue);

/* The result of the kappa-sigma clip. min, max, mean and n_kept are those of the pixels that the
 * clip kept. If the last round would keep no pixel (a constant image has rms 0), the values are
 * those before this round, and empty is true: nothing can be detected. */
struct srcfind_background {
    double median, rms, mean, min, max;
    int64_t n_pixels, n_blank, n_kept;
    int rounds;
    bool empty;
    /* Local noise: the boxes, in pixels, and the least, the median and the greatest rms of the
     * nodes. box is 0, and the others too, if there is one noise for the whole image. */
    int64_t box, step;
    double rms_least, rms_median, rms_most;
    /* What was left out of the boxes: the number of bright wide islands, and the share of the
     * image's pixels in them or near them. */
    int64_t islands_excluded;
    double share_excluded;
};

SRCFIND_API const struct srcfind_background *
srcfind_catalogue_background(const struct srcfind_catalogue *catalogue);

/* The autocorrelation of the noise, from which errors follow; with the option fit, else all is 0.
 */
struct srcfind_correlation {
    bool measured;    /* measured in the image; else the autocorrelation of the beam or, without a
                         beam, of independent pixels */
    int64_t n_pixels; /* whose pairs were measured */
    double area;      /* over which noise is correlated, pixels: the sum over all offsets */
    double beam_area; /* the same area for noise with the correlation of the beam */
    double step_x, step_y; /* from a value to the next one, pixels */
    int64_t n_x, n_y; /* numbers of values; the one in the middle is that of a pixel with itself */
    const double *values; /* row by row; 0 beyond two FWHM. They belong to the catalogue. */
};

SRCFIND_API const struct srcfind_correlation *
srcfind_catalogue_correlation(const struct srcfind_catalogue *catalogue);

/* Figures that tell whether the options suit the image. Figures of pixels come from a sample of
 * some ten thousand pixels, the same on every backend; they are NaN for pixels in the memory of a
 * device. */
struct srcfind_quality {
    double zeros; /* share of the pixels that are exactly 0, as the padding of a mosaic */
    /* The 10th and the 90th percentile of the rms from place to place: over cells that are at least
     * 15 beams and 48 pixels wide. NaN if the image has too few of them. */
    double rms_p10, rms_p90;
    double single_pixel, edge; /* share of the sources with this flag; NaN without a source */
    double beam_pixels;        /* FWHM of the beam's minor axis, in pixels */
    double edge_or_single;     /* share of the sources with one of these flags, or both */
    /* With the option fit: the share of sources narrower than the beam (by their flag), and the
     * share of sources with resid_isl_rms above 2 isl_rms; else NaN. */
    double narrow, high_residual;
    /* Of local noise: the 10th and the 90th percentile of the background; else NaN. */
    double background_p10, background_p90;
    /* With the option scales: the widest scale, in beams, that was left out because its kernel is
     * wider than half of the image's shorter side; NaN if none was. */
    double widest_left_out;
    /* With the option scales and local noise: about the flux in the background that is in no row
     * (above the image's median, where the background differs from it by more than half an rms; 0
     * for a slope); and the flux of all fitted positive rows. Else NaN. */
    double unmeasured, measured;
    /* With the option fit and a beam: the number of the positive sources that may be artefacts, by
     * their flag; else NaN. */
    double artefacts;
    /* With the option fit and a beam: area of points / area of the beam, in the middle of the image
     * and on average at its edges, and the number of isolated bright sources behind these values;
     * NaN if there are none. */
    int64_t psf_points;
    double psf_middle, psf_edges;
};

SRCFIND_API const struct srcfind_quality *
srcfind_catalogue_quality(const struct srcfind_catalogue *catalogue);

/* Note i (from 0): what looks wrong in the image or its sources, and which option helps. The
 * command prints the same note behind the image's path. One line; NULL after the last one. */
SRCFIND_API const char *srcfind_catalogue_note(const struct srcfind_catalogue *catalogue, int i);

/* How the image was searched. */
struct srcfind_run {
    const char *backend;       /* "cpu" or "cuda" */
    char device[SRCFIND_TEXT]; /* name of the GPU; "" for the CPU */
    char reason[256];          /* why this backend was chosen */
    int threads;
};

SRCFIND_API const struct srcfind_run *
srcfind_catalogue_run(const struct srcfind_catalogue *catalogue);

/* Elapsed time of each stage, in seconds. */
struct srcfind_timings {
    double open;
    double start;    /* waiting for a device to be ready */
    double transfer; /* reading the pixels and copying them to a device; 0 if the scan reads them */
    double scan, clip, islands, measure;
    const char *clip_method; /* the method of the clip: "one read", "histogram", ... */
    double smooth;           /* with the option scales */
    double planes;           /* with the option measure-in */
    double completeness;     /* with that option: all searches for added sources */
    double correlation;      /* the autocorrelation of the noise, for the errors of fits */
    double artefacts;        /* rows of fits that may be artefacts */
    double psf;              /* the point-spread function, by rows of fits */
    double describe;         /* the noise, quality and notes */
};

SRCFIND_API const struct srcfind_timings *
srcfind_catalogue_timings(const struct srcfind_catalogue *catalogue);

/* --- writing --- */

struct srcfind_format {
    const char *name;
    const char *const *suffixes; /* with the dot, the usual one first; NULL after the last */
};

/* Format i (from 0), or NULL after the last one. The first one is the default. */
SRCFIND_API const struct srcfind_format *srcfind_format(int i);

/* The format whose suffix a path has, in letters of any case; NULL if none has. */
SRCFIND_API const struct srcfind_format *srcfind_format_of(const char *path);

/* Writes a catalogue to a stream and flushes it. format is a name, in letters of any case; NULL
 * stands for the default. ds9 and bbs are names of reg and skymodel, too. Sky models (skymodel,
 * sagecal) need a catalogue of the option fit; if the image lacks what they need (see srcfind(1)),
 * this is SRCFIND_ERROR_INPUT. sagecal is only for files. */
SRCFIND_API enum srcfind_status srcfind_catalogue_write(struct srcfind *finder,
                                                        const struct srcfind_catalogue *catalogue,
                                                        const char *format, FILE *stream);

/* Writes a catalogue to a file: to a temporary file in the same directory, which is then renamed,
 * so that a reader never sees an incomplete catalogue. On an error the temporary file is removed,
 * and an existing file is not changed. A FITS file that is no catalogue of srcfind, such as an
 * image, is not replaced: this is an error. Devices and pipes are written to directly. Before a
 * catalogue of the format sagecal, its list of clusters is saved beside it: STEM.cluster. */
SRCFIND_API enum srcfind_status srcfind_catalogue_save(struct srcfind *finder,
                                                       const struct srcfind_catalogue *catalogue,
                                                       const char *format, const char *path);

/* --- merging --- */

/* Merges the catalogues of many images into one, with one row for a source that several images
 * have, as the command does with --merge, and as srcfind-merge does. Their manuals describe the
 * rows. Merged tables of Gaussians are the commands' alone.  struct srcfind_merge_settings settings
 * = {.size = sizeof settings, .path = "survey.fits"}; const struct srcfind_merge_counts *counts; if
 * (srcfind_merge_create(&settings, &merge) == SRCFIND_OK && srcfind_merge_add_file(merge,
 * "night1.json", NULL) == SRCFIND_OK && srcfind_merge_add(merge, catalogue, NULL) == SRCFIND_OK &&
 * srcfind_merge_finish(merge, &counts) == SRCFIND_OK) printf("%lld sources\n", (long
 * long)counts->rows); else fprintf(stderr, "%s\n", srcfind_merge_message(merge));
 * srcfind_merge_destroy(merge);  Only one thread at a time may use a merge. */
struct srcfind_merge;

/* How catalogues are merged. Set all members that are not used to 0. */
struct srcfind_merge_settings {
    size_t size; /* sizeof(struct srcfind_merge_settings) */
    /* Of the merged catalogue, with its suffix: csv (also without one), json, vot, fits, ecsv. */
    const char *path;
    /* Rows of different images within so many arcseconds are one source; 0: within half of the
     * major axis of the larger beam of the two images. */
    double radius;
    bool keep_duplicates; /* keep the worse rows of a source, with SRCFIND_FLAG_DUPLICATE */
    int threads;          /* that write; 0: all CPUs that the process may use */
    const char *sort;     /* order of the rows, as --sort has it: flux, snr, ra, dec; NULL: that of
                             the catalogues, and in each that of Source_id */
};

/* Begins a merged catalogue with a copy of the settings. Rows wait in a file without a name in the
 * directory of the path. It is an error if the path is a FITS file that is no catalogue of srcfind,
 * or if this file is added later. Also on an error *merge has a message and must be destroyed; it
 * is NULL only where memory ran out. */
SRCFIND_API enum srcfind_status srcfind_merge_create(const struct srcfind_merge_settings *settings,
                                                     struct srcfind_merge **merge);

/* Forgets the merged catalogue, unless it is finished. merge may be NULL. */
SRCFIND_API void srcfind_merge_destroy(struct srcfind_merge *merge);

/* Adds the rows of a catalogue, which may be destroyed then. The merged catalogue has the rows in
 * the order of these calls, unless the settings have another order. name is the text in the column
 * Image; NULL means the path of the image, which pixels in memory do not have. After an error the
 * merge is as before the call: others may be added. */
SRCFIND_API enum srcfind_status srcfind_merge_add(struct srcfind_merge *merge,
                                                  const struct srcfind_catalogue *catalogue,
                                                  const char *name);

/* The same for a catalogue in a file that srcfind wrote as csv, ecsv, json, fits or votable, also
 * .gz. A CSV file has no beam, so it needs settings.radius. name NULL means the path of the image,
 * if the file has it and no other file has the same; else the path of the file. */
SRCFIND_API enum srcfind_status srcfind_merge_add_file(struct srcfind_merge *merge,
                                                       const char *path, const char *name);

/* What became of the rows. */
struct srcfind_merge_counts {
    int64_t images, rows; /* of the merged catalogue */
    int64_t duplicates;   /* rows that were left out or marked */
    int64_t artefacts;    /* positive rows with SRCFIND_FLAG_ARTEFACT, of the merged catalogue */
    int64_t
        without_beam; /* images without a beam, whose duplicates are not found; 0 with a radius */
    int64_t without_sky; /* images without sky coordinates, whose duplicates are not found */
    const char *first_without_beam, *first_without_sky; /* the first of these; NULL: none */
};

/* Finds the duplicates and writes the merged catalogue, whole or not at all, as
 * srcfind_catalogue_save does. Errors: nothing was added; images of different units, frames
 * or columns; images whose beam is not known; writing. The merge can then only be destroyed.
 * *counts belongs to it; counts may be NULL. */
SRCFIND_API enum srcfind_status srcfind_merge_finish(struct srcfind_merge *merge,
                                                     const struct srcfind_merge_counts **counts);

/* The message of the last call that did not return SRCFIND_OK: one line, without a newline. merge
 * may be NULL. The text belongs to the merge and is valid until its next call. */
SRCFIND_API const char *srcfind_merge_message(const struct srcfind_merge *merge);

/* --- maps --- */

/* The name of map i (from 0), or NULL after the last one:
 *   rms, background    of each pixel
 *   snr                (value - background) / rms
 *   islands            the Isl_id of each pixel, or 0
 *   sources            its Source_id, or 0; needs the option deblend or fit
 *   model              the sum of the Gaussians; needs the option fit or at-fixed
 *   residual           value - background - model; needs the same. With the option scales
 *                      background and residual have another background where sources of scales are
 *   injected           the image with the sources of the first search of the option completeness
 *                      or inject, which one of them needs
 *   mask               1 in islands of positive sources, else 0, as the options mask-dilate and
 *                      mask-fill shape it
 *   picture            the image with an ellipse around each source; needs cairo, can only be saved
 * With the option at there are no islands, and neither sources nor a mask. */
SRCFIND_API const char *srcfind_map(int i);

/* The suffix of files of map i: ".png" for the picture, ".fits" for the others. */
SRCFIND_API const char *srcfind_map_suffix(int i);

/* Writes a map of the image of a catalogue to a FITS file (PNG for the picture), whole or not at
 * all, as srcfind_catalogue_save does. It replaces no file but an older map of srcfind. The
 * catalogue must come from srcfind_find_file; the image is read again, and it is an error if the
 * file has changed. */
SRCFIND_API enum srcfind_status
srcfind_catalogue_save_map(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                           const char *map, const char *path);

/* Computes the same map, row by row, into an array of width * height elements: float, or int32_t
 * for "islands" and "sources". For a catalogue of srcfind_find_pixels, pixels must be the searched
 * pixels, with the same values; for a catalogue of srcfind_find_file pixels must be NULL. A
 * catalogue of srcfind_find_device_pixels has no maps. */
SRCFIND_API enum srcfind_status srcfind_catalogue_map(struct srcfind *finder,
                                                      const struct srcfind_catalogue *catalogue,
                                                      const struct srcfind_pixels *pixels,
                                                      const char *map, void *values);

/* Writes the picture of a catalogue to a PNG file, as srcfind_catalogue_save_map does, also of
 * pixels in memory: `pixels` are those of srcfind_catalogue_map. size: pixels of the longer side of
 * the map in the picture at most, 200 to 1720; 0 stands for 1720. The sheet around the map has up
 * to 280 more. */
SRCFIND_API enum srcfind_status
srcfind_catalogue_save_picture(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                               const struct srcfind_pixels *pixels, int size, const char *path);

/* --- measuring the speed --- */

/* The times that srcfind_bench_file measures. FLOOR_READ and FLOOR_COPY are lower bounds for a
 * search. FLOOR_READ is a plain read of the pixels, by the same threads in the host's memory, or by
 * the device in its own. FLOOR_COPY is a copy of the pixels from pinned memory to a device. SEARCH
 * is SCAN, CLIP and ISLANDS: from pixels in memory, in the byte order of the file, to moments.
 * WRITE is the formatting of the catalogue, which is written to /dev/null. FILE is all from opening
 * the file to the end of WRITE. */
enum srcfind_stage {
    SRCFIND_FLOOR_READ,
    SRCFIND_FLOOR_COPY,
    SRCFIND_SCAN,
    SRCFIND_CLIP,
    SRCFIND_ISLANDS,
    SRCFIND_SEARCH,
    SRCFIND_MEASURE,
    SRCFIND_WRITE,
    SRCFIND_FILE,
    SRCFIND_STAGES
};

enum { SRCFIND_MAX_ROUNDS = 100001 };

struct srcfind_bench;

/* Measures searches of an image: at least one to warm up, then `rounds` (1 to SRCFIND_MAX_ROUNDS),
 * on the device if the finder's options name one, else on the CPU. Holds the image in memory.
 * *bench is to be destroyed by the caller; it is NULL on an error. */
SRCFIND_API enum srcfind_status srcfind_bench_file(struct srcfind *finder, const char *path,
                                                   const char *format, int rounds,
                                                   struct srcfind_bench **bench);

/* bench may be NULL. */
SRCFIND_API void srcfind_bench_destroy(struct srcfind_bench *bench);

SRCFIND_API int srcfind_bench_rounds(const struct srcfind_bench *bench);

/* The seconds of each round; NULL if there is no such stage. */
SRCFIND_API const double *srcfind_bench_seconds(const struct srcfind_bench *bench,
                                                enum srcfind_stage stage);

/* The catalogue of the last round. It belongs to the bench. */
SRCFIND_API const struct srcfind_catalogue *
srcfind_bench_catalogue(const struct srcfind_bench *bench);

/* The versions of srcfind, its libraries and backends: a static text of several lines. */
SRCFIND_API const char *srcfind_versions(void);

#ifdef __cplusplus
}
#endif

#endif
