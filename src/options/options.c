/* The options of a search, by their names.
 *
 * options.inc gives each option a type and a member of struct options. A type has two functions:
 * `parse` reads a text as the command line has it, `print` writes the text that parse takes. A path
 * is a text of its own, which options_set copies; path_list.c reads lists of files.
 *
 * What always holds: options that were set by default are valid; an error leaves them unchanged;
 * what options_get writes, options_set and options_restore take. A member that is not given has a
 * value that no text gives (0, NaN, "" or a NOT_GIVEN). Some defaults depend on other options:
 * options_deblend, options_group and others give them. options_check compares options with each
 * other. */
#include "options/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/format_double.h"
#include "common/parse_number.h"

/* --- parsing and printing values --- */

/* Reads a number of `length` characters, which may have blanks before it. */
static bool read_real(const char *text, size_t length, double *value) {
    for (; length > 0 && isspace((unsigned char)*text); length--)
        text++;
    const struct number number = parse_number(text, length);
    *value = number.real;
    return number.kind != NUMBER_NONE && isfinite(number.real);
}

static bool read_integer(const char *text, int64_t least, int64_t most, int64_t *value) {
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *value >= least && *value <= most;
}

static bool parse_positive(void *member, const char *text) {
    double *number = member;
    return read_real(text, strlen(text), number) && *number > 0;
}

/* 0: as if it were not given. */
static bool parse_from_zero(void *member, const char *text) {
    double *number = member;
    return read_real(text, strlen(text), number) && *number >= 0;
}

static void print_positive(const void *member, char *text) {
    const double *number = member;
    if (*number > 0)
        format_double(*number, text);
}

static bool parse_count(void *member, const char *text) {
    return read_integer(text, 1, INT64_MAX, member);
}

static bool parse_seed(void *member, const char *text) {
    return read_integer(text, 0, INT64_MAX, member);
}

static void print_seed(const void *member, char *text) {
    const int64_t *seed = member;
    if (*seed != SEED_NOT_GIVEN)
        format_integer(*seed, text);
}

/* 0 is not set. */
static void print_set(const void *member, char *text) {
    const int64_t *number = member;
    if (*number > 0)
        format_integer(*number, text);
}

/* A number of sources; without a text 2000. */
static bool parse_injected(void *member, const char *text) {
    int64_t *n = member;
    *n = !text || strcmp(text, "yes") == 0 ? 2000 : 0;
    return *n > 0 || strcmp(text, "no") == 0 || read_integer(text, 1, 1000000, n);
}

static void print_count(const void *member, char *text) {
    format_integer(*(const int64_t *)member, text);
}

/* 0 stands for an option that is not given, too. */
static bool parse_pixels(void *member, const char *text) {
    return read_integer(text, 0, 1000, member);
}

int options_choice(const char *values, const char *value) {
    const size_t length = strlen(value);
    for (int i = 0;; i++) {
        const size_t n = strcspn(values, "|");
        if (n == length && strncmp(values, value, n) == 0)
            return i;
        if (!values[n])
            return -1;
        values += n + 1;
    }
}

void options_name_choices(const char *values, char *text) {
    for (size_t length = 0;;) {
        const int n = (int)strcspn(values, "|");
        const bool last = !values[n], next_to_last = !last && !strchr(values + n + 1, '|');
        length += (size_t)snprintf(text + length, OPTIONS_TEXT - length, "%.*s%s", n, values,
                                   last           ? ""
                                   : next_to_last ? " or "
                                                  : ", ");
        if (last || length >= OPTIONS_TEXT)
            return;
        values += n + 1;
    }
}

static bool parse_choice(void *member, const char *values, const char *text) {
    int *choice = member;
    *choice = options_choice(values, text);
    return *choice >= 0;
}

/* A negative choice is not set. */
static void print_choice(const void *member, const char *values, char *text) {
    const int choice = *(const int *)member;
    if (choice < 0)
        return;
    for (int i = choice; i > 0; i--)
        values += strcspn(values, "|") + 1;
    snprintf(text, OPTIONS_TEXT, "%.*s", (int)strcspn(values, "|"), values);
}

