/* srcfind-merge: merges catalogues that were made earlier.
 *
 * 1. Read the arguments, and the list of catalogues (image_list.c, as srcfind reads images).
 * 2. Drop maps and tables that stand beside the catalogues, as *.csv names them, too. Tables of
 *    Gaussians and lists of injected sources are merged as well, if all catalogues have theirs.
 * 3. Check the output: it replaces none of the catalogues, and no file of somebody else.
 * 4. Read the catalogues with all threads; the rows go to a temporary file (merge/merge.c). All of
 *    them are read, and all errors reported, before the run fails.
 * 5. Find duplicates, write the merged files, and remove tables of an earlier merged catalogue. */
#include <getopt.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/image_list.h"
#include "cli/merged_file.h"
#include "cli/messages.h"
#include "cli/process.h"
#include "cli/signals.h"
#include "common/parse_number.h"
#include "common/path.h"
#include "common/plural.h"
#include "input/srcfind_map.h"
#include "merge/merge.h"
#include "options/options.h"
#include "output/save.h"

const char PROGRAM[] = "srcfind-merge";

/* --- the command line --- */

static const char HELP[] =
    "Usage: srcfind-merge [OPTION]... CATALOGUE... -o FILE\n"
    "  srcfind-merge out/*.fits -o survey.vot             catalogues of a survey's tiles\n"
    "  srcfind-merge out/*.csv --radius 3 -o survey.csv   CSV does not tell the beam\n"
    "\n"
    "  -o, --output FILE        the merged catalogue: csv, json, vot, fits, ecsv\n"
    "      --radius ARCSEC      rows nearer than this are one source [half a beam]\n"
    "      --merge-duplicates drop|keep  duplicate rows of a source [drop]\n"
    "      --sort flux|snr|ra|dec  rows by falling flux or S/N, rising RA or DEC\n"
    "      --files-from LIST    catalogues in a list, one a line (-: standard input)\n"
    "  -0, --null               paths in the list end with NUL characters\n"
    "  -j, --threads N          use N threads [all that the process may use]\n"
    "  -q, --quiet              write errors only\n"
    "  -V, --version            show versions of srcfind and libraries\n"
    "  -h, --help               show this help\n"
    "\n"
    "Catalogues are read from csv, ecsv, json, fits and vot. More: man srcfind-merge\n";

enum { RADIUS = 256, DUPLICATES, SORT, FILES_FROM };

