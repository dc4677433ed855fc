/* Asks who called the library, now and then, whether the call is to end early. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdatomic.h>
#include <threads.h>

#include "common/error.h"

struct interrupt {
    bool (*interrupted)(void *user); /* NULL: no call is to end early */
    void *user;
    thrd_t caller; /* the thread of the call: it alone asks */
    double next;   /* when it asks again */
    double every;  /* seconds */
    atomic_bool has_come;
};

/* Begins a call, by the thread that makes it. */
void interrupt_begin(struct interrupt *interrupt);

/* Whether the call is to end: true from the first time on that the answer was yes. Any thread may
 * find out; only the caller's asks. */
bool interrupt_has_come(struct interrupt *interrupt);

#endif