/* NAN is not set. */
static bool parse_real(void *member, const char *text) {
    return read_real(text, strlen(text), member);
}

/* A tolerance of groups; infinite: all of an island. */
static bool parse_tolerance(void *member, const char *text) {
    double *tolerance = member;
    *tolerance = INFINITY;
    return strcmp(text, "island") == 0 || (parse_real(tolerance, text) && *tolerance >= 0);
}

/* K,K,... in any order; without a text 2,4,8. */
static bool parse_scales(void *member, const char *text) {
    struct scales_option *scales = member;
    *scales = (struct scales_option){0};
    if (text && strcmp(text, "no") == 0)
        return true;
    for (const char *at = !text || strcmp(text, "yes") == 0 ? "2,4,8" : text;; at++) {
        const size_t length = strcspn(at, ",");
        double k;
        if (scales->n == SCALES_MOST || !read_real(at, length, &k) || !(k >= 1 && k <= 1000))
            return false;
        int i = scales->n++;
        for (; i > 0 && scales->fwhm[i - 1] >= k; i--) {
            if (scales->fwhm[i - 1] == k)
                return false;
            scales->fwhm[i] = scales->fwhm[i - 1];
        }
        scales->fwhm[i] = k;
        at += length;
        if (!*at)
            return true;
    }
}

static void print_scales(const void *member, char *text) {
    const struct scales_option *scales = member;
    for (int i = 0; i < scales->n; i++) {
        if (i > 0)
            *text++ = ',';
        format_double(scales->fwhm[i], text);
        text += strlen(text);
    }
}

static void print_real(const void *member, char *text) {
    if (!isnan(*(const double *)member))
        format_double(*(const double *)member, text);
}

static void print_tolerance(const void *member, char *text) {
    if (isinf(*(const double *)member))
        snprintf(text, OPTIONS_TEXT, "island");
    else
        print_real(member, text);
}

/* NAN is the median. */
static bool parse_background(void *member, const char *text) {
    double *background = member;
    *background = strcmp(text, "zero") == 0 ? 0 : (double)NAN;
    return !isnan(*background) || strcmp(text, "median") == 0 ||
           read_real(text, strlen(text), background);
}

static void print_background(const void *member, char *text) {
    const double background = *(const double *)member;
    if (isnan(background) || background == 0)
        snprintf(text, OPTIONS_TEXT, "%s", background == 0 ? "zero" : "median");
    else
        format_double(background, text);
}

/* A flag on the command line has no text. */
static bool parse_flag(void *member, const char *text) {
    bool *flag = member;
    *flag = !text || strcmp(text, "yes") == 0;
    return *flag || strcmp(text, "no") == 0;
}

static void print_flag(const void *member, char *text) {
    if (*(const bool *)member)
        snprintf(text, OPTIONS_TEXT, "yes");
}

enum { SURVEY_ISLAND = 3 };

/* Sets the options that --survey stands for. An island that was given stays, before --survey, too;
 * "no" changes nothing. */
static bool parse_survey(void *member, const char *text) {
    struct options *options = member;
    bool wanted;
    if (!parse_flag(&wanted, text))
        return false;
    if (wanted) {
        options->noise.local = options->fit = true;
        if (options->island == 0)
            options->island = SURVEY_ISLAND;
    }
    return true;
}

static void print_survey(const void *member, char *text) {
    const struct options *options = member;
    const bool holds = options->noise.local && options->fit && options->island == SURVEY_ISLAND;
    print_flag(&holds, text);
}

/* SIZE,STEP in pixels, or SIZE alone. */
static bool parse_box(void *member, const char *text) {
    struct box_option *box = member;
    char size[FORMAT_TEXT];
    const size_t length = strcspn(text, ",");
    if (length >= sizeof size)
        return false;
    snprintf(size, sizeof size, "%.*s", (int)length, text);
    if (!read_integer(size, BOX_LEAST, INT32_MAX, &box->size))
        return false;
    box->step = box->size / 3;
    return !text[length] || read_integer(text + length + 1, 1, box->size, &box->step);
}

