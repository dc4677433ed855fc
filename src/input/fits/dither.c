#include "input/fits/dither.h"

#include <threads.h>

/* A walk goes through the table from one of its first SEEDS numbers to its end. */
enum { SEEDS = 500 };

static float numbers[DITHER_NUMBERS];
static once_flag once = ONCE_FLAG_INIT;

/* Park and Miller 1988, CACM 31, 1192: the minimal standard generator. */
static void make_numbers(void) {
    const uint64_t multiplier = 16807, modulus = 2147483647;
    uint64_t state = 1;
    for (int i = 0; i < DITHER_NUMBERS; i++) {
        state = state * multiplier % modulus;
        numbers[i] = (float)((double)state / (double)modulus);
    }
}

static int walk_start(int seed) {
    return (int)(numbers[seed] * SEEDS);
}

struct dither dither_start(int64_t tile) {
    call_once(&once, make_numbers);
    const int seed = (int)(((tile - 1) % DITHER_NUMBERS + DITHER_NUMBERS) % DITHER_NUMBERS);
    return (struct dither){0, seed, walk_start(seed)};
}

/* Starts the next walk through the table. */
static void start_next_walk(struct dither *d) {
    d->seed = (d->seed + 1) % DITHER_NUMBERS;
    d->next = walk_start(d->seed);
}

const float *dither_numbers(struct dither *d, int64_t pixel, int64_t *n) {
    while (pixel - d->pixel >= DITHER_NUMBERS - d->next) {
        d->pixel += DITHER_NUMBERS - d->next;
        start_next_walk(d);
    }
    d->next += (int)(pixel - d->pixel);
    d->pixel = pixel;
    if (*n > DITHER_NUMBERS - d->next)
        *n = DITHER_NUMBERS - d->next;
    return numbers + d->next;
}
