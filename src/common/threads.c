#define _GNU_SOURCE /* sched_getaffinity */
#include "common/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <threads.h>

#include "common/cgroups.h"
#include "common/hook.h"
#include "common/interrupt.h"

/* A parallel loop: n calls. A thread takes the next number and makes that call. */
struct loop {
    void (*work)(void *context, int i);
    void *context;
    int n;
    atomic_int next;
};

struct threads {
    int n;                   /* number of threads, including the caller */
    int n_started, capacity; /* that are started, some of which may now be too many; of `started` */
    struct interrupt interrupt;
    bool complete; /* all threads were started, or could not be */
    mtx_t lock;    /* protects all members that follow */
    cnd_t wake, done;
    struct loop *loop;
    int n_invited; /* threads that may still join the loop */
    int n_working; /* threads that have joined it */
    bool ending;
    thrd_t *started;
};

static void run_share(struct loop *loop) {
    for (int i; (i = atomic_fetch_add(&loop->next, 1)) < loop->n;)
        loop->work(loop->context, i);
}

static int wait_and_work(void *argument) {
    struct threads *t = argument;
    mtx_lock(&t->lock);
    for (;;) {
        while (t->n_invited == 0 && !t->ending)
            cnd_wait(&t->wake, &t->lock);
        if (t->ending)
            break;
        t->n_invited--;
        t->n_working++;
        struct loop *loop = t->loop;
        mtx_unlock(&t->lock);
        run_share(loop);
        mtx_lock(&t->lock);
        if (--t->n_working == 0)
            cnd_signal(&t->done);
    }
    mtx_unlock(&t->lock);
    return 0;
}

struct threads *threads_create(int n) {
    struct threads *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    threads_resize(t, n);
    if (!t->started)
        goto no_threads;
    if (mtx_init(&t->lock, mtx_plain) != thrd_success)
        goto no_lock;
    if (cnd_init(&t->wake) != thrd_success)
        goto no_wake;
    if (cnd_init(&t->done) == thrd_success)
        return t;
    cnd_destroy(&t->wake);
no_wake:
    mtx_destroy(&t->lock);
no_lock:
    free(t->started);
no_threads:
    free(t);
    return NULL;
}

void threads_resize(struct threads *t, int n) {
    thrd_t *started = n > t->capacity ? realloc(t->started, (size_t)n * sizeof *started) : NULL;
    if (n > t->capacity && !started)
        return;
    if (started) {
        t->started = started;
        t->capacity = n;
    }
    t->n = n;
    t->complete = t->n_started >= n - 1;
}

void threads_destroy(struct threads *t) {
    if (!t)
        return;
    mtx_lock(&t->lock);
    t->ending = true;
    cnd_broadcast(&t->wake);
    mtx_unlock(&t->lock);
    for (int i = 0; i < t->n_started; i++)
        thrd_join(t->started[i], NULL);
    cnd_destroy(&t->done);
    cnd_destroy(&t->wake);
    mtx_destroy(&t->lock);
    free(t->started);
    free(t);
}

int threads_count(const struct threads *t) {
    return t ? t->n : 1;
}

struct interrupt *threads_interrupt(struct threads *t) {
    return t ? &t->interrupt : NULL;
}

enum srcfind_status threads_check(struct threads *t, struct error *error) {
    return t && interrupt_has_come(&t->interrupt)
               ? error_set(error, SRCFIND_INTERRUPTED, "interrupted")
               : SRCFIND_OK;
}

static void start_threads(struct threads *t) {
    while (t->n_started < t->n - 1 &&
           thrd_create(&t->started[t->n_started], wait_and_work, t) == thrd_success)
        t->n_started++;
    t->complete = true;
}

void threads_run(struct threads *t, int n, void (*work)(void *context, int i), void *context) {
    struct loop loop = {.work = work, .context = context, .n = n};
    if (!t || n == 1 || t->n == 1) {
        run_share(&loop);
        return;
    }
    if (!t->complete)
        start_threads(t);
    mtx_lock(&t->lock);
    t->loop = &loop;
    const int most = t->n_started < t->n ? t->n_started : t->n - 1;
    t->n_invited = n - 1 < most ? n - 1 : most;
    for (int i = 0; i < t->n_invited; i++)
        cnd_signal(&t->wake);
    mtx_unlock(&t->lock);
    run_share(&loop);
    mtx_lock(&t->lock);
    t->n_invited = 0; /* a thread that wakes up now must not join */
    while (t->n_working > 0)
        cnd_wait(&t->done, &t->lock);
    mtx_unlock(&t->lock);
}

/* A parallel loop whose calls may fail. */
struct trial {
    struct threads *threads;
    enum srcfind_status (*work)(void *context, int i, struct error *error);
    void *context;
    atomic_int failed;          /* the lowest i whose call failed; n if none did */
    enum srcfind_status status; /* of this call; the lock of the threads protects it and `error` */
    struct error *error;
};

/* Keeps the error of the lowest i. */
static void record_failure(struct trial *trial, int i, enum srcfind_status status,
                           const struct error *error) {
    if (trial->threads)
        mtx_lock(&trial->threads->lock);
    if (i < trial->failed) {
        trial->failed = i;
        trial->status = status;
        *trial->error = *error;
    }
    if (trial->threads)
        mtx_unlock(&trial->threads->lock);
}

static void try_call(void *context, int i) {
    struct trial *trial = context;
    struct error error;
    if (i > trial->failed)
        return;
    enum srcfind_status status = threads_check(trial->threads, &error);
    if (status == SRCFIND_OK)
        status = trial->work(trial->context, i, &error);
    if (status != SRCFIND_OK)
        record_failure(trial, i, status, &error);
}

enum srcfind_status threads_try(struct threads *t, int n,
                                enum srcfind_status (*work)(void *context, int i,
                                                            struct error *error),
                                void *context, struct error *error) {
    struct trial trial = {t, work, context, n, SRCFIND_OK, error};
    threads_run(t, n, try_call, &trial);
    return trial.status;
}

int threads_shares(const struct threads *t, int64_t n, int64_t least) {
    const int64_t shares = n / least, most = threads_count(t);
    return (int)(shares < 1 ? 1 : shares < most ? shares : most);
}

int threads_available(void) {
    cpu_set_t set;
    const char *root = hook("SRCFIND_CGROUP_ROOT");
    const int quota = cgroups_cpus(root ? root : "");
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n < quota ? n : quota;
}
