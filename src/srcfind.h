/* srcfind: finds the sources in a radio-astronomy image.
 *
 * The one public header of libsrcfind. The usual order of calls:
 *
 *     struct srcfind_options options = srcfind_default_options();
 *     struct srcfind *finder;
 *     struct srcfind_catalogue *catalogue = NULL;
 *     if (srcfind_create(&options, &finder) == SRCFIND_OK &&
 *         srcfind_find_file(finder, "image.fits", &catalogue) == SRCFIND_OK)
 *         printf("%lld sources\n", (long long)catalogue->n_sources);
 *     else
 *         fprintf(stderr, "%s\n", srcfind_message(finder));
 *     srcfind_catalogue_destroy(catalogue);
 *     srcfind_destroy(finder);
 *
 * Threads: two finders may work at the same time in two threads; one finder serves one thread at a
 * time. A catalogue belongs to the caller and does not refer to the finder that made it.
 *
 * Until version 1.0 structs may grow from one version to the next: build with the header of the
 * library that you link with.
 *
 * Nothing here prints, exits, or changes the state of the process, but for loading CFITSIO when the
 * first compressed file comes, or its version is asked for; and for loading CUDA, and starting it
 * in a thread of its own, when a device is to be used. Pixel coordinates are
 * 0-based: the centre of the first pixel is 0. A double that does not apply (no beam, no sky) is
 * NaN; a text that does not apply is "".
 */
#ifndef SRCFIND_H
#define SRCFIND_H

#include <stdbool.h>
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

/* Finds sources with one set of options; opaque. */
struct srcfind;

enum srcfind_status {
    SRCFIND_OK = 0,
    SRCFIND_ERROR_OPTIONS, /* an option has a value that makes no sense */
    SRCFIND_ERROR_INPUT,   /* the image cannot be read, or is not an image */
    SRCFIND_ERROR_OUTPUT,  /* the catalogue cannot be written */
    SRCFIND_ERROR_DEVICE,  /* the device asked for cannot be used */
    SRCFIND_ERROR_MEMORY,  /* memory ran out */
};

/* Where to work: one of these, or the number of a CUDA device (0, 1, ...). */
enum srcfind_device {
    SRCFIND_DEVICE_AUTO = -1,
    SRCFIND_DEVICE_CPU = -2,
    SRCFIND_DEVICE_ALL = -3, /* all CUDA devices, in turn: for several finders */
};

enum srcfind_format { SRCFIND_CSV, SRCFIND_JSON };

/* A restoring beam: FWHM of the axes, and the position angle from north through east. All in
 * degrees; all NaN where no beam is known. */
struct srcfind_beam {
    double major, minor, angle;
};

enum { SRCFIND_MAX_AXES = 16, SRCFIND_MAX_THREADS = 4096, SRCFIND_TEXT = 72 };

struct srcfind_options {
    double kappa;             /* clip at median -+ kappa standard deviations; > 0 */
    double threshold;         /* detection: value - background > threshold x rms; > 0 */
    double island;            /* islands grow down to island x rms; 0: the same as threshold */
    bool subtract_background; /* subtract the clipped median (true) or nothing (false) */
    int connectivity;         /* 4 or 8 */
    int64_t min_pixels;       /* drop smaller sources; >= 1 */
    struct srcfind_beam beam; /* instead of the header's, unless NaN */
    const char *hdu;          /* number (0 is the primary) or EXTNAME; NULL: first image. Kept. */
    int64_t plane[SRCFIND_MAX_AXES]; /* 1-based plane on axes 3, 4, ...; 0 counts as 1 */
    int n_plane;
    int device;              /* enum srcfind_device, or a CUDA device */
    int threads;             /* of the CPU; 0: all that the process may use */
    int64_t device_memory;   /* bytes of a CUDA device's memory to use at most; 0: what is free */
    int64_t expected_pixels; /* of all images that will be searched, as far as is known; 0: nothing
                                is. With SRCFIND_DEVICE_AUTO a device is started for many at once */
};

