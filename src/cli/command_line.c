#include "command_line.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- values --- */

static bool read_real(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static bool read_integer(const char *text, int64_t least, int64_t most, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *value >= least && *value <= most;
}

static bool read_positive(const char *text, double *value) {
    return read_real(text, value) && *value > 0;
}

static bool set_output(struct cli *cli, const char *text) {
    cli->output = strcmp(text, "-") == 0 ? NULL : text;
    return *text != '\0';
}

static bool set_format(struct cli *cli, const char *text) {
    cli->format_given = true;
    cli->format = strcmp(text, "json") == 0 ? SRCFIND_JSON : SRCFIND_CSV;
    return strcmp(text, "json") == 0 || strcmp(text, "csv") == 0;
}

static bool set_kappa(struct cli *cli, const char *text) {
    return read_positive(text, &cli->find.kappa);
}

static bool set_threshold(struct cli *cli, const char *text) {
    return read_positive(text, &cli->find.threshold);
}

static bool set_island(struct cli *cli, const char *text) {
    return read_positive(text, &cli->find.island);
}

static bool set_background(struct cli *cli, const char *text) {
    cli->find.subtract_background = strcmp(text, "median") == 0;
    return cli->find.subtract_background || strcmp(text, "zero") == 0;
}

static bool set_connectivity(struct cli *cli, const char *text) {
    cli->find.connectivity = strcmp(text, "8") == 0 ? 8 : 4;
    return strcmp(text, "8") == 0 || strcmp(text, "4") == 0;
}

static bool set_min_pixels(struct cli *cli, const char *text) {
    return read_integer(text, 1, INT64_MAX, &cli->find.min_pixels);
}

/* MAJ,MIN,PA in arcsec, arcsec, deg */
static bool set_beam(struct cli *cli, const char *text) {
    double value[3];
    char *end;
    for (int i = 0; i < 3; i++) {
        value[i] = strtod(text, &end);
        if (end == text || *end != (i < 2 ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    cli->find.beam = (struct srcfind_beam){value[0] / 3600, value[1] / 3600, value[2]};
    return value[0] >= value[1] && value[1] > 0 && isfinite(value[0] + value[2]);
}

static bool set_hdu(struct cli *cli, const char *text) {
    cli->find.hdu = text;
    return *text != '\0';
}

static bool set_plane(struct cli *cli, const char *text) {
    int n = 0;
    for (char *end;; text = end + 1) {
        errno = 0;
        const long long plane = strtoll(text, &end, 10);
        if (end == text || errno || plane < 1 || n == SRCFIND_MAX_AXES)
            return false;
        cli->find.plane[n++] = plane;
        cli->find.n_plane = n;
        if (*end != ',')
            return !*end;
    }
}

static bool set_device(struct cli *cli, const char *text) {
    static const struct {
        const char *name;
        int device;
    } names[] = {
        {"auto", SRCFIND_DEVICE_AUTO}, {"cpu", SRCFIND_DEVICE_CPU}, {"all", SRCFIND_DEVICE_ALL}};
    int64_t number;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i].name) == 0) {
            cli->find.device = names[i].device;
            return true;
        }
    }
    if (!read_integer(text, 0, 1023, &number))
        return false;
    cli->find.device = (int)number;
    return true;
}

static bool set_cpu(struct cli *cli, const char *text) {
    (void)text;
    cli->find.device = SRCFIND_DEVICE_CPU;
    return true;
}

static bool set_gpu(struct cli *cli, const char *text) {
    (void)text;
    cli->find.device = 0;
    return true;
}

static bool set_threads(struct cli *cli, const char *text) {
    int64_t number = 0;
    const bool ok = read_integer(text, 1, SRCFIND_MAX_THREADS, &number);
    cli->find.threads = (int)number;
    return ok;
}

static bool set_device_memory(struct cli *cli, const char *text) {
    int64_t mebibytes = 0;
    const bool ok = read_integer(text, 1, INT64_MAX >> 20, &mebibytes);
    if (ok)
        cli->find.device_memory = mebibytes << 20;
    return ok;
}

enum { BENCH_ROUNDS = 15 };

static bool set_bench(struct cli *cli, const char *text) {
    int64_t rounds = BENCH_ROUNDS;
    const bool ok = !text || read_integer(text, 1, SRCFIND_MAX_ROUNDS - 1, &rounds);
    cli->bench = (int)(rounds | 1); /* the median is one of them */
    return ok;
}

static bool set_files_from(struct cli *cli, const char *text) {
    cli->files_from = text;
    return *text != '\0';
}

static bool set_progress(struct cli *cli, const char *text) {
    static const char *const names[] = {"auto", "always", "never"};
    for (int i = PROGRESS_AUTO; i <= PROGRESS_NEVER; i++) {
        if (strcmp(text, names[i]) == 0) {
            cli->progress = (enum progress)i;
            return true;
        }
    }
    return false;
}