static void print_box(const void *member, char *text) {
    const struct box_option *box = member;
    if (box->size > 0)
        snprintf(text, OPTIONS_TEXT, "%lld,%lld", (long long)box->size, (long long)box->step);
}

/* MAJ,MIN,PA in arcsec, arcsec, degrees; or MAJ alone. */
static bool parse_beam(void *member, const char *text) {
    double value[3];
    int n = 0;
    bool more = true;
    while (more && n < 3) {
        const size_t length = strcspn(text, ",");
        if (!read_real(text, length, &value[n]))
            return false;
        n++;
        more = text[length] == ',';
        text += length + more;
    }
    if (n == 1) {
        value[1] = value[0];
        value[2] = 0;
    }
    *(struct beam_option *)member = (struct beam_option){value[0], value[1], value[2]};
    return !more && n != 2 && value[0] >= value[1] && value[1] > 0;
}

static void print_beam(const void *member, char *text) {
    const struct beam_option *beam = member;
    char axes[3][FORMAT_TEXT];
    if (isnan(beam->major))
        return;
    format_double(beam->major, axes[0]);
    format_double(beam->minor, axes[1]);
    format_double(beam->angle, axes[2]);
    snprintf(text, OPTIONS_TEXT, "%s,%s,%s", axes[0], axes[1], axes[2]);
}

static bool parse_text(void *member, const char *text) {
    return *text && snprintf(member, SRCFIND_TEXT, "%s", text) < SRCFIND_TEXT;
}

static void print_text(const void *member, char *text) {
    snprintf(text, OPTIONS_TEXT, "%s", (const char *)member);
}

/* The path is then the caller's text: options_set keeps a copy. */
static bool parse_path(void *member, const char *text) {
    *(const char **)member = text;
    return *text;
}

/* mean:A-B, or mean alone. */
static bool parse_mean(const char *text, struct plane_option *plane) {
    char first[FORMAT_TEXT];
    *plane = (struct plane_option){.mean_first = 1, .mean_last = INT64_MAX};
    if (strcmp(text, "mean") == 0)
        return true;
    if (strncmp(text, "mean:", 5) != 0)
        return false;
    const char *range = text + 5, *dash = strchr(range, '-');
    if (!dash || dash - range >= (ptrdiff_t)sizeof first)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)(dash - range), range);
    return read_integer(first, 1, INT32_MAX, &plane->mean_first) &&
           read_integer(dash + 1, plane->mean_first, INT32_MAX, &plane->mean_last);
}

static bool parse_plane(void *member, const char *text) {
    struct plane_option *plane = member;
    if (parse_mean(text, plane))
        return true;
    *plane = (struct plane_option){0};
    for (char *end;; text = end + 1) {
        errno = 0;
        const long long index = strtoll(text, &end, 10);
        if (end == text || errno || index < 1 || plane->n == SRCFIND_MAX_AXES)
            return false;
        plane->index[plane->n++] = index;
        if (*end != ',')
            return !*end;
    }
}

void options_print_plane(const struct plane_option *plane, char text[OPTIONS_TEXT]) {
    size_t length = 0;
    *text = '\0';
    if (plane->mean_last == INT64_MAX)
        snprintf(text, OPTIONS_TEXT, "mean");
    else if (plane->mean_first > 0)
        snprintf(text, OPTIONS_TEXT, "mean:%lld-%lld", (long long)plane->mean_first,
                 (long long)plane->mean_last);
    for (int i = 0; i < plane->n && length < OPTIONS_TEXT; i++)
        length += (size_t)snprintf(text + length, OPTIONS_TEXT - length, "%s%lld", i ? "," : "",
                                   (long long)plane->index[i]);
}

static void print_plane(const void *member, char *text) {
    options_print_plane(member, text);
}

