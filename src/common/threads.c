#define _GNU_SOURCE /* sched_getaffinity */
#include "common/threads.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <threads.h>

struct task {
    void (*work)(void *context, int i);
    void *context;
    int i;
    thrd_t thread;
    bool started;
};

static int run_task(void *argument) {
    struct task *task = argument;
    task->work(task->context, task->i);
    return 0;
}

void parallel_run(int n, void (*work)(void *context, int i), void *context) {
    struct task *tasks = n > 1 ? calloc((size_t)n, sizeof *tasks) : NULL;
    for (int i = 1; tasks && i < n; i++) {
        tasks[i] = (struct task){.work = work, .context = context, .i = i};
        tasks[i].started = thrd_create(&tasks[i].thread, run_task, &tasks[i]) == thrd_success;
    }
    for (int i = 0; i < n; i++)
        if (i == 0 || !tasks || !tasks[i].started)
            work(context, i);
    for (int i = 1; tasks && i < n; i++)
        if (tasks[i].started)
            thrd_join(tasks[i].thread, NULL);
    free(tasks);
}

int parallel_available(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
    return 1;
}
