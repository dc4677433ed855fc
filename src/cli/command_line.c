/* Reads the command line.
 *
 * The table `entries` has all options, in the order of options.inc: those of the library, which
 * options_add sets by name, and those of the command, whose type has a function that sets the
 * member of struct cli. getopt_long sees the same table, so that an option is written down once.
 *
 * 1. Words that getopt would misread are refused first: -fit, --scales 2,4.
 * 2. Each option is set; a wrong one ends the reading with a message that names the way out.
 * 3. Options are checked against each other (options_check, then those of the command).
 *
 * No file is opened here but lists of --measure-in. */
#include "cli/command_line.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/finder.h"
#include "api/maps.h"
#include "cli/exit_status.h"
#include "cli/help_manual.h"
#include "cli/messages.h"
#include "cli/near_options.h"
#include "common/near_word.h"
#include "common/texts.h"
#include "input/regions/region_file.h"
#include "options/options.h"
#include "output/writer.h"

/* --- the command's own options --- */

enum type {
    FLAG,
    PATH,
    CHOICE,
    FORMAT,
    COLUMNS,
    SAVED,
    ROUNDS,
    SHARD,
    DEVICE_FLAG,
    HELP,
    OF_LIBRARY
};

struct entry {
    const char *name;
    int letter;
    const char *argument;
    enum type type;
    size_t offset; /* of the member of struct cli */
    const char *initial, *values, *help;
};

static void *member_of(struct cli *cli, const struct entry *entry) {
    return (char *)cli + entry->offset;
}

static bool cli_set_flag(struct cli *cli, const struct entry *entry, const char *text) {
    (void)text;
    *(bool *)member_of(cli, entry) = true;
    return true;
}

static bool cli_set_path(struct cli *cli, const struct entry *entry, const char *text) {
    *(const char **)member_of(cli, entry) = text;
    return *text != '\0';
}

static bool cli_set_choice(struct cli *cli, const struct entry *entry, const char *text) {
    int *choice = member_of(cli, entry);
    *choice = options_choice(entry->values, text);
    return *choice >= 0;
}

/* Whether a value asks for the list of all values. */
static bool asks_for_help(struct cli *cli, const char *text, enum help_topic topic) {
    if (strcmp(text, "help") != 0)
        return false;
    cli->help.topic = topic;
    return true;
}

static bool cli_set_columns(struct cli *cli, const struct entry *entry, const char *text) {
    return asks_for_help(cli, text, HELP_COLUMNS) || cli_set_path(cli, entry, text);
}

static bool cli_set_format(struct cli *cli, const struct entry *entry, const char *text) {
    const struct writer *writer = writer_named(text);
    (void)entry;
    if (asks_for_help(cli, text, HELP_FORMATS))
        return true;
    cli->format = writer ? &writer->format : NULL;
    return writer;
}

/* Whether a word of `length` characters is a name. */
static bool is_name(const char *name, const char *word, size_t length) {
    return strncmp(name, word, length) == 0 && !name[length];
}

/* Adds the map or table that a word names. */
static bool add_saved(struct saved *saved, const char *word, size_t length) {
    for (enum map map = 0; map < MAPS; map++) {
        if (is_name(map_products[map].name, word, length)) {
            saved->maps[map] = true;
            return true;
        }
    }
    for (enum table_id table = TABLE_GAUSSIANS; table <= TABLE_COVARIANCES; table++) {
        if (is_name(table_products[table].name, word, length)) {
            saved->tables[table] = true;
            return true;
        }
    }
    return false;
}

static bool cli_set_saved(struct cli *cli, const struct entry *entry, const char *text) {
    struct saved *saved = member_of(cli, entry);
    *saved = (struct saved){.maps = {false}};
    if (asks_for_help(cli, text, HELP_MAPS))
        return true;
    for (;; text++) {
        const size_t length = strcspn(text, ",");
        if (!add_saved(saved, text, length))
            return false;
        text += length;
        if (!*text)
            return true;
    }
}

/* Makes the number odd, so that the median is the time of one of the rounds. */
static bool cli_set_rounds(struct cli *cli, const struct entry *entry, const char *text) {
    enum { BENCH_ROUNDS = 15 };
    char *end;
    int *rounds = member_of(cli, entry);
    errno = 0;
    const long number = text ? strtol(text, &end, 10) : BENCH_ROUNDS;
    const bool ok = !text || (end != text && !*end && !errno);
    if (!ok || number < 1 || number >= SRCFIND_MAX_ROUNDS)
        return false;
    *rounds = (int)(number | 1);
    return true;
}

