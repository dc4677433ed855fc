#include "cli/signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int n_holders;
static atomic_int signal_that_came; /* 0: none */

/* Ends the process as the signal would without a handler. Called in the handler, the process ends
 * when the handler returns. The first process of a container has no such end: it exits with the
 * status that a shell gives to the signal. */
static void end_process(int number) {
    if (getpid() == 1)
        _exit(128 + number);
    signal(number, SIG_DFL);
    raise(number);
}

/* Stores the signal first, then reads n_holders; signals_hold does the opposite. So either this
 * handler sees the holder, or the holder sees the signal. */
static void handle_signal(int number) {
    atomic_store(&signal_that_came, number);
    if (atomic_load(&n_holders) == 0)
        end_process(number);
}

void signals_watch(void) {
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
    struct sigaction watch = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &watch, NULL);
}

void signals_hold(void) {
    atomic_fetch_add(&n_holders, 1);
    if (atomic_load(&signal_that_came) == 0)
        return;
    signals_release();
    for (;;)
        pause(); /* until the last holder ends the process */
}

void signals_release(void) {
    const int n_left = atomic_fetch_sub(&n_holders, 1) - 1;
    const int number = atomic_load(&signal_that_came);
    if (n_left == 0 && number)
        end_process(number);
}