/* X0,X1,Y0,Y1. */
static bool parse_trim(void *member, const char *text) {
    int64_t bounds[4];
    char number[FORMAT_TEXT];
    for (int i = 0; i < 4; i++) {
        const size_t length = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)length, text);
        if (length >= sizeof number || !text[length] != (i == 3) ||
            !read_integer(number, i % 2 ? bounds[i - 1] : 1, INT32_MAX, &bounds[i]))
            return false;
        text += length + 1;
    }
    *(struct trim_option *)member =
        (struct trim_option){bounds[0], bounds[1], bounds[2], bounds[3]};
    return true;
}

static void print_trim(const void *member, char *text) {
    const struct trim_option *trim = member;
    if (trim->x0 > 0)
        snprintf(text, OPTIONS_TEXT, "%lld,%lld,%lld,%lld", (long long)trim->x0,
                 (long long)trim->x1, (long long)trim->y0, (long long)trim->y1);
}

static const struct {
    const char *name;
    int device;
} device_names[] = {{"auto", DEVICE_AUTO}, {"cpu", DEVICE_CPU}, {"all", DEVICE_ALL}};

enum { DEVICE_NAMES = sizeof device_names / sizeof *device_names };

static bool parse_device(void *member, const char *text) {
    int *device = member;
    int64_t number;
    for (int i = 0; i < DEVICE_NAMES; i++) {
        if (strcmp(text, device_names[i].name) == 0) {
            *device = device_names[i].device;
            return true;
        }
    }
    if (!read_integer(text, 0, 1023, &number))
        return false;
    *device = (int)number;
    return true;
}

static void print_device(const void *member, char *text) {
    const int device = *(const int *)member;
    format_integer(device, text);
    for (int i = 0; i < DEVICE_NAMES; i++)
        if (device == device_names[i].device)
            snprintf(text, OPTIONS_TEXT, "%s", device_names[i].name);
}

static bool parse_threads(void *member, const char *text) {
    int64_t number;
    if (!read_integer(text, 1, OPTIONS_MOST_THREADS, &number))
        return false;
    *(int *)member = (int)number;
    return true;
}

static void print_threads(const void *member, char *text) {
    const int n = *(const int *)member;
    if (n > 0)
        format_integer(n, text);
}

static bool parse_mebibytes(void *member, const char *text) {
    int64_t mebibytes;
    if (!read_integer(text, 1, INT64_MAX >> 20, &mebibytes))
        return false;
    *(int64_t *)member = mebibytes << 20;
    return true;
}

static void print_mebibytes(const void *member, char *text) {
    const int64_t bytes = *(const int64_t *)member;
    if (bytes > 0)
        format_integer(bytes >> 20, text);
}

/* --- types --- */

enum type {
    NUMBER,
    ADDED_ERROR,
    REAL,
    TOLERANCE,
    SCALES,
    COUNT,
    INJECTED,
    SEED,
    PIXELS,
    CHOICE,
    BACKGROUND,
    FLAG,
    SURVEY,
    BOX,
    BEAM,
    TEXT,
    PATH,
    PATHS,
    PLANE,
    TRIM,
    DEVICE,
    THREADS,
    MEBIBYTES
};

/* The operations on a member of struct options, by its type. parse reads the command line's text
 * into the member, false if the text is invalid; print writes that text, of up to OPTIONS_TEXT
 * characters, and nothing if the option is not set; a path needs no printing. wanted completes the
 * message "is not ...". A choice has none of them: its values in options.inc tell; nor has a list
 * of paths: see path_list.h. */