/* Reads a number of digits alone, from 1 on, which ends before this character. False if it is none,
 * or too large. */
static bool read_count(const char *text, char end, int64_t *count) {
    char *rest;
    errno = 0;
    *count = strtoll(text, &rest, 10);
    return isdigit((unsigned char)*text) && *rest == end && !errno && *count >= 1;
}

static bool cli_set_shard(struct cli *cli, const struct entry *entry, const char *text) {
    struct shard *shard = member_of(cli, entry);
    const char *slash = strchr(text, '/');
    return slash && read_count(text, '/', &shard->k) && read_count(slash + 1, '\0', &shard->n) &&
           shard->k <= shard->n;
}

static bool cli_set_device_flag(struct cli *cli, const struct entry *entry, const char *text) {
    (void)text;
    return srcfind_options_set(cli->find, "device", entry->values) == SRCFIND_OK;
}

/* `wanted` completes the message "is not ..."; NULL: the message lists the option's values. */
static const struct {
    const char *wanted;
    bool (*set)(struct cli *cli, const struct entry *entry, const char *text);
} types[] = {
    [FLAG] = {NULL, cli_set_flag},
    [PATH] = {"a path", cli_set_path},
    [CHOICE] = {NULL, cli_set_choice},
    [FORMAT] = {NULL, cli_set_format},
    [COLUMNS] = {"a list of columns", cli_set_columns},
    [SAVED] =
        {"a list of: rms, background, snr, islands, sources, model, residual, injected, mask, "
         "picture, gaussians, islands_table, covariance",
         cli_set_saved},
    [ROUNDS] = {"a whole number from 1 to 100000", cli_set_rounds},
    [SHARD] = {"K/N, two whole numbers of which K is from 1 to N", cli_set_shard},
    [DEVICE_FLAG] = {NULL, cli_set_device_flag},
};

static const struct entry entries[] = {
#define SEARCH_OPTION(name, letter, argument, type, member, initial, values, help, group)          \
    {name, letter, argument, OF_LIBRARY, 0, initial, values, help},
#define MACHINE_OPTION SEARCH_OPTION
#define MACRO_OPTION SEARCH_OPTION
#define COMMAND_OPTION(name, letter, argument, type, member, initial, values, help, group)         \
    {name, letter, argument, type, offsetof(struct cli, member), initial, values, help},
#include "options/options.inc"
#undef SEARCH_OPTION
#undef MACHINE_OPTION
#undef MACRO_OPTION
#undef COMMAND_OPTION
};

enum { ENTRIES = sizeof entries / sizeof *entries, FIRST_INDEX = 256 };

_Static_assert((int)ENTRIES <= (int)OPTIONS_OF_CLI, "struct cli has room for all options");

/* --- messages --- */

__attribute__((format(printf, 1, 2))) static bool complain(const char *format, ...) {
    char text[2 * PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    messages_usage("%s", text);
    return false;
}

/* Lists the options that begin with `given`, as `--files-from or --fail-fast`; returns how many. */
static int list_matching(const char *given, size_t length, char *text, size_t size) {
    int n = 0;
    text[0] = '\0';
    for (int i = 0; i < ENTRIES; i++) {
        if (strncmp(entries[i].name, given, length) == 0)
            texts_append(text, size, "%s--%s", n++ ? " or " : "", entries[i].name);
    }
    return n;
}

static const struct entry *find_entry(int value) {
    if (value >= FIRST_INDEX && value < FIRST_INDEX + ENTRIES)
        return &entries[value - FIRST_INDEX];
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].letter && entries[i].letter == value)
            return &entries[i];
    return NULL;
}

/* The option that a user may have meant; NULL if none is similar enough. */
static const char *find_similar(const char *given, size_t length) {
    const char *names[ENTRIES];
    const char *of_others = near_option_of_others(given, length);
    for (int i = 0; i < ENTRIES; i++)
        names[i] = entries[i].name;
    return of_others ? of_others : near_word(names, ENTRIES, given, length);
}

/* Reports a name, of `length` characters, that no option has. */
static bool complain_of_name(const char *given, size_t length) {
    char matching[256];
    const char *similar = find_similar(given, length);
    if (list_matching(given, length, matching, sizeof matching) > 1)
        return complain("--%.*s may be %s", (int)length, given, matching);
    return similar ? complain("there is no option --%.*s; did you mean --%s?", (int)length, given,
                              similar)
                   : complain("there is no option --%.*s: --help lists all", (int)length, given);
}

