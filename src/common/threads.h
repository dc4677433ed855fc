/* A thread pool for parallel loops. */
#ifndef THREADS_H
#define THREADS_H

#include <stdint.h>

#include "common/error.h"

struct interrupt;
struct threads;

/* Creates a pool of n >= 1 threads. The thread that calls threads_run is one of them; the others
 * are started when they are first needed. NULL where memory ran out. The caller destroys the pool.
 */
struct threads *threads_create(int n);

/* Gives the pool n >= 1 threads; where memory ran out, it stays as it is. Only between calls of
 * threads_run. */
void threads_resize(struct threads *threads, int n);

/* Ends the threads and frees the pool. threads may be NULL. */
void threads_destroy(struct threads *threads);

/* The number of threads; 1 for NULL. */
int threads_count(const struct threads *threads);

/* The interrupt that ends searches with these threads early; NULL for NULL. */
struct interrupt *threads_interrupt(struct threads *threads);

/* SRCFIND_INTERRUPTED if the call of the library is to end early; for between two stages, and
 * within long loops. threads may be NULL. */
enum srcfind_status threads_check(struct threads *threads, struct error *error);

/* Calls work(context, i) for i = 0 ... n - 1 on all threads, and returns after the last call. If a
 * thread is late or cannot be started, other threads make its calls: a call must not wait for
 * another one. Only one thread at a time may call threads_run. threads may be NULL: then the
 * calling thread makes all calls. */
void threads_run(struct threads *threads, int n, void (*work)(void *context, int i), void *context);

/* Makes calls that may fail. Status and error are those of the lowest i whose call failed, whatever
 * the order of the threads. Once a call has failed, calls for higher i may be left out. After an
 * interrupt the remaining calls fail. */
enum srcfind_status threads_try(struct threads *threads, int n,
                                enum srcfind_status (*work)(void *context, int i,
                                                            struct error *error),
                                void *context, struct error *error);

/* The number of shares, 1 or more, to divide n items into: at most the number of threads, and so
 * few that each share has at least `least` items, since it takes some microseconds to wake a
 * thread. */
int threads_shares(const struct threads *threads, int64_t n, int64_t least);

/* The index of the first of n items that belongs to share i of n_shares. Share i ends where share i
 * + 1 begins. */
static inline int64_t threads_share(int64_t n, int n_shares, int64_t i) {
    return n / n_shares * i + (i < n % n_shares ? i : n % n_shares);
}

/* By how much batches grow with the threads: 1 with up to 15 threads, 2 from 16 on, 4 from 32 on.
 * At the end of a batch threads wait for the last of them, and large batches have fewer ends. */
static inline int threads_batch_scale(const struct threads *threads) {
    const int n = threads_count(threads);
    return n < 16 ? 1 : n < 32 ? 2 : 4;
}

/* The number of CPUs that the process may use, by its affinity mask and its quotas. */
int threads_available(void);

#endif
