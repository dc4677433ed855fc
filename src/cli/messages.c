#include "cli/messages.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/clean.h"
#include "cli/exit_status.h"
#include "common/plural.h"

struct messages messages_for(const struct cli *cli) {
    return (struct messages){
        .quiet = cli->quiet,
        .verbose = cli->verbose,
        .progress = progress_for(cli),
        .stream = stderr,
        .row = cli->at_positions ? "position" : "source",
    };
}

void messages_text(struct messages *messages, const char *text) {
    progress_clear(&messages->progress);
    fputs(text, stderr);
}

const char *messages_without_path(const char *message, const char *path) {
    const size_t length = strlen(path);
    return strncmp(message, path, length) == 0 && strncmp(message + length, ": ", 2) == 0
               ? message + length + 2
               : message;
}

__attribute__((format(printf, 2, 0))) static void write_line(FILE *stream, const char *format,
                                                             va_list args) {
    char text[2 * PATH_MAX + 1024];
    vsnprintf(text, sizeof text, format, args);
    clean_in_place(text);
    fprintf(stream, "%s: %s\n", PROGRAM, text);
}

void messages_error(const struct messages *messages, const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line(messages->stream, format, args);
    va_end(args);
}

void messages_note(const struct messages *messages, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (!messages->quiet)
        write_line(messages->stream, format, args);
    va_end(args);
}

int messages_usage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line(stderr, format, args);
    va_end(args);
    return EXIT_USAGE;
}

int messages_no_memory(const char *doing) {
    fprintf(stderr, "%s: out of memory while %s\n", PROGRAM, doing);
    return EXIT_IMAGE;
}

int messages_written(const struct messages *messages, bool made) {
    if (made && fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    messages_error(messages, "standard output: %s", strerror(made ? errno : ENOMEM));
    return EXIT_IMAGE;
}

void messages_given_up(struct messages *messages, int64_t n) {
    progress_clear(&messages->progress);
    if (n > 0)
        messages_error(messages, "%lld more image%s not searched: the device cannot be used",
                       (long long)n, n == 1 ? " was" : "s were");
}

void messages_totals(struct messages *messages, const struct totals *t) {
    progress_clear(&messages->progress);
    if (t->images < 2 || (messages->quiet && t->failed == 0))
        return;
    fprintf(stderr, "srcfind: %lld images: %lld %ss, %lld failed, %lld skipped, %.3f s\n",
            (long long)t->images, (long long)t->sources, messages->row, (long long)t->failed,
            (long long)t->skipped, t->seconds);
}
