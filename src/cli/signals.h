/* Signals that end the process (SIGHUP, SIGINT, SIGTERM), held back while any thread saves a
 * catalogue, so that none leaves a half-written file beside it. */
#ifndef ENDING_H
#define ENDING_H

/* Begins to look out for them, but for those that are ignored. */
void ending_watch(void);

/* Between these two the process does not end; it does as soon as no thread is between them. After a
 * signal has come, ending_hold does not return. */
void ending_hold(void);
void ending_release(void);

#endif
