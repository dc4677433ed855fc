/* Holds back signals that end the process (SIGHUP, SIGINT, SIGTERM, ...) while any thread saves a
 * catalogue, so that no temporary file stays. */
#ifndef SIGNALS_H
#define SIGNALS_H

/* Installs handlers for these signals, except for those that are ignored. */
void signals_watch(void);

/* Between these two calls of any thread a signal does not end the process; the last release does.
 * After a signal has come, signals_hold does not return. */
void signals_hold(void);
void signals_release(void);

#endif
