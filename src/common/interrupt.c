#include "common/interrupt.h"

#include "common/clock.h"
#include "common/hook.h"

/* The answer may have to wait for Python's lock, which another thread gives up every 5 ms. */
static const double EVERY = 0.05;

void interrupt_begin(struct interrupt *i) {
    i->caller = thrd_current();
    i->next = 0;
    i->every = hook("SRCFIND_ASK_ALWAYS") ? 0 : EVERY;
    atomic_store(&i->has_come, false);
}

bool interrupt_has_come(struct interrupt *i) {
    if (!i->interrupted)
        return false;
    if (atomic_load(&i->has_come) || !thrd_equal(thrd_current(), i->caller))
        return atomic_load(&i->has_come);
    const double now = clock_seconds();
    if (now < i->next)
        return false;
    const bool has_come = i->interrupted(i->user);
    i->next = now + i->every;
    atomic_store(&i->has_come, has_come);
    return has_come;
}