/* What an image is, as far as its header tells. */
struct srcfind_image {
    char *path; /* as given; "" for pixels in memory */
    int64_t width, height;
    int hdu; /* 0 is the primary; -1 for pixels in memory */
    char hdu_name[SRCFIND_TEXT];
    int n_axes;
    int64_t axes[SRCFIND_MAX_AXES];
    int64_t plane[SRCFIND_MAX_AXES]; /* 1-based, of axes 3, 4, ... (plane[0] is axis 3's) */
    int bitpix;
    char compression[SRCFIND_TEXT]; /* RICE_1, GZIP_1, ..., gzip for a whole file; "" if none */
    char unit[SRCFIND_TEXT];        /* BUNIT as it stands in the header */
    char flux_unit[SRCFIND_TEXT];   /* of Total_flux: Jy where the unit tells */
    char frame[SRCFIND_TEXT];       /* ICRS, FK5, FK4, GALACTIC, ...; "" without sky coordinates */
    double equinox;                 /* years, for FK5 and FK4 */
    char lon_name[8], lat_name[8];  /* RA and DEC, GLON and GLAT, ... */
    double pixel_area;              /* square degrees, at the reference pixel */
    double frequency;               /* Hz */
    struct srcfind_beam beam;
    const char *beam_source; /* "option", "keywords", "history", "table" or "" */
    double beam_pixels;      /* beam area: pi BMAJ BMIN / (4 ln 2 pixel_area) */
};

/* What the kappa-sigma clip found. min, max, mean and n_kept are of the pixels that are left. Where
 * the last round would have left nothing (a flat image has rms 0) the numbers are those of the
 * pixels before it, and empty is true: nothing can be detected. */
struct srcfind_background {
    double median, rms, mean, min, max;
    int64_t n_pixels, n_blank, n_kept;
    int rounds;
    bool empty;
};

enum srcfind_flags {
    SRCFIND_FLAG_EDGE = 1,             /* touches the image's edge or a blank pixel */
    SRCFIND_FLAG_SINGLE_PIXEL = 2,     /* is one pixel */
    SRCFIND_FLAG_NO_BEAM = 4,          /* no beam: fluxes are in map unit x pixels */
    SRCFIND_FLAG_NO_SHAPE = 8,         /* too few pixels for a size: Maj, Min, PA are empty */
    SRCFIND_FLAG_UNCERTAIN_TOTAL = 16, /* Total_flux is uncertain by more than half of itself */
};

/* A row of the catalogue; srcfind(1) describes every column. */
struct srcfind_source {
    int64_t id, island_id;
    char name[32];
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
};

/* Elapsed time of each stage, in seconds. */
struct srcfind_timings {
    double open;
    double start;    /* waiting until a device was ready */
    double transfer; /* reading the pixels and copying them to a device; 0 if they were scanned
                        as they came */
    double scan, clip, islands, measure;
    const char *path; /* how the clip went: "one read", "histogram", ... */
};

struct srcfind_catalogue {
    struct srcfind_image image;
    struct srcfind_background background;
    struct srcfind_options options;
    int64_t n_sources;
    struct srcfind_source *sources;
    struct srcfind_timings timings;
    const char *backend;       /* "cpu" or "cuda" */
    char device[SRCFIND_TEXT]; /* name of the GPU; "" for the CPU */
    char reason[256];          /* why it was this backend */
    int threads;
};

/* A column of the catalogue. unit is NULL where there is none. */
struct srcfind_column {
    const char *name, *unit, *ucd, *description;
};

/* The defaults of the command: 3 sigma clip, 5 sigma, median subtracted, 4-connected. */
SRCFIND_API struct srcfind_options srcfind_default_options(void);

/* Makes a finder. On an error *finder can still be asked for its message, and must be destroyed; it
 * is NULL only where memory ran out. Texts that options point to must live as long as the finder.
 * A CUDA device that is asked for is made ready in the background at once: what is wrong with it,
 * the first search finds. With SRCFIND_DEVICE_AUTO one is started as soon as the images, of which
 * there may be just a small one, would have been searched sooner with it, start included. */
SRCFIND_API enum srcfind_status srcfind_create(const struct srcfind_options *options,
                                               struct srcfind **finder);
SRCFIND_API void srcfind_destroy(struct srcfind *finder);

/* Makes n finders that are to work at the same time, each in a thread of its own, and share what
 * they have: options.threads are divided among them (each has one at least), and a device's memory;
 * each search has the use of a device to itself. On an error finders[0] can be asked for its
 * message, and all must be destroyed; those are NULL for which memory ran out. n is 1 or more. */
SRCFIND_API enum srcfind_status srcfind_create_many(const struct srcfind_options *options, int n,
                                                    struct srcfind **finders);

/* How many CPUs the process may use, which is what 0 threads stand for. */
SRCFIND_API int srcfind_available_threads(void);

/* Whether the finder has a CUDA device that can be used: starts it and waits until it is ready.
 * False without one, and after an error that has left it unusable. */