static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                      {"radius", required_argument, NULL, RADIUS},
                                      {"merge-duplicates", required_argument, NULL, DUPLICATES},
                                      {"sort", required_argument, NULL, SORT},
                                      {"files-from", required_argument, NULL, FILES_FROM},
                                      {"null", no_argument, NULL, '0'},
                                      {"threads", required_argument, NULL, 'j'},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {"version", no_argument, NULL, 'V'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

struct arguments {
    struct cli cli; /* files_from, ends_with_nul, quiet, images */
    const char *output;
    double radius; /* degrees; 0: not given */
    int threads;   /* 0: as many as the process may use */
    int sort;      /* enum sort_choice */
    bool keep, help, version;
};

static int set_radius(const char *text, struct arguments *a) {
    const struct number number = parse_number(text, strlen(text));
    if (number.kind == NUMBER_NONE || !(number.real > 0) || !(number.real <= 3600 * 180))
        return messages_usage("--radius: '%s' is not a number of arcseconds, above 0 and up to "
                              "648000%s",
                              text, parse_number_hint(text));
    a->radius = number.real / 3600;
    return EXIT_OK;
}

static int set_duplicates(const char *text, struct arguments *a) {
    a->keep = strcmp(text, "keep") == 0;
    return a->keep || strcmp(text, "drop") == 0
               ? EXIT_OK
               : messages_usage("--merge-duplicates: '%s' is not drop or keep", text);
}

static int set_sort(const char *text, struct arguments *a) {
    struct error error;
    return options_read_sort(text, &a->sort, &error) == SRCFIND_OK
               ? EXIT_OK
               : messages_usage("--%s", error.text);
}

static int set_threads(const char *text, struct arguments *a) {
    const struct number number = parse_number(text, strlen(text));
    if (number.kind != NUMBER_INTEGER || number.integer < 1 ||
        number.integer > OPTIONS_MOST_THREADS)
        return messages_usage("--threads: '%s' is not a whole number from 1 to %d", text,
                              OPTIONS_MOST_THREADS);
    a->threads = (int)number.integer;
    return EXIT_OK;
}

static int set_option(int option, const char *value, char **argv, struct arguments *a) {
    switch (option) {
    case 'o':
        a->output = value;
        return *value ? EXIT_OK : messages_usage("--output: '' is not a path");
    case RADIUS:
        return set_radius(value, a);
    case DUPLICATES:
        return set_duplicates(value, a);
    case SORT:
        return set_sort(value, a);
    case FILES_FROM:
        a->cli.files_from = value;
        return EXIT_OK;
    case '0':
        a->cli.ends_with_nul = true;
        return EXIT_OK;
    case 'j':
        return set_threads(value, a);
    case 'q':
        a->cli.quiet = true;
        return EXIT_OK;
    case 'V':
        a->version = true;
        return EXIT_OK;
    case 'h':
        a->help = true;
        return EXIT_OK;
    case ':':
        return messages_usage("%s needs a value: --help lists all options", argv[optind - 1]);
    default:
        return messages_usage("there is no option %s: --help lists all", argv[optind - 1]);
    }
}

static int read_arguments(int argc, char **argv, struct arguments *a) {
    int status = EXIT_OK;
    opterr = 0;
    for (int option;
         status == EXIT_OK && (option = getopt_long(argc, argv, ":o:j:0qVh", longs, NULL)) != -1;)
        status = set_option(option, optarg, argv, a);
    a->cli.images = argv + optind;
    a->cli.n_images = argc - optind;
    if (status != EXIT_OK || a->help || a->version)
        return status;
    if (a->cli.n_images == 0 && !a->cli.files_from)
        return messages_usage(
            "no catalogue given: try `srcfind-merge out/*.fits -o survey.vot`, or "
            "--help");
    if (a->cli.ends_with_nul && !a->cli.files_from)
        return messages_usage("--null needs --files-from LIST: add it, or leave the option out");
    return a->output ? EXIT_OK
                     : messages_usage("-o FILE names the merged catalogue (-: standard output)");
}

/* Whether a path is that of a table beside a catalogue, as c.gaussians.csv where c.csv is in the
 * list. part: what the name of the table has more. */
static bool names_table(const char *path, const char *part, const struct image_list *list,
                        int64_t n) {
    const char *name = strrchr(path, '/');
    for (const char *at = name ? name : path; (at = strstr(at, part)); at++) {
        const size_t before = (size_t)(at - path);
        for (int64_t i = 0; i < n; i++)
            if (strncmp(list->paths[i], path, before) == 0 &&
                strcmp(list->paths[i] + before, at + strlen(part)) == 0)
                return true;
    }
    return false;
}

/* What is left out of a list: it stands beside catalogues, and has their suffix. */
struct left_out {
    int64_t n_gaussians, n_others, n_planes, n_bins, n_maps;
};

/* Leaves out the tables of --save, --measure-in and --completeness, and maps. */
static struct left_out drop_what_is_beside(struct image_list *list) {
    const int64_t n_listed = list->n;
    struct left_out left_out = {0};
    int64_t n = 0;
    for (int64_t i = 0; n_listed > 1 && i < n_listed; i++) {
        char *path = list->paths[i];
        const bool has_gaussians = names_table(path, ".gaussians", list, n_listed);
        const bool has_others = names_table(path, ".islands_table", list, n_listed) ||
                                names_table(path, ".covariance", list, n_listed);
        const bool has_planes = names_table(path, ".planes", list, n_listed);
        const bool has_bins = names_table(path, ".completeness", list, n_listed) ||
                              names_table(path, ".reliability", list, n_listed);
        const bool is_table = has_gaussians || has_others || has_planes || has_bins ||
                              names_table(path, ".injections", list, n_listed);
        const bool is_map = !is_table && is_srcfind_map(path);
        list->paths[i] = list->paths[n];
        list->paths[n] = path;
        n += !is_table && !is_map;
        left_out.n_gaussians += has_gaussians;
        left_out.n_others += has_others;
        left_out.n_planes += has_planes;
        left_out.n_bins += has_bins;
        left_out.n_maps += is_map;
    }
    if (n == 0) /* the first one is refused, as no catalogue */
        return (struct left_out){0};
    while (list->n > n)
        free(list->paths[--list->n]);
    return left_out;
}

/* A table that is merged where all catalogues have it. */
struct mergeable {
    const char *part;              /* see merge_table_path */
    const char *what, *not_merged; /* for messages */
};

static const struct mergeable gaussians_table = {"gaussians", "table of its Gaussians",
                                                 "no Gaussians are merged"};
static const struct mergeable injections_table = {"injections", "list of its injected sources",
                                                  "no completeness is merged: search it with "
                                                  "--completeness"};

/* Whether all catalogues that are there have a table beside them. Says which lacks it, if others
 * have it. *ok: false where memory ran out. */
static bool have_table(const struct mergeable *table, const struct image_list *list,
                       const struct messages *messages, bool *ok) {
    const char *lacks = NULL;
    int64_t n = 0;
    for (int64_t i = 0; i < list->n; i++) {
        char *path = merge_table_path(list->paths[i], table->part);
        const bool has = path && access(path, F_OK) == 0;
        *ok = *ok && path;
        n += has;
        if (!has && !lacks && access(list->paths[i], F_OK) == 0)
            lacks = list->paths[i];
        free(path);
    }
    if (*ok && lacks && n > 0)
        messages_note(messages, "%s: no %s beside it, but %lld of %lld catalogues have one: %s",
                      lacks, table->what, (long long)n, (long long)list->n, table->not_merged);
    return !lacks;
}

/* The paths of merged tables, to be freed; NULL where there is none. */
struct merged_tables {
    char *gaussians, *completeness;
};

static void clear_tables(struct merged_tables *tables) {
    free(tables->gaussians);
    free(tables->completeness);
}

/* Says what of a list is not merged as a catalogue. */
static void say_left_out(const struct left_out *left_out, const struct merged_tables *tables,
                         const struct messages *messages) {
    const int64_t n =
        left_out->n_maps + left_out->n_others + (tables->gaussians ? 0 : left_out->n_gaussians);
    if (n > 0)
        messages_note(messages, "%lld map%s or table%s of --save %s left out", (long long)n,
                      plural(n), plural(n), n == 1 ? "is" : "are");
    if (left_out->n_planes > 0)
        messages_note(messages, "%lld table%s of planes (--measure-in) %s left out",
                      (long long)left_out->n_planes, plural(left_out->n_planes),
                      left_out->n_planes == 1 ? "is" : "are");
    if (left_out->n_bins > 0)
        messages_note(messages, "%lld table%s of completeness and reliability %s left out",
                      (long long)left_out->n_bins, plural(left_out->n_bins),
                      left_out->n_bins == 1 ? "is" : "are");
}

/* Names the merged tables of Gaussians and of completeness, if there are any. Says what is left
 * out. Returns the exit status. */
static int choose_tables(const struct arguments *a, struct image_list *list,
                         struct merged_tables *tables) {
    const struct messages messages = messages_for(&a->cli);
    const bool is_file = merged_file_path(a->output) && !path_is_stream(a->output);
    const struct left_out left_out = drop_what_is_beside(list);
    bool ok = true;
    if (is_file && have_table(&gaussians_table, list, &messages, &ok))
        ok = (tables->gaussians = merge_table_path(a->output, "gaussians"));
    if (is_file && ok && have_table(&injections_table, list, &messages, &ok))
        ok = (tables->completeness = merge_table_path(a->output, "completeness"));
    if (!ok)
        return messages_no_memory("merging catalogues");
    say_left_out(&left_out, tables, &messages);
    return EXIT_OK;
}

/* --- the output --- */

/* Checks the format, and that nothing is replaced that should stay. */
static int check_output(const struct arguments *a, const struct image_list *list,
                        const struct merge_options *options) {
    const char *path = options->path;
    struct error error;
    int status = merged_file_check_path(a->output, NULL);
    if (status == EXIT_OK && path && a->cli.files_from &&
        path_is_same_file(a->output, a->cli.files_from))
        status = messages_usage("%s: the merged catalogue would replace the list of catalogues: "
                                "name another file",
                                a->output);
    for (int64_t i = 0; status == EXIT_OK && i < list->n; i++)
        if (merge_check_input(path, list->paths[i], &error) != SRCFIND_OK)
            status = messages_usage("%s", error.text);
    return status == EXIT_OK ? merged_file_check(options) : status;
}

/* --- merging --- */

struct merge_inputs {
    const struct image_list *list;
    struct merge *merge;
    atomic_bool no_memory;
    char **errors; /* of each catalogue, to be freed; NULL if it was added */
};

/* Reads a catalogue, and adds it. */
static void read_one(void *context, int i) {
    struct merge_inputs *r = context;
    struct error error;
    if (merge_add_file(r->merge, i, r->list->paths[i], NULL, &error) != SRCFIND_OK &&
        !(r->errors[i] = strdup(error.text)))
        r->no_memory = true;
}

/* Reads all catalogues. False if one could not be read. */
static bool read_all(struct merge_inputs *r, struct threads *threads,
                     const struct messages *messages) {
    threads_run(threads, (int)r->list->n, read_one, r);
    bool ok = !r->no_memory;
    for (int64_t i = 0; i < r->list->n; i++) {
        if (!r->errors[i])
            continue;
        messages_error(messages, "%s", r->errors[i]);
        free(r->errors[i]);
        ok = false;
    }
    return ok;
}

/* Says what became of the tables beside the merged catalogue. Returns the exit status. */
static int say_tables(const struct merge *merge, const struct merge_options *options,
                      const struct messages *messages) {
    const char *failed = merge_table_error(merge), *why = merge_no_completeness(merge);
    const struct merge_options written = merge_written(merge);
    if (failed)
        messages_error(messages, "%s", failed);
    if (written.gaussians)
        messages_note(messages, "%s: the Gaussians of these rows", written.gaussians);
    if (written.completeness)
        messages_note(messages, "%s: how complete these catalogues are together",
                      written.completeness);
    if (why)
        messages_note(messages, "%s: not written: %s", options->completeness, why);
    merged_file_remove_earlier(&written, (const char *const[]){NULL, NULL}, messages);
    return failed ? EXIT_IMAGE : EXIT_OK;
}

static int finish(const struct arguments *a, struct merge *merge,
                  const struct merge_options *options, struct threads *threads,
                  const struct messages *messages) {
    struct srcfind_merge_counts counts;
    struct error error;
    const bool is_held = signals_hold_for(merged_file_path(a->output));
    const enum srcfind_status status = merge_finish(merge, threads, &counts, &error);
    if (is_held)
        signals_release();
    if (status != SRCFIND_OK)
        messages_error(messages, "%s", error.text);
    else
        merged_file_say(messages, a->output, &counts, a->keep, "catalogue", "--radius");
    return status == SRCFIND_OK              ? say_tables(merge, options, messages)
           : status == SRCFIND_ERROR_OPTIONS ? EXIT_USAGE
                                             : EXIT_IMAGE;
}

static int merge_list(const struct arguments *a, const struct image_list *list,
                      const struct merge_options *options) {
    struct messages messages = messages_for(&a->cli);
    messages.row = "row";
    struct threads *threads = threads_create(a->threads > 0 ? a->threads : threads_available());
    struct merge_inputs r = {.list = list, .errors = calloc((size_t)list->n, sizeof *r.errors)};
    struct error error;
    int status = EXIT_IMAGE;
    if (!threads || !r.errors)
        messages_no_memory("merging catalogues");
    else if (merge_create(options, &r.merge, &error) != SRCFIND_OK)
        messages_error(&messages, "%s", error.text);
    else if (!read_all(&r, threads, &messages))
        messages_error(&messages, "%s: not written, since not all catalogues could be read",
                       a->output);
    else
        status = finish(a, r.merge, options, threads, &messages);
    merge_destroy(r.merge);
    threads_destroy(threads);
    free(r.errors);
    return status;
}

static int run(const struct arguments *a) {
    struct image_list list;
    struct merged_tables tables = {0};
    struct merge_options options = {.path = merged_file_path(a->output),
                                    .radius = a->radius,
                                    .keep_duplicates = a->keep,
                                    .sort = a->sort};
    signals_watch();
    int status = image_list_read(&a->cli, "catalogue", &list);
    if (status == EXIT_OK)
        status = image_list_check_unique(&list);
    if (status == EXIT_OK)
        status = choose_tables(a, &list, &tables);
    options.gaussians = tables.gaussians;
    options.completeness = tables.completeness;
    if (status == EXIT_OK)
        status = check_output(a, &list, &options);
    if (status == EXIT_OK && options.path)
        save_clean(options.path);
    if (status == EXIT_OK)
        status = merge_list(a, &list, &options);
    image_list_clear(&list);
    clear_tables(&tables);
    return status;
}

int main(int argc, char **argv) {
    struct arguments arguments = {.sort = SORT_NOT_GIVEN};
    int status = process_start();
    if (status == EXIT_OK)
        status = read_arguments(argc, argv, &arguments);
    if (status != EXIT_OK)
        return status;
    if (!arguments.help && !arguments.version)
        return run(&arguments);
    fputs(arguments.help ? HELP : srcfind_versions(), stdout);
    if (arguments.version)
        fputc('\n', stdout);
    return messages_written(&(struct messages){.stream = stderr}, true);
}
