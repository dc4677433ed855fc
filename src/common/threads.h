/* The same function on several threads. */
#ifndef PARALLEL_H
#define PARALLEL_H

/* Runs work(context, i) for i = 0 ... n - 1, each on a thread of its own, and waits for all. Where
 * a thread cannot be made, the calling thread does its share afterwards: work must not wait for
 * another i. */
void parallel_run(int n, void (*work)(void *context, int i), void *context);

/* How many CPUs the process may use (its affinity mask, not the machine). */
int parallel_available(void);

#endif
