/* Holds back signals that end the process (SIGHUP, SIGINT, SIGTERM, ...) while any thread saves a
 * catalogue, so that no temporary file stays. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Installs handlers for these signals, except for those that are ignored. */
void signals_watch(void);

/* From now on a signal says that the run of n images was interrupted, and how many are done;
 * goes_on: --skip-existing would go on from there. */
void signals_count(int64_t n, bool goes_on);
/* One more image is done. */
void signals_count_done(void);

/* Between these two calls of any thread a signal does not end the process; the last release does.
 * After a signal has come, signals_hold does not return. */
void signals_hold(void);
void signals_release(void);

/* Holds them while a file is written; not for a pipe or a device (or NULL, standard output), which
 * has no temporary file, and which may be waited for without end. Returns whether it holds. */
bool signals_hold_for(const char *path);

#endif