/* Reports an option that getopt_long does not know: the argument `word`, or the letter optopt. */
static bool complain_of(const char *word) {
    if (strncmp(word, "--", 2) != 0 && optopt >= '0' && optopt <= '9')
        return complain("there is no option -%c: a position with blanks is one value in quotes, as "
                        "--at '12:30:49.4 -12:23:28'",
                        optopt);
    if (strncmp(word, "--", 2) != 0)
        return access(word, F_OK) == 0
                   ? complain("there is no option -%c; the file is ./%s", optopt, word)
                   : complain("there is no option -%c: --help lists all", optopt);
    if (find_entry(optopt)) /* a known option, which takes no value */
        return complain("--%s takes no value", find_entry(optopt)->name);
    return complain_of_name(word + 2, strcspn(word + 2, "="));
}

static bool complain_of_value(const struct entry *entry, const char *text) {
    char choices[OPTIONS_TEXT];
    const char *wanted = types[entry->type].wanted;
    if (!wanted)
        options_name_choices(entry->values, choices);
    return complain("--%s: '%s' is not %s", entry->name, text, wanted ? wanted : choices);
}

/* --- reading --- */

static void describe_to_getopt(struct option *longs, char *shorts) {
    *shorts++ = ':'; /* getopt_long then returns ':' for a missing value */
    for (int i = 0; i < ENTRIES; i++) {
        const int has_argument = !entries[i].argument            ? no_argument
                                 : entries[i].argument[0] == '[' ? optional_argument
                                                                 : required_argument;
        longs[i] = (struct option){entries[i].name, has_argument, NULL, FIRST_INDEX + i};
        if (entries[i].letter) {
            *shorts++ = (char)entries[i].letter;
            if (has_argument == required_argument)
                *shorts++ = ':';
        }
    }
    longs[ENTRIES] = (struct option){0};
    *shorts = '\0';
}

/* One plane is for the library, which searches it; ranges are for the command. */
static bool set_planes(struct cli *cli, const char *text) {
    cli->planes = (struct plane_ranges){0};
    if (srcfind_options_set(cli->find, "plane", text) == SRCFIND_OK)
        return true;
    cli->find->values.image.plane = (struct plane_option){0};
    return plane_ranges_parse(text, &cli->planes) ||
           complain(
               "--plane: '%s' is not a list of planes, counted from 1: of each axis N, A-B, or "
               "all; nor mean or mean:A-B",
               text);
}

static bool cli_set_entry(struct cli *cli, const struct entry *entry, const char *text) {
    if (strcmp(entry->name, "plane") == 0)
        return set_planes(cli, text);
    if (entry->type != OF_LIBRARY)
        return types[entry->type].set(cli, entry, text) || complain_of_value(entry, text);
    struct error error;
    const enum srcfind_status status = options_add(&cli->find->values, entry->name, text, &error);
    cli->no_memory = status == SRCFIND_ERROR_MEMORY;
    return status == SRCFIND_OK ||
           (cli->no_memory ? complain("%s", error.text) : complain("--%s", error.text));
}

/* The option of a letter, a name, or the first letters of one name alone. */
static const struct entry *entry_named(const char *name) {
    const struct entry *found = NULL;
    const size_t length = strlen(name);
    int n = 0;
    if (length <= 1)
        return find_entry((unsigned char)*name);
    for (int i = 0; i < ENTRIES; i++) {
        if (strcmp(entries[i].name, name) == 0)
            return &entries[i];
        if (strncmp(entries[i].name, name, length) == 0 && ++n)
            found = &entries[i];
    }
    return n == 1 ? found : NULL;
}

/* Reads --help=OPTION, or --help and the word behind it: an OPTION, too, unless it names a file. A
 * section of the manual stands before a part of the name of an option. */
static bool read_help_option(const char *word, struct cli *cli) {
    const char *name = word + strspn(word, "-");
    const struct entry *entry = entry_named(name);
    const int section = help_manual_section(name);
    const bool is_whole = entry && strcmp(entry->name, name) == 0;
    if (!entry && section < 0)
        return !*name || (!optarg && access(word, F_OK) == 0) ||
               complain_of_name(name, strlen(name));
    if (section >= 0 && !is_whole)
        cli->help = (struct help){.topic = HELP_SECTION, .section = section};
    else
        cli->help = (struct help){.topic = HELP_OPTION, .option = (int)(entry - entries)};
    optind += !optarg;
    return true;
}