static const struct {
    const char *wanted;
    bool (*parse)(void *member, const char *text);
    void (*print)(const void *member, char *text);
} types[] = {
    [NUMBER] = {"a number above 0", parse_positive, print_positive},
    [ADDED_ERROR] = {"a number from 0 on", parse_from_zero, print_positive},
    [REAL] = {"a number", parse_real, print_real},
    [TOLERANCE] = {"island or a number from 0 on", parse_tolerance, print_tolerance},
    [SCALES] = {"a list of up to 8 different numbers from 1 to 1000", parse_scales, print_scales},
    [COUNT] = {"a whole number above 0", parse_count, print_count},
    [INJECTED] = {"a whole number of sources from 1 to 1000000", parse_injected, print_set},
    [SEED] = {"a whole number from 0 to 9223372036854775807", parse_seed, print_seed},
    [PIXELS] = {"a whole number of pixels from 0 to 1000", parse_pixels, print_set},
    [CHOICE] = {NULL, NULL, NULL},
    [BACKGROUND] = {"median, zero or a number", parse_background, print_background},
    [FLAG] = {"yes or no", parse_flag, print_flag},
    [SURVEY] = {"yes or no", parse_survey, print_survey},
    [BOX] = {"SIZE[,STEP] with SIZE from 8 on, in pixels, and STEP from 1 to SIZE", parse_box,
             print_box},
    [BEAM] = {"MAJ,MIN,PA with axes above 0 in arcsec, MAJ the longer, and degrees; or MAJ alone",
              parse_beam, print_beam},
    [TEXT] = {"a name of up to 71 characters", parse_text, print_text},
    [PATH] = {"a path", parse_path, NULL},
    [PATHS] = {NULL, NULL, NULL},
    [PLANE] = {"mean, mean:A-B, or a list of planes, counted from 1 (a finder searches one image: "
               "only the command "
               "has ranges and all)",
               parse_plane, print_plane},
    [TRIM] = {"X0,X1,Y0,Y1: the first and the last column, then the first and the last row, "
              "counted from 1, the lower number first",
              parse_trim, print_trim},
    [DEVICE] = {"auto, cpu, all, or the number of a CUDA device", parse_device, print_device},
    [THREADS] = {"a whole number from 1 to 4096", parse_threads, print_threads},
    [MEBIBYTES] = {"a whole number above 0", parse_mebibytes, print_mebibytes},
};

/* --- the table --- */

static const struct entry {
    struct srcfind_option shown;
    enum type type;
    size_t offset;
} entries[] = {
#define SEARCH_OPTION(name, letter, argument, type, member, initial, values, help, group)          \
    {{name, argument, initial, values, help, true}, type, offsetof(struct options, member)},
#define MACHINE_OPTION(name, letter, argument, type, member, initial, values, help, group)         \
    {{name, argument, initial, values, help, false}, type, offsetof(struct options, member)},
#define MACRO_OPTION(name, letter, argument, type, member, initial, values, help, group)           \
    {{name, argument, initial, values, help, false}, type, 0}, /* of all options */
#define COMMAND_OPTION(name, letter, argument, type, member, initial, values, help, group)
#include "options/options.inc"
#undef SEARCH_OPTION
#undef MACHINE_OPTION
#undef MACRO_OPTION
#undef COMMAND_OPTION
};

enum { ENTRIES = sizeof entries / sizeof *entries };

static const struct entry *options_find(const char *name) {
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(entries[i].shown.name, name) == 0)
            return &entries[i];
    return NULL;
}

const struct srcfind_option *options_describe(int i) {
    return i >= 0 && i < ENTRIES ? &entries[i].shown : NULL;
}

bool options_next_shaping(const struct options *options, int *i, struct shaping_option *shaping) {
    while (*i < ENTRIES && !entries[*i].shown.shapes_catalogue)
        ++*i;
    if (*i == ENTRIES)
        return false;
    const struct entry *e = &entries[(*i)++];
    shaping->name = e->shown.name;
    shaping->is_path = e->type == PATH || e->type == PATHS;
    shaping->is_name = e->type == TEXT || shaping->is_path;
    shaping->value = options_get(options, e->shown.name, shaping->text);
    return true;
}

static void *member_of(const struct entry *e, struct options *options) {
    return (char *)options + e->offset;
}

