/* C11's threads by POSIX's, for ThreadSanitizer: it follows the calls of POSIX threads, but not
 * those of C11, which glibc's own functions carry out without it. Linked to every program of such a
 * build. glibc's types hold those of POSIX threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "a mutex fits");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "a condition fits");

struct start {
    thrd_start_t function;
    void *argument;
};

static void *run(void *argument) {
    const struct start start = *(struct start *)argument;
    free(argument);
    return (void *)(intptr_t)start.function(start.argument);
}

static int result_of(int error) {
    return error == 0 ? thrd_success : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    struct start *start = malloc(sizeof *start);
    if (!start)
        return thrd_nomem;
    *start = (struct start){function, argument};
    const int error = pthread_create(thread, NULL, run, start);
    if (error != 0)
        free(start);
    return result_of(error);
}

int thrd_join(thrd_t thread, int *result) {
    void *returned = NULL;
    const int error = pthread_join(thread, &returned);
    if (result)
        *result = (int)(intptr_t)returned;
    return result_of(error);
}

int mtx_init(mtx_t *mutex, int type) {
    (void)type; /* srcfind has plain ones only */
    return result_of(pthread_mutex_init((pthread_mutex_t *)mutex, NULL));
}

void mtx_destroy(mtx_t *mutex) {
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex) {
    return result_of(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_unlock(mtx_t *mutex) {
    return result_of(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

int cnd_init(cnd_t *condition) {
    return result_of(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

void cnd_destroy(cnd_t *condition) {
    pthread_cond_destroy((pthread_cond_t *)condition);
}

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return result_of(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_signal(cnd_t *condition) {
    return result_of(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition) {
    return result_of(pthread_cond_broadcast((pthread_cond_t *)condition));
}

void call_once(once_flag *flag, void (*function)(void)) {
    pthread_once((pthread_once_t *)flag, function);
}
