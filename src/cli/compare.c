#include "cli/compare.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command_line.h"
#include "cli/compare_report.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "cli/targets.h"
#include "common/text_stream.h"

struct sides {
    struct srcfind *finder[SIDES];
    struct srcfind_catalogue *catalogue[SIDES];
    struct compared_text text[MOST_FORMATS];
};

static enum srcfind_status open_sides(const struct cli *cli, struct sides *s,
                                      struct messages *messages) {
    for (int side = 0; side < SIDES; side++) {
        const char *of_gpu = command_line_has_device(cli, "auto") ? "0" : NULL;
        struct srcfind_options *options =
            command_line_options(cli, side == SIDE_CPU ? "cpu" : of_gpu);
        const enum srcfind_status status =
            options ? srcfind_create(options, &s->finder[side]) : SRCFIND_ERROR_MEMORY;
        srcfind_options_destroy(options);
        if (status != SRCFIND_OK) {
            messages_error(messages, "%s%s",
                           status == SRCFIND_ERROR_DEVICE ? "--compare-cpu needs a GPU: " : "",
                           srcfind_message(s->finder[side]));
            return status;
        }
    }
    return SRCFIND_OK;
}

/* Writes a catalogue to memory, as it would be in a file. */
static enum srcfind_status write_text(struct srcfind *finder,
                                      const struct srcfind_catalogue *catalogue, const char *format,
                                      char **at, size_t *size) {
    struct text text = {0};
    FILE *stream = text_stream_open(&text);
    if (!stream)
        return SRCFIND_ERROR_MEMORY;
    const enum srcfind_status status = srcfind_catalogue_write(finder, catalogue, format, stream);
    const bool closed = fclose(stream) == 0;
    *at = text.at;
    *size = (size_t)text.size;
    return closed ? status : SRCFIND_ERROR_MEMORY;
}

/* Searches twice: the first search warms up the device and the file cache, the second is timed. */
static enum srcfind_status compare_search(struct sides *s, int side, const char *image) {
    enum srcfind_status status = SRCFIND_OK;
    for (int i = 0; status == SRCFIND_OK && i < 2; i++) {
        srcfind_catalogue_destroy(s->catalogue[side]);
        status = srcfind_find_file(s->finder[side], image, &s->catalogue[side]);
    }
    for (int i = 0; status == SRCFIND_OK && i < MOST_FORMATS && srcfind_format(i); i++)
        if (compare_report_has_format(i))
            status = write_text(s->finder[side], s->catalogue[side], srcfind_format(i)->name,
                                &s->text[i].at[side], &s->text[i].size[side]);
    return status;
}

static void clear_search(struct sides *s) {
    for (int side = 0; side < SIDES; side++) {
        srcfind_catalogue_destroy(s->catalogue[side]);
        s->catalogue[side] = NULL;
        for (int i = 0; i < MOST_FORMATS; i++) {
            free(s->text[i].at[side]);
            s->text[i].at[side] = NULL;
        }
    }
}

static int compare_write(const struct sides *s, bool as_json, struct messages *messages) {
    const struct srcfind_catalogue *const catalogue[SIDES] = {s->catalogue[SIDE_CPU],
                                                              s->catalogue[SIDE_GPU]};
    const struct compare_report c = compare_report_make(catalogue, s->text);
    progress_clear(&messages->progress);
    const int written = messages_written(messages, compare_report_write(&c, as_json, stdout));
    return written != EXIT_OK ? written : c.same ? EXIT_OK : EXIT_DIFFERENCE;
}

static int compare_image(struct sides *s, const char *image, bool as_json,
                         struct messages *messages) {
    int status = EXIT_OK;
    for (int side = SIDES - 1; side >= 0 && status == EXIT_OK; side--) {
        const enum srcfind_status found = compare_search(s, side, image);
        status = exit_status_of(found);
        progress_clear(&messages->progress);
        if (found == SRCFIND_ERROR_MEMORY)
            messages_error(messages, "%s: out of memory while comparing", image);
        else if (found != SRCFIND_OK)
            messages_error(messages, "%s", srcfind_message(s->finder[side]));
    }
    if (status == EXIT_OK)
        status = compare_write(s, as_json, messages);
    clear_search(s);
    return status;
}

int compare_run(const struct cli *cli) {
    struct messages messages = messages_for(cli);
    struct targets targets = {0};
    struct sides sides = {0};
    const struct totals done = {0};
    int worst = targets_make(cli, &targets);
    if (worst == EXIT_OK)
        worst = exit_status_of(open_sides(cli, &sides, &messages));
    const bool ready = worst == EXIT_OK;
    for (int64_t i = 0; ready && i < targets.n; i++) {
        progress_show(&messages.progress, i, targets.n, &done, messages.row,
                      targets.target[i].image);
        const int status =
            compare_image(&sides, targets.target[i].image, targets_are_json(&targets), &messages);
        worst = status > worst ? status : worst;
        if ((status == EXIT_DEVICE && !srcfind_device_is_usable(sides.finder[SIDE_GPU])) ||
            (cli->fail_fast && status != EXIT_OK))
            break;
    }
    progress_clear(&messages.progress);
    targets_free(&targets);
    for (int side = 0; side < SIDES; side++)
        srcfind_destroy(sides.finder[side]);
    return worst;
}