#define SET_FLAG(member)                                                                           \
    static bool set_##member(struct cli *cli, const char *text) {                                  \
        (void)text;                                                                                \
        cli->member = true;                                                                        \
        return true;                                                                               \
    }
SET_FLAG(skip_existing)
SET_FLAG(fail_fast)
SET_FLAG(compare_cpu)
SET_FLAG(quiet)
SET_FLAG(verbose)
SET_FLAG(help)
SET_FLAG(version)
#undef SET_FLAG

/* --- the table --- */

/* One line an option. `argument` is what --help calls the value, NULL where there is none, and
 * begins with "[=" where it may be left out; `wanted` completes the message "is not ...". */
static const struct spec {
    const char *name;
    int letter;
    const char *argument, *wanted;
    bool (*set)(struct cli *cli, const char *text);
    const char *help;
} specs[] = {
    {"output", 'o', "PATH", "a path", set_output,
     "catalogue; a directory for several images (made if missing); - is standard output, which is "
     "the default"},
    {"format", 'f', "NAME", "csv or json", set_format,
     "csv or json [from PATH's suffix, else csv]"},
    {"kappa", 'k', "K", "a number above 0", set_kappa,
     "clip at the median -+ K standard deviations [3]"},
    {"threshold", 'n', "N", "a number above 0", set_threshold,
     "a source has a pixel with value - background > N x rms [5]"},
    {"island", 'i', "N", "a number above 0", set_island,
     "its island grows down to N x rms [as --threshold]"},
    {"background", 0, "NAME", "median or zero", set_background,
     "what is subtracted: median (of the clipped pixels) or zero [median]"},
    {"connectivity", 0, "4|8", "4 or 8", set_connectivity,
     "pixels touch along edges, or at corners too [4]"},
    {"min-pixels", 0, "N", "a whole number above 0", set_min_pixels, "drop smaller sources [1]"},
    {"beam", 0, "MAJ,MIN,PA", "MAJ,MIN,PA with axes above 0 in arcsec, MAJ the longer, and degrees",
     set_beam, "beam (FWHM) in arcsec, arcsec, deg instead of the header's"},
    {"hdu", 0, "N|NAME", "a number or a name", set_hdu,
     "HDU by number (0 is the primary) or EXTNAME [the first with an image]"},
    {"plane", 0, "A[,B..]", "a list of planes, counted from 1", set_plane,
     "plane on axes 3, 4, ..., counted from 1 [1,1,...]"},
    {"device", 0, "NAME", "auto, cpu, all, or the number of a CUDA device", set_device,
     "auto (what will be done first), cpu, the number of a CUDA device, or all of them [auto]"},
    {"cpu", 0, NULL, NULL, set_cpu, "short for --device cpu"},
    {"gpu", 0, NULL, NULL, set_gpu, "short for --device 0"},
    {"device-memory", 0, "MIB", "a whole number above 0", set_device_memory,
     "use no more than so much of a CUDA device's memory [what is free]"},
    {"compare-cpu", 0, NULL, NULL, set_compare_cpu,
     "search on the CPU and on the GPU, and report on standard output whether the catalogues are "
     "the same and how long each took (-f json: for programs)"},
    {"bench", 0, "[=ROUNDS]", "a whole number from 1 to 100000", set_bench,
     "measure how long each stage takes, beside a plain read of the pixels, and report on standard "
     "output (-f json: for programs) [15 rounds]"},
    {"threads", 0, "N", "a whole number from 1 to 4096", set_threads,
     "CPU threads [all that the process may use]"},
    {"files-from", 0, "LIST", "a path", set_files_from,
     "take image paths from a file, one a line (-: standard input)"},
    {"skip-existing", 0, NULL, NULL, set_skip_existing,
     "leave images whose catalogue is already there"},
    {"fail-fast", 0, NULL, NULL, set_fail_fast, "stop at the first image that fails"},
    {"progress", 0, "WHEN", "auto, always or never", set_progress,
     "show a progress line: auto (on a terminal), always or never [auto]"},
    {"quiet", 'q', NULL, NULL, set_quiet, "no summary lines"},
    {"verbose", 'v', NULL, NULL, set_verbose, "the time of each stage too"},
    {"version", 0, NULL, NULL, set_version, "versions of srcfind, its libraries and backends"},
    {"help", 'h', NULL, NULL, set_help, "this text"},
};

enum { SPECS = sizeof specs / sizeof *specs, FIRST_INDEX = 256 };

static const struct spec *find_spec(int value) {
    if (value >= FIRST_INDEX && value < FIRST_INDEX + SPECS)
        return &specs[value - FIRST_INDEX];
    for (int i = 0; i < SPECS; i++)
        if (specs[i].letter && specs[i].letter == value)
            return &specs[i];
    return NULL;
}

static void describe_to_getopt(struct option *longs, char *shorts) {
    for (int i = 0; i < SPECS; i++) {
        const int has_argument = !specs[i].argument            ? no_argument
                                 : specs[i].argument[0] == '[' ? optional_argument
                                                               : required_argument;
        longs[i] = (struct option){specs[i].name, has_argument, NULL, FIRST_INDEX + i};
        if (specs[i].letter) {
            *shorts++ = (char)specs[i].letter;
            if (specs[i].argument)
                *shorts++ = ':';
        }
    }
    longs[SPECS] = (struct option){0};
    *shorts = '\0';
}