static bool read_help(int argc, char **argv, bool is_letter, struct cli *cli) {
    const bool ends = optind >= argc || strcmp(argv[optind], "--") == 0;
    cli->help.topic = is_letter ? HELP_DAILY : HELP_ALL;
    return is_letter || (!optarg && ends) || read_help_option(optarg ? optarg : argv[optind], cli);
}

static bool read_options(int argc, char **argv, struct cli *cli) {
    struct option longs[ENTRIES + 1];
    char shorts[2 * ENTRIES + 2];
    describe_to_getopt(longs, shorts);
    opterr = 0;
    for (;;) {
        const int at = optind < 1 ? 1 : optind;
        const int value = getopt_long(argc, argv, shorts, longs, NULL);
        const struct entry *entry = find_entry(value == ':' ? optopt : value);
        if (value == -1)
            return true;
        if (value == ':')
            return complain("--%s needs a value: %s", entry ? entry->name : "?",
                            entry ? entry->argument : "?");
        if (!entry)
            return complain_of(argv[optind > at ? optind - 1 : at]);
        if (entry->type == HELP ? !read_help(argc, argv, value == entry->letter, cli)
                                : !cli_set_entry(cli, entry, optarg))
            return false;
        cli->given[entry - entries] = true;
    }
}

static bool names_file(const struct cli *cli) {
    return cli->output && strcmp(cli->output, "-") != 0;
}

/* Complains if `option`, which writes no catalogue, is used with an option for catalogues. */
static bool writes_no_catalogue(const struct cli *cli, const char *option) {
    const bool as_text = cli->format && strcmp(cli->format->name, "json") != 0;
    const char *other = names_file(cli)                   ? "--output"
                        : command_line_gives(cli, "save") ? "--save"
                        : cli->skip_existing              ? "--skip-existing"
                        : cli->report                     ? "--report"
                        : cli->merge                      ? "--merge"
                        : cli->columns                    ? "--columns"
                        : as_text                         ? "--format"
                                                          : NULL;
    if (!other)
        return true;
    const bool names_format = strcmp(other, "--format") == 0;
    return complain("%s writes no catalogue, and does not go with %s%s%s", option, other,
                    names_format ? " " : "", names_format ? cli->format->name : "");
}

static bool is_given(const struct cli *cli, const char *option) {
    return srcfind_options_get(cli->find, option, NULL, 0) > 0;
}

bool command_line_gives(const struct cli *cli, const char *name) {
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(entries[i].name, name) == 0)
            return cli->given[i];
    return false;
}

bool command_line_has_device(const struct cli *cli, const char *device) {
    char value[16];
    srcfind_options_get(cli->find, "device", value, sizeof value);
    return strcmp(value, device) == 0;
}

struct srcfind_options *command_line_options(const struct cli *cli, const char *device) {
    struct srcfind_options *options = srcfind_options_copy(cli->find);
    if (options && device)
        srcfind_options_set(options, "device", device);
    return options;
}

/* Whether the mask is a file of regions, which are not blank for the noise. A file that cannot be
 * read is refused later. */
static bool has_regions(const struct cli *cli) {
    const struct options *o = &cli->find->values;
    struct error ignored;
    bool has = false;
    return *o->mask && !o->mask_noise && o->regions_as != REGIONS_MASK &&
           region_file_is(o->mask, &has, &ignored) == SRCFIND_OK && has;
}

bool command_line_is_for_cpu(const struct cli *cli) {
    return has_regions(cli) || is_given(cli, "rms-map") || is_given(cli, "background-map") ||
           is_given(cli, "detect-rms-map") || is_given(cli, "detect-background-map");
}

/* Complains of a map that cannot be made here, or with these options. */
static bool maps_are_possible(const struct cli *cli) {
    struct error error;
    for (enum map map = 0; map < MAPS; map++)
        if (cli->save.maps[map] && !map_is_possible(map, cli->find, &error))
            return complain("--save: %s", error.text);
    const struct options *o = &cli->find->values;
    if (cli->save.tables[TABLE_GAUSSIANS] && (!options_fit(o) || *o->at))
        return complain("--save: gaussians needs --fit%s", *o->at ? ", and no --at" : "");
    if (cli->save.tables[TABLE_ISLANDS] && *o->at)
        return complain("--save: islands_table: with --at there are no islands");
    if (cli->save.tables[TABLE_COVARIANCES] && o->at_fixed)
        return complain("--save: covariance: nothing is fitted with --at-fixed: leave it out");
    if (cli->save.tables[TABLE_COVARIANCES] && !(*o->at && options_fit(o)))
        return complain("--save: covariance: it needs the fluxes of --at with --fit: add %s",
                        *o->at ? "--fit" : "both");
    return true;
}

