#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int holders;
static atomic_int signal_that_came; /* 0: none */

/* Ends the process as the signal would have. In its handler it is held back until that returns. */
static void end(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

/* Either this sees the one that holds it back, or that sees the signal. */
static void come(int number) {
    atomic_store(&signal_that_came, number);
    if (atomic_load(&holders) == 0)
        end(number);
}

void ending_watch(void) {
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
    struct sigaction watch = {.sa_handler = come, .sa_flags = SA_RESTART}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &watch, NULL);
}

void ending_hold(void) {
    atomic_fetch_add(&holders, 1);
    if (atomic_load(&signal_that_came) == 0)
        return;
    ending_release();
    for (;;)
        pause(); /* for the last holder to end the process */
}

void ending_release(void) {
    const int left = atomic_fetch_sub(&holders, 1) - 1;
    const int number = atomic_load(&signal_that_came);
    if (left == 0 && number)
        end(number);
}