SRCFIND_API bool srcfind_device_is_usable(struct srcfind *finder);

/* What went wrong in the last call that did not return SRCFIND_OK: one line, without a newline.
 * finder may be NULL. The text belongs to the finder and lasts until its next call. */
SRCFIND_API const char *srcfind_message(const struct srcfind *finder);

/* Finds the sources of an image in a FITS file, opened as a plain file: CFITSIO's extended file
 * names mean nothing here. The catalogue is the caller's, to be destroyed; NULL on an error.
 * Whoever opens a large image for writing while it is read may have to wait (or gets EWOULDBLOCK);
 * the process then gets SIGURG, which is ignored unless it has a handler. The system lets nobody
 * wait for longer than 45 seconds: a process that is stopped meanwhile, and whose image is then cut
 * off, may end with SIGBUS. */
SRCFIND_API enum srcfind_status srcfind_find_file(struct srcfind *finder, const char *path,
                                                  struct srcfind_catalogue **catalogue);

/* The same for pixels in memory, in native byte order: pixels[y * row_stride + x], with row_stride
 * in pixels. There is no header, so no sky and no beam area: the options' beam, HDU and plane do
 * not apply. The pixels are not changed. */
SRCFIND_API enum srcfind_status srcfind_find_pixels(struct srcfind *finder, const float *pixels,
                                                    int64_t width, int64_t height,
                                                    int64_t row_stride,
                                                    struct srcfind_catalogue **catalogue);

/* The same for pixels in the memory of a CUDA device, which must be the one that the finder's
 * options name (the first one, for SRCFIND_DEVICE_AUTO and SRCFIND_DEVICE_ALL). stream is a
 * cudaStream_t: the pixels are read when the work that is in it now is done (NULL: in the default
 * stream). Returns when the catalogue is there. */
SRCFIND_API enum srcfind_status srcfind_find_device_pixels(struct srcfind *finder,
                                                           const float *pixels, int64_t width,
                                                           int64_t height, int64_t row_stride,
                                                           void *stream,
                                                           struct srcfind_catalogue **catalogue);

/* catalogue may be NULL. */
SRCFIND_API void srcfind_catalogue_destroy(struct srcfind_catalogue *catalogue);

/* Writes a catalogue to a stream, which stays open and is flushed. */
SRCFIND_API enum srcfind_status srcfind_catalogue_write(struct srcfind *finder,
                                                        const struct srcfind_catalogue *catalogue,
                                                        enum srcfind_format format, FILE *stream);

/* Writes a catalogue to a file: beside its final name first, then renamed, so that a reader sees
 * the whole of it or nothing. On an error nothing is left behind, and what was there stays. */
SRCFIND_API enum srcfind_status srcfind_catalogue_save(struct srcfind *finder,
                                                       const struct srcfind_catalogue *catalogue,
                                                       enum srcfind_format format,
                                                       const char *path);

/* What srcfind_bench_file measures. Floors are what could not be done in less: with the threads
 * that search, a plain read of the pixels in memory (the host's, or the device's if it is that
 * which searches), and for a device a copy of them from pinned memory. SEARCH is SCAN, CLIP and
 * ISLANDS: pixels in memory, bytes in the order of the file, to finished moments. WRITE is the
 * catalogue's text, which is kept nowhere; FILE is all from opening the file to that text. */
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

struct srcfind_bench {
    struct srcfind_catalogue *catalogue; /* of the last round */
    int rounds;
    double *seconds[SRCFIND_STAGES]; /* of each round; NULL where there is no such stage */
};

/* Measures how long an image takes: once or more to warm up, and then so many rounds (1 to
 * SRCFIND_MAX_ROUNDS), on the device if the finder's options name one, else on the CPU. The image
 * is held in memory meanwhile. *bench is the caller's, to be destroyed; NULL on an error. */
SRCFIND_API enum srcfind_status srcfind_bench_file(struct srcfind *finder, const char *path,
                                                   enum srcfind_format format, int rounds,
                                                   struct srcfind_bench **bench);

/* bench may be NULL. */
SRCFIND_API void srcfind_bench_destroy(struct srcfind_bench *bench);

/* Column i (from 0) as it is named in this catalogue, or false where there is no such column. */
SRCFIND_API bool srcfind_catalogue_column(const struct srcfind_catalogue *catalogue, int i,
                                          struct srcfind_column *column);

/* Versions of srcfind, of its libraries and backends; several lines, static. */
SRCFIND_API const char *srcfind_versions(void);

#ifdef __cplusplus
}
#endif

#endif