/* Whether a search of one image depends on it, and on which device is not said. */
static bool is_of_search(const struct spec *spec) {
    static const char *const names[] = {"kappa",        "threshold",     "island", "background",
                                        "connectivity", "min-pixels",    "beam",   "hdu",
                                        "plane",        "device-memory", "threads"};
    bool is = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is = is || strcmp(spec->name, names[i]) == 0;
    return is;
}

/* The last one of a name counts. */
static void note_search_option(struct cli *cli, const char *name, const char *value) {
    int i = 0;
    while (i < cli->n_search && strcmp(cli->search[i].name, name) != 0)
        i++;
    cli->search[i] = (struct given_option){name, value};
    cli->n_search += i == cli->n_search;
}

/* Whether options that are about catalogues are left out beside one that writes none. */
static bool writes_no_catalogue(const struct cli *cli, const char *option) {
    const char *other = cli->output                                        ? "--output"
                        : cli->skip_existing                               ? "--skip-existing"
                        : cli->format_given && cli->format != SRCFIND_JSON ? "--format csv"
                                                                           : NULL;
    if (other)
        fprintf(stderr, "srcfind: %s writes no catalogue, and does not go with %s\n", option,
                other);
    return !other;
}

static bool can_compare(const struct cli *cli) {
    if (cli->find.device == SRCFIND_DEVICE_CPU) {
        fputs("srcfind: --compare-cpu needs a GPU beside the CPU: leave --cpu out\n", stderr);
        return false;
    }
    return writes_no_catalogue(cli, "--compare-cpu");
}

bool options_read(int argc, char **argv, struct cli *cli) {
    static char program[] = "srcfind"; /* what getopt's messages begin with */
    struct option longs[SPECS + 1];
    char shorts[2 * SPECS + 1];
    describe_to_getopt(longs, shorts);
    *cli = (struct cli){.find = srcfind_default_options()};
    if (argc > 0)
        argv[0] = program;
    for (int value; (value = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        const struct spec *spec = find_spec(value);
        if (spec && spec->set(cli, optarg)) {
            if (is_of_search(spec))
                note_search_option(cli, spec->name, optarg);
            continue;
        }
        if (spec)
            fprintf(stderr, "srcfind: --%s: '%s' is not %s\n", spec->name, optarg, spec->wanted);
        return false;
    }
    if (cli->find.island > cli->find.threshold) {
        fprintf(stderr, "srcfind: --island: %g is above --threshold, %g\n", cli->find.island,
                cli->find.threshold);
        return false;
    }
    if (cli->bench && cli->compare_cpu) {
        fputs("srcfind: --bench and --compare-cpu: one at a time\n", stderr);
        return false;
    }
    if ((cli->compare_cpu && !can_compare(cli)) ||
        (cli->bench && !writes_no_catalogue(cli, "--bench")))
        return false;
    cli->images = argv + optind;
    cli->n_images = argc - optind;
    return true;
}

/* --- help --- */

enum { HELP_COLUMN = 29, HELP_WIDTH = 79 };

/* Writes words from a column on, on as many lines as it takes. */
static void write_wrapped(const char *text, int column, FILE *stream) {
    int at = column;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (at + 1 + length > HELP_WIDTH) {
            fprintf(stream, "\n%*s", HELP_COLUMN, "");
            at = HELP_COLUMN;
        } else if (at > HELP_COLUMN) {
            fputc(' ', stream);
            at++;
        }
        fprintf(stream, "%.*s", length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', stream);
}

void options_help(FILE *stream) {
    fputs("Usage: srcfind [OPTION]... IMAGE...\n"
          "Finds the sources in radio-astronomy images (FITS) and writes a catalogue of each.\n"
          "\n"
          "  srcfind image.fits -o catalogue.csv\n"
          "  srcfind tiles/*.fits -o catalogues/ -f json\n"
          "\n",
          stream);
    for (int i = 0; i < SPECS; i++) {
        char head[64];
        snprintf(head, sizeof head, "  %c%c%s --%s%s%s", specs[i].letter ? '-' : ' ',
                 specs[i].letter ? specs[i].letter : ' ', specs[i].letter ? "," : " ",
                 specs[i].name, specs[i].argument && specs[i].argument[0] != '[' ? " " : "",
                 specs[i].argument ? specs[i].argument : "");
        fprintf(stream, "%-*s", HELP_COLUMN, head);
        write_wrapped(specs[i].help, HELP_COLUMN, stream);
    }
    fputs("\nExit status: 0 all well; 1 an image failed; 2 wrong usage; 3 the device cannot be "
          "used;\n4 a comparison found a difference.\n"
          "The manual, with every column of the catalogue: man srcfind\n",
          stream);
}
