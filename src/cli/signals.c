#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "common/path.h"

static atomic_int n_holders;
static atomic_int signal_that_came; /* 0: none */

/* What is said of a run that is interrupted; no message where n is 0. */
static struct {
    _Atomic int64_t n, n_done;
    atomic_bool goes_on;
    atomic_flag is_said;
} run = {.is_said = ATOMIC_FLAG_INIT};

enum { LINE = 128 };

static size_t add_text(char *line, size_t length, const char *text) {
    while (*text && length < LINE)
        line[length++] = *text++;
    return length;
}

static size_t add_number(char *line, size_t length, int64_t number) {
    char digits[24], *first = digits + sizeof digits - 1;
    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return add_text(line, length, first);
}

/* Writes what was done. A handler may call nothing of stdio: it may have interrupted it. */
static void say_interrupted(void) {
    char line[LINE];
    const int64_t n = atomic_load(&run.n);
    if (n == 0 || atomic_flag_test_and_set(&run.is_said))
        return;
    size_t length = add_text(line, 0, isatty(STDERR_FILENO) ? "\r\033[K" : "");
    length = add_text(line, length, "srcfind: interrupted: ");
    length = add_number(line, length, atomic_load(&run.n_done));
    length = add_text(line, length, " of ");
    length = add_number(line, length, n);
    length = add_text(line, length, " done");
    length =
        add_text(line, length, atomic_load(&run.goes_on) ? "; --skip-existing goes on\n" : "\n");
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* nobody is there to read it */
}

/* Ends the process as the signal would without a handler. Called in the handler, the process ends
 * when the handler returns. The first process of a container has no such end: it exits with the
 * status that a shell gives to the signal. */
static void end_process(int number) {
    if (number != SIGPIPE)
        say_interrupted();
    if (getpid() == 1)
        _exit(128 + number);
    signal(number, SIG_DFL);
    raise(number);
}

/* Stores the signal first, then reads n_holders; signals_hold does the opposite. So either this
 * handler sees the holder, or the holder sees the signal. */
static void handle_signal(int number) {
    const int before = errno; /* of the call that this handler interrupts */
    atomic_store(&signal_that_came, number);
    if (atomic_load(&n_holders) == 0)
        end_process(number);
    errno = before;
}

void signals_watch(void) {
    static const int numbers[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
    struct sigaction watch = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &watch, NULL);
}

void signals_count(int64_t n, bool goes_on) {
    atomic_store(&run.n_done, 0);
    atomic_store(&run.goes_on, goes_on);
    atomic_store(&run.n, n);
}

void signals_count_done(void) {
    atomic_fetch_add(&run.n_done, 1);
}

void signals_hold(void) {
    atomic_fetch_add(&n_holders, 1);
    if (atomic_load(&signal_that_came) == 0)
        return;
    signals_release();
    for (;;)
        pause(); /* until the last holder ends the process */
}

bool signals_hold_for(const char *path) {
    const bool is_file = path && !path_is_stream(path);
    if (is_file)
        signals_hold();
    return is_file;
}

void signals_release(void) {
    const int n_left = atomic_fetch_sub(&n_holders, 1) - 1;
    const int number = atomic_load(&signal_that_came);
    if (n_left == 0 && number)
        end_process(number);
}