static bool options_go_together(const struct cli *cli) {
    if (srcfind_options_check(cli->find) != SRCFIND_OK)
        return complain("--%s", srcfind_options_message(cli->find));
    if (cli->bench && cli->compare_cpu)
        return complain("--bench and --compare-cpu: one at a time");
    const bool of_file = is_given(cli, "inject");
    if ((of_file || is_given(cli, "completeness")) && (cli->bench || cli->compare_cpu))
        return complain("--%s measures a plain search: leave --%s out",
                        cli->bench ? "bench" : "compare-cpu", of_file ? "inject" : "completeness");
    if (cli->planes.n > 0 && (cli->bench || cli->compare_cpu))
        return complain("--%s searches one plane: give its number with --plane",
                        cli->bench ? "bench" : "compare-cpu");
    if (cli->compare_cpu && command_line_has_device(cli, "cpu"))
        return complain("--compare-cpu needs a GPU beside the CPU: leave --cpu out");
    if (cli->compare_cpu && has_regions(cli))
        return complain("--compare-cpu: regions of --mask are used on the CPU only, so that there "
                        "is nothing to compare: leave --mask out, or add --mask-noise");
    if (cli->compare_cpu && command_line_is_for_cpu(cli))
        return complain("--compare-cpu: maps of the noise are used on the CPU only, so that there "
                        "is nothing to compare: leave --rms-map, --background-map and those of "
                        "--detect-on out");
    if (cli->merge_duplicates != NOT_GIVEN && !cli->merge)
        return complain("--merge-duplicates needs --merge FILE: add it, or leave the option out");
    if (cli->merge && cli->output && !names_file(cli))
        return complain("--merge with -o -: name a file or a directory with -o, or leave it out");
    if (cli->columns && (cli->merge || cli->skip_existing))
        return complain("--columns: %s reads catalogues with all columns: leave one of them out",
                        cli->merge ? "--merge" : "--skip-existing");
    if (cli->ends_with_nul && !cli->files_from)
        return complain("--null needs --files-from LIST: add it, or leave the option out");
    return maps_are_possible(cli) &&
           (!cli->compare_cpu || writes_no_catalogue(cli, "--compare-cpu")) &&
           (!cli->bench || writes_no_catalogue(cli, "--bench"));
}

/* Whether an argument, NULL after the last, is a value of numbers and no file. */
static bool is_list_of_numbers(const char *word) {
    return word && *word && !word[strspn(word, "0123456789.,")] && access(word, F_OK) != 0;
}

/* Complains of -fit for --fit, which getopt_long takes for -f it, and of --scales 2,4 for
 * --scales=2,4, which it takes for an image. */
static bool words_are_options(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        const size_t length = strcspn(name, "=");
        for (int k = 0; k < ENTRIES; k++) {
            const struct entry *e = &entries[k];
            if (strncmp(e->name, name, length) != 0 || e->name[length] || length < 2)
                continue;
            if (name == argv[i] + 1)
                return complain("%s: long options have two hyphens: --%s", argv[i], name);
            if (name == argv[i] + 2 && !name[length] && e->argument && e->argument[0] == '[' &&
                is_list_of_numbers(argv[i + 1]))
                return complain("--%s %s: its value stands behind `=`: --%s=%s", name, argv[i + 1],
                                name, argv[i + 1]);
        }
    }
    return true;
}

int command_line_read(int argc, char **argv, struct cli *cli) {
    *cli = (struct cli){.find = srcfind_options_create(), .merge_duplicates = NOT_GIVEN};
    if (!cli->find) {
        complain("out of memory while starting");
        return EXIT_IMAGE;
    }
    if (!words_are_options(argc, argv) || !read_options(argc, argv, cli) ||
        !(cli->help.topic || options_go_together(cli)))
        return cli->no_memory ? EXIT_IMAGE : EXIT_USAGE;
    if (!names_file(cli))
        cli->output = NULL;
    cli->at_positions = is_given(cli, "at");
    cli->images = argv + optind;
    cli->n_images = argc - optind;
    return EXIT_OK;
}

void command_line_clear(struct cli *cli) {
    srcfind_options_destroy(cli->find);
    cli->find = NULL;
}