static bool parse_entry(const struct entry *e, const char *text, struct options *options) {
    void *member = member_of(e, options);
    return e->type == CHOICE ? parse_choice(member, e->shown.values, text)
                             : types[e->type].parse(member, text);
}

struct image_choice image_choice_default(void) {
    return (struct image_choice){.beam = {NAN, NAN, NAN}, .blank = NAN};
}

void options_default(struct options *options) {
    *options = (struct options){.image = image_choice_default(),
                                .regions_as = REGIONS_NOT_GIVEN,
                                .seed = SEED_NOT_GIVEN,
                                .group = NAN,
                                .shapes = SHAPES_NOT_GIVEN,
                                .patches = PATCHES_NOT_GIVEN,
                                .sort = SORT_NOT_GIVEN,
                                .spectral_index = NAN};
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].type == PATH)
            *(const char **)member_of(&entries[i], options) = "";
        else if (entries[i].shown.initial)
            parse_entry(&entries[i], entries[i].shown.initial, options);
}

/* Makes a text that is owned; "" is no memory. */
static const char *own_text(const char *text) {
    return *text ? strdup(text) : "";
}

static void free_text(const char *text) {
    if (text && *text)
        free((void *)text);
}

/* Copies the path of one option that *copy borrows. */
static bool copy_path(const struct entry *e, struct options *copy) {
    const char **text = member_of(e, copy), *own = own_text(*text);
    *text = own ? own : "";
    return own;
}

static bool copy_paths(const struct entry *e, struct options *copy) {
    struct path_list *list = member_of(e, copy);
    const struct path_list borrowed = *list;
    return path_list_copy(list, &borrowed);
}

bool options_copy(struct options *copy, const struct options *options) {
    bool ok = true;
    *copy = *options;
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].type == PATH)
            ok = copy_path(&entries[i], copy) && ok;
        else if (entries[i].type == PATHS)
            ok = copy_paths(&entries[i], copy) && ok;
    return ok;
}

void options_clear(struct options *options) {
    for (int i = 0; i < ENTRIES; i++)
        if (entries[i].type == PATH)
            free_text(*(const char **)member_of(&entries[i], options));
        else if (entries[i].type == PATHS)
            path_list_clear(member_of(&entries[i], options));
    *options = (struct options){0};
}

/* Takes a path from options that borrow it. */
static enum srcfind_status take_path(const struct entry *e, struct options *from,
                                     struct options *options, struct error *error) {
    const char **path = member_of(e, options);
    const char *own = own_text(*(const char **)member_of(e, from));
    if (!own)
        return error_memory(error, "setting an option");
    free_text(*path);
    *path = own;
    return SRCFIND_OK;
}

static enum srcfind_status set_paths(const struct entry *e, const char *value, bool opens_lists,
                                     struct options *options, struct error *error) {
    struct path_list *list = member_of(e, options), paths = {0};
    const enum srcfind_status status =
        path_list_add(&paths, e->shown.name, value, opens_lists, error);
    if (status == SRCFIND_OK) {
        path_list_clear(list);
        *list = paths;
    } else {
        path_list_clear(&paths);
    }
    return status;
}

static enum srcfind_status set_option(struct options *options, const char *name, const char *value,
                                      bool opens_lists, struct error *error) {
    const struct entry *e = options_find(name);
    struct options changed = *options;
    if (!e)
        return error_set(error, SRCFIND_ERROR_OPTIONS, "there is no option %s", name);
    if (!value && e->shown.argument && *e->shown.argument != '[')
        return error_set(error, SRCFIND_ERROR_OPTIONS, "%s: the value is NULL: give a text", name);
    if (e->type == PATHS)
        return set_paths(e, value, opens_lists, options, error);
    if (parse_entry(e, value, &changed)) {
        if (e->type == PATH)
            return take_path(e, &changed, options, error);
        *options = changed;
        return SRCFIND_OK;
    }
    char choices[OPTIONS_TEXT];
    const char *wanted = types[e->type].wanted;
    if (!wanted)
        options_name_choices(e->shown.values, choices);
    const bool is_number = e->type == NUMBER || e->type == ADDED_ERROR || e->type == REAL ||
                           e->type == BACKGROUND || e->type == TOLERANCE;
    return error_set(error, SRCFIND_ERROR_OPTIONS, "%s: '%.200s' is not %s%s", name, value,
                     wanted ? wanted : choices, is_number ? parse_number_hint(value) : "");
}

