/* The kernels of local noise. The pixels of a box are keys in rows. One pass of a clip picks the
 * keys near the median and in the tails, and its rounds work on these alone. */
#ifndef KEY_ROWS_H
#define KEY_ROWS_H

#include "backend/value_sums.h"

enum { KEY_LANES = 16, KEY_ALIGNMENT = 64, REACH_PIXELS = 32, MOST_GATHERED = 32 };

/* Rows of KEY_LANES keys, aligned to KEY_ALIGNMENT bytes. A key is a pixel's (key_of_pixel), or
 * KEY_BLANK for a blank pixel and behind the last pixel. */
struct key_rows {
    int32_t *keys;
    int64_t n;
};

#define KEY_BLANK INT32_MAX

/* Maps a finite float to an integer, in the same order; -0 has the key of 0. */
static inline int32_t key_of_pixel(float x) {
    return (int32_t)(exact_key(x) ^ 0x80000000u);
}

static inline float pixel_of_key(int32_t key) {
    return exact_unkey((uint32_t)key ^ 0x80000000u);
}

/* The bounds of picked keys: near the median within [low, high); in the tails < outer_low or >
 * outer_high. */
struct key_window {
    int32_t outer_low, low, high, outer_high;
};

/* The keys that were picked, in rows that are filled up with KEY_BLANK. */
struct picked_keys {
    struct key_rows middle, outer;
    int64_t below, n_middle; /* the numbers of keys < window.low, and within the window */
};

/* A few keys, and room for more. */
struct gathered_keys {
    _Alignas(KEY_ALIGNMENT) int32_t keys[MOST_GATHERED + 2 * KEY_LANES];
};

/* The kernels, compiled for an instruction set. `rows` are n sets of rows. */
struct key_kernels {
    /* Writes the keys of n pixels, float32 values in the byte order that `swapped` says. */
    void (*convert)(const uint32_t *pixels, bool swapped, int64_t n, int32_t *keys);
    /* Whether one of REACH_PIXELS pixels is blank or not below its bound. */
    bool (*reach)(const uint32_t *pixels, bool swapped, const float *bounds);
    /* Which of REACH_PIXELS pixels are >= high or <= low: a bit for each, the lowest for the first.
     */
    uint32_t (*leave)(const uint32_t *pixels, bool swapped, float low, float high);
    /* picked->middle and picked->outer each have capacity for all rows and two more. Blanks may be
     * among the outer keys. */
    void (*pick)(const struct key_rows *rows, int64_t n, const struct key_window *window,
                 struct picked_keys *picked);
    /* The number of keys < key. */
    int64_t (*count)(const struct key_rows *rows, int64_t n, int32_t key);
    /* The greatest key < key, and the least >= key; INT32_MIN and KEY_BLANK where there is none. */
    void (*neighbours)(const struct key_rows *rows, int64_t n, int32_t key, int32_t *below,
                       int32_t *above);
    /* Gathers the keys within [low, high), at most MOST_GATHERED. Returns their number. */
    int64_t (*gather)(const struct key_rows *rows, int64_t n, int32_t low, int32_t high,
                      struct gathered_keys *gathered);
    /* Sorts the first n of gathered keys. */
    void (*sort)(struct gathered_keys *gathered, int64_t n);
    /* Adds the keys within [low, high], but not within [inner_low, inner_high], to the sums; high <
     * KEY_BLANK. An empty inner range is inner_low > inner_high. */
    void (*sum)(const struct key_rows *rows, int64_t n, int32_t low, int32_t inner_low,
                int32_t inner_high, int32_t high, struct value_sums *sums);
};

extern const struct key_kernels key_kernels_plain, key_kernels_avx2, key_kernels_avx512;

#endif
