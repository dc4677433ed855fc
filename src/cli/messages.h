/* Messages on standard error, one line each. A progress line must be cleared before a message. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "cli/progress.h"

/* The name of the program, before each message; each main file defines it. */
extern const char PROGRAM[];

struct messages {
    bool quiet, verbose;
    struct progress progress;
    FILE *stream;      /* for messages: standard error, or a buffer in memory */
    const char *row;   /* what a row of a catalogue is: "source", or "position" with --at */
    const char *image; /* that they are about, with its plane; NULL before the first one */
};

struct messages messages_for(const struct cli *cli);

/* Writes `srcfind: text`, also with --quiet. */
__attribute__((format(printf, 2, 3))) void messages_error(const struct messages *messages,
                                                          const char *format, ...);

/* The same, but nothing with --quiet. */
__attribute__((format(printf, 2, 3))) void messages_note(const struct messages *messages,
                                                         const char *format, ...);

/* Writes `srcfind: text` to standard error, for what is wrong before a run begins. Returns
 * EXIT_USAGE. */
__attribute__((format(printf, 1, 2))) int messages_usage(const char *format, ...);

/* The same for memory that ran out; `doing` tells during what. Returns EXIT_IMAGE. */
int messages_no_memory(const char *doing);

/* Flushes standard output and reports an error. `made` is false if memory ran out before all was
 * written. Returns the exit status. */
int messages_written(const struct messages *messages, bool made);

/* What follows `PATH: ` in a message; the message itself where it does not begin so. */
const char *messages_without_path(const char *message, const char *path);

/* Writes messages that were kept in memory. */
void messages_text(struct messages *messages, const char *text);

/* Reports that n images were not searched because no device can be used any more. */
void messages_given_up(struct messages *messages, int64_t n);

/* Reports the totals of a run, if it has several images: with --quiet only if one failed. */
void messages_totals(struct messages *messages, const struct totals *totals);

#endif