enum srcfind_status options_set(struct options *options, const char *name, const char *value,
                                struct error *error) {
    return set_option(options, name, value, true, error);
}

enum srcfind_status options_restore(struct options *options, const char *name, const char *value,
                                    struct error *error) {
    return set_option(options, name, value, false, error);
}

enum srcfind_status options_add(struct options *options, const char *name, const char *value,
                                struct error *error) {
    const struct entry *e = options_find(name);
    return e && e->type == PATHS && value
               ? path_list_add(member_of(e, options), name, value, true, error)
               : options_set(options, name, value, error);
}

enum srcfind_status options_read_sort(const char *text, int *sort, struct error *error) {
    struct options options;
    options_default(&options);
    const enum srcfind_status status =
        text ? options_set(&options, "sort", text, error) : SRCFIND_OK;
    *sort = options.sort;
    options_clear(&options);
    return status;
}

bool options_deblend(const struct options *options) {
    return options->deblend || options_fit(options) || options->contrast > 0;
}

double options_contrast(const struct options *options) {
    return options->contrast > 0 ? options->contrast : 1;
}

bool options_fit(const struct options *options) {
    return options->fit || !isnan(options->group) || options->shapes != SHAPES_NOT_GIVEN ||
           options->scales.n > 0 || options->measure_in.n > 0 || options->at_positive ||
           options->at_search || options->at_fixed;
}

bool options_measure_psf(const struct options *options) {
    return strcmp(options->psf, "measured") == 0;
}

double options_group(const struct options *options) {
    return isnan(options->group) ? 1 : options->group;
}

bool options_inject(const struct options *options) {
    return options->completeness > 0 || *options->inject;
}

int64_t options_seed(const struct options *options) {
    return options->seed == SEED_NOT_GIVEN ? 1 : options->seed;
}

double options_spectral_index(const struct options *options) {
    return isnan(options->spectral_index) ? -0.8 : options->spectral_index;
}

/* Positions that are given are measured whatever stands there: no island is found or divided. */
static enum srcfind_status check_at(const struct options *options, struct error *error) {
    if (options->negative)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at: fluxes at given positions have either sign: leave --negative out");
    if (options_inject(options))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at: nothing is detected, and so nothing is missed: leave --%s out",
                         *options->inject ? "inject" : "completeness");
    if (!isnan(options->group))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at: each position is a source of its own: leave --group out");
    if (options->shapes != SHAPES_NOT_GIVEN)
        return error_set(
            error, SRCFIND_ERROR_OPTIONS,
            "at: fits at given positions hold the catalogue's shapes: leave --shapes out");
    if (options->scales.n > 0)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at: only the entries of the catalogue are measured, and no scale is "
                         "searched: leave --scales out");
    if (options_deblend(options) && !options_fit(options))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at: there are no islands to divide: leave --%s out, or add --fit",
                         options->deblend ? "deblend" : "contrast");
    return SRCFIND_OK;
}

static enum srcfind_status refuse_island(const struct options *options, struct error *error) {
    char island[FORMAT_TEXT], threshold[FORMAT_TEXT];
    format_double(options->island, island);
    format_double(options->threshold, threshold);
    return error_set(error, SRCFIND_ERROR_OPTIONS,
                     "island: %s is above the threshold, %s: give --island %s or less", island,
                     threshold, threshold);
}

