#include "api/finder.h"

#include "common/interrupt.h"

void finder_begin(struct srcfind *finder) {
    struct interrupt *interrupt = threads_interrupt(finder->threads);
    if (interrupt)
        interrupt_begin(interrupt);
}

void finder_use_threads(struct srcfind *finder, int n) {
    threads_resize(finder->threads, n);
    finder->options.threads = threads_count(finder->threads);
}

void finder_expect(struct srcfind *finder, double n_images) {
    if (finder->gpu)
        gpu_expect(finder->gpu, n_images);
}

bool finder_wants_gpu(const struct options *o) {
    return o->device >= 0 || o->device == DEVICE_ALL;
}