/* Maps of the noise, where something else gives it, or there is no image for them. */
static enum srcfind_status check_noise_maps(const struct options *options, struct error *error) {
    const bool has_rms = *options->detect_rms_map, has_background = *options->detect_background_map;
    if (*options->rms_map && options->noise.rms > 0)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "rms-map: --rms gives the noise, too: leave one of them out");
    if (*options->background_map && !isnan(options->noise.background))
        return error_set(
            error, SRCFIND_ERROR_OPTIONS,
            "background-map: --background gives the background, too: leave one of them out");
    if ((has_rms || has_background) && !*options->detect_on)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "detect-%s-map: it is for the image of --detect-on: add --detect-on; for "
                         "the image itself there is --%s-map",
                         has_rms ? "rms" : "background", has_rms ? "rms" : "background");
    if (has_background && options->noise.background == 0)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "detect-background-map: --background zero is for both images: leave one "
                         "of them out");
    return SRCFIND_OK;
}

static enum srcfind_status check_regions(const struct options *options, struct error *error) {
    const bool has_noise = options->mask_noise;
    if (!*options->mask && (has_noise || options->regions_as != REGIONS_NOT_GIVEN))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: it needs regions, which --mask gives: add --mask, or leave it out",
                         has_noise ? "mask-noise" : "regions-as");
    if (has_noise && options->regions_as == REGIONS_MASK)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "mask-noise: with --regions-as mask regions change neither the search nor "
                         "the noise: leave one of them out");
    return SRCFIND_OK;
}

enum srcfind_status options_check(const struct options *options, struct error *error) {
    if (options->island > options->threshold)
        return refuse_island(options, error);
    enum srcfind_status status = check_noise_maps(options, error);
    if (status == SRCFIND_OK)
        status = check_regions(options, error);
    if (status != SRCFIND_OK)
        return status;
    if (*options->detect_on && options->image.plane.mean_first > 0)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "plane: mean finds sources in the average of planes, and --detect-on in "
                         "another image: leave one of them out");
    if (*options->detect_on && *options->at)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "detect-on: nothing is detected with --at: leave one of them out");
    if ((options->at_all || options->at_positive || options->at_search) && !*options->at)
        return error_set(
            error, SRCFIND_ERROR_OPTIONS,
            "%s: it goes with --at, which gives the positions: add --at, or leave it out",
            options->at_all        ? "at-all"
            : options->at_positive ? "at-positive"
                                   : "at-search");
    if (options->at_search && options->measure_in.n > 0)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at-search: it does not go with --measure-in: search first, and then give "
                         "the catalogue to --at with --measure-in");
    if (options->at_fixed && !*options->at)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at-fixed: it goes with --at, which gives positions and fluxes: add --at, "
                         "or leave it out");
    if (options->at_fixed && options->at_positive)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "at-positive: nothing is fitted with --at-fixed: leave one of them out");
    if (options->seed != SEED_NOT_GIVEN && options->completeness == 0)
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "seed: it goes with --completeness, which draws random numbers: leave it "
                         "out");
    if (*options->psf && !options_fit(options))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "psf: it is the shape of points in fits: add --fit, or leave it out");
    const bool has_patches = options->patches != PATCHES_NOT_GIVEN;
    if ((has_patches || !isnan(options->spectral_index)) && !options_fit(options))
        return error_set(error, SRCFIND_ERROR_OPTIONS,
                         "%s: it is for sky models (--format skymodel or sagecal), which list "
                         "Gaussians: add --fit "
                         "and the format, or leave it out",
                         has_patches ? "patches" : "spectral-index");
    return *options->at ? check_at(options, error) : SRCFIND_OK;
}

const char *options_get(const struct options *options, const char *name, char text[OPTIONS_TEXT]) {
    const struct entry *e = options_find(name);
    *text = '\0';
    if (!e)
        return NULL;
    const void *member = (const char *)options + e->offset;
    if (e->type == PATHS) {
        const struct path_list *list = member;
        return list->n > 0 ? list->text : "";
    }
    if (e->type == PATH)
        return *(const char *const *)member;
    if (e->type == CHOICE)
        print_choice(member, e->shown.values, text);
    else
        types[e->type].print(member, text);
    return text;
}
