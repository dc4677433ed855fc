#include "cpu/histogram.h"

#include <stdlib.h>

enum { BINS = 1 << 16, DETAILS_A_READ = 32, DETAIL_THREADS = 8 };

/* Pixels whose keys share the upper 16 bits; low is the lower 16 bits of their own bits. */
struct bin {
    int64_t count;
    uint64_t low, low_square;
};

/* Counts by the lower 16 bits of the key. */
struct detail {
    int64_t count[BINS];
};

struct histogram {
    const struct pixel_source *source;
    int n_threads;
    struct bin *bins;             /* BINS of each thread; the first thread's become the total */
    int64_t *blanks;              /* of each thread */
    struct detail *details[BINS]; /* NULL where not counted */
    struct detail *part;          /* DETAILS_A_READ of each thread, while they are counted */
    int wanted[DETAILS_A_READ], n_wanted;
    int16_t slot[BINS]; /* of wanted bins, while they are counted; else -1 */
    uint32_t low, high; /* the keys that are left lie within, both inclusive */
    bool guessed;       /* a detail was missing in this run of the clip */
};

static bool count_piece(void *context, int worker, const struct piece *piece) {
    struct histogram *h = context;
    struct bin *bins = h->bins + (size_t)worker * BINS;
    for (int64_t i = 0; i < piece->count; i++) {
        const float v = pixel_value(piece->pixels[i], h->source->swapped);
        if (!isfinite(v)) {
            h->blanks[worker]++;
            continue;
        }
        const uint32_t key = exact_key(v);
        const uint64_t low = exact_bits(exact_unkey(key)) & 0xffff;
        struct bin *bin = &bins[key >> 16];
        bin->count++;
        bin->low += low;
        bin->low_square += low * low;
    }
    return true;
}

static bool detail_piece(void *context, int worker, const struct piece *piece) {
    struct histogram *h = context;
    struct detail *part = h->part + (size_t)worker * DETAILS_A_READ;
    for (int64_t i = 0; i < piece->count; i++) {
        const float v = pixel_value(piece->pixels[i], h->source->swapped);
        const uint32_t key = exact_key(v);
        const int slot = h->slot[key >> 16];
        if (slot >= 0 && isfinite(v))
            part[slot].count[key & 0xffff]++;
    }
    return true;
}

/* The pixel of a bin whose lower bits are 0: its mantissa is the base of the others'. */
static uint32_t base_bits(int bin) {
    return exact_bits(exact_unkey((uint32_t)bin << 16)) & 0xffff0000u;
}

/* Adds a whole bin: m = base + low, so that sum m and sum m^2 follow from the sums of low. */
static void add_bin(struct exact_sums *sums, const struct bin *bin, int number) {
    const uint32_t bits = base_bits(number);
    const int e = exact_exponent(bits);
    const int128 base = exact_mantissa(bits), n = bin->count;
    const int128 sum = base * n + bin->low;
    sums->sum[e] += bits >> 31 ? -sum : sum;
    sums->square[e] += (uint128)(base * base * n + 2 * base * bin->low + bin->low_square);
}

/* Asks for the detail of a bin in the next read, and goes on without it for now. */
static void want(struct histogram *h, int bin) {
    h->guessed = true;
    for (int i = 0; i < h->n_wanted; i++)
        if (h->wanted[i] == bin)
            return;
    if (h->n_wanted < DETAILS_A_READ)
        h->wanted[h->n_wanted++] = bin;
}

/* The part of a bin whose keys lie within [low, high]; the whole of it where that is not known. */
static int64_t add_part(struct histogram *h, struct exact_sums *sums, int bin) {
    const uint32_t first = (uint32_t)bin << 16, last = first | 0xffff;
    int64_t n = 0;
    if (h->bins[bin].count == 0)
        return 0;
    if (h->low <= first && h->high >= last) {
        add_bin(sums, &h->bins[bin], bin);
        return h->bins[bin].count;
    }
    if (!h->details[bin]) {
        want(h, bin);
        add_bin(sums, &h->bins[bin], bin);
        return h->bins[bin].count;
    }
    for (uint32_t key = first > h->low ? first : h->low;; key++) {
        const int64_t count = h->details[bin]->count[key & 0xffff];
        n += count;
        if (count)
            exact_add(sums, exact_unkey(key), count);
        if (key == last || key == h->high)
            return n;
    }
}

static void sum_up(struct histogram *h, struct clip_set *set) {
    set->sums = (struct exact_sums){0};
    set->n = 0;
    for (int bin = (int)(h->low >> 16); bin <= (int)(h->high >> 16) && h->low <= h->high; bin++)
        set->n += add_part(h, &set->sums, bin);
}

/* How many pixels of a bin are left and have keys up to `key`. */
static int64_t count_to(const struct histogram *h, int bin, uint32_t key) {
    const uint32_t first = (uint32_t)bin << 16;
    int64_t n = 0;
    for (uint32_t k = first > h->low ? first : h->low; k <= key && k <= h->high; k++) {
        n += h->details[bin]->count[k & 0xffff];
        if (k == UINT32_MAX)
            break;
    }
    return n;
}

static bool histogram_select(struct clip_set *set, int64_t k, float *value) {
    struct histogram *h = set->state;
    struct exact_sums ignored = {0};
    int bin = (int)(h->low >> 16);
    for (int64_t n; bin < BINS - 1 && k >= (n = add_part(h, &ignored, bin)); bin++)
        k -= n;
    const uint32_t first = (uint32_t)bin << 16;
    if (!h->details[bin]) {
        want(h, bin);
        *value = exact_unkey(first | 0x8000);
        return true;
    }
    uint32_t low = first, high = first | 0xffff; /* the least key with count_to > k */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (count_to(h, bin, middle) > k)
            high = middle;
        else
            low = middle + 1;
    }
    *value = exact_unkey(low);
    return true;
}

static bool histogram_trim(struct clip_set *set, float low, float high) {
    struct histogram *h = set->state;
    const uint32_t low_key = exact_key(low), high_key = exact_key(high);
    const struct clip_set before = *set;
    const uint32_t old_low = h->low, old_high = h->high;
    h->low = low_key > h->low ? low_key : h->low;
    h->high = high_key < h->high ? high_key : h->high;
    if (h->low != old_low || h->high != old_high)
        sum_up(h, set);
    if (set->n == 0 && before.n > 0) { /* the clip ends: the numbers stay those before it */
        h->low = old_low;
        h->high = old_high;
    }
    return true;
}

/* The least or greatest value that is left. */
static double extreme(struct histogram *h, bool greatest) {
    const int first = (int)(h->low >> 16), last = (int)(h->high >> 16);
    struct exact_sums ignored = {0};
    for (int i = 0; i <= last - first; i++) {
        const int bin = greatest ? last - i : first + i;
        if (add_part(h, &ignored, bin) == 0)
            continue;
        if (!h->details[bin]) {
            want(h, bin);
            return 0;
        }
        for (uint32_t j = 0; j < BINS; j++) {
            const uint32_t key = (uint32_t)bin << 16 | (greatest ? BINS - 1 - j : j);
            if (key >= h->low && key <= h->high && h->details[bin]->count[key & 0xffff])
                return exact_unkey(key);
        }
    }
    return 0;
}

/* Runs the clip from the start, with the details that there are. True if none was missing. */
static bool try_clip(struct histogram *h, double kappa, struct srcfind_background *b) {
    struct clip_set set = {.state = h, .select = histogram_select, .trim = histogram_trim};
    h->low = 0;
    h->high = UINT32_MAX;
    h->guessed = false;
    sum_up(h, &set);
    b->n_kept = set.n;
    if (set.n == 0)
        return true;
    clip_run(&set, kappa, b, NULL);
    b->min = extreme(h, false);
    b->max = extreme(h, true);
    return !h->guessed;
}

static enum srcfind_status count_bins(struct histogram *h, struct error *error) {
    const enum srcfind_status status = pieces_run(h->source, h->n_threads, count_piece, h, error);
    for (int t = 1; t < h->n_threads; t++) {
        for (int i = 0; i < BINS; i++) {
            const struct bin *bin = &h->bins[(size_t)t * BINS + (size_t)i];
            h->bins[i].count += bin->count;
            h->bins[i].low += bin->low;
            h->bins[i].low_square += bin->low_square;
        }
    }
    return status;
}

static enum srcfind_status count_details(struct histogram *h, struct error *error) {
    const int n_threads = h->n_threads < DETAIL_THREADS ? h->n_threads : DETAIL_THREADS;
    h->part = calloc((size_t)n_threads * DETAILS_A_READ, sizeof *h->part);
    if (!h->part)
        return error_memory(error, "clipping");
    memset(h->slot, -1, sizeof h->slot);
    for (int i = 0; i < h->n_wanted; i++)
        h->slot[h->wanted[i]] = (int16_t)i;
    enum srcfind_status status = pieces_run(h->source, n_threads, detail_piece, h, error);
    for (int i = 0; status == SRCFIND_OK && i < h->n_wanted; i++) {
        struct detail *total = h->details[h->wanted[i]] = calloc(1, sizeof *total);
        if (!total)
            status = error_memory(error, "clipping");
        for (int t = 0; total && t < n_threads; t++)
            for (int j = 0; j < BINS; j++)
                total->count[j] += h->part[t * DETAILS_A_READ + i].count[j];
    }
    free(h->part);
    h->part = NULL;
    h->n_wanted = 0;
    return status;
}

static void histogram_free(struct histogram *h) {
    for (int i = 0; i < BINS; i++)
        free(h->details[i]);
    free(h->bins);
    free(h->blanks);
    free(h);
}

enum srcfind_status histogram_clip(const struct pixel_source *source, double kappa, int n_threads,
                                   struct srcfind_background *b, struct error *error) {
    struct histogram *h = calloc(1, sizeof *h);
    if (!h)
        return error_memory(error, "clipping");
    h->source = source;
    h->n_threads = n_threads;
    h->bins = calloc((size_t)n_threads * BINS, sizeof *h->bins);
    h->blanks = calloc((size_t)n_threads, sizeof *h->blanks);
    enum srcfind_status status =
        h->bins && h->blanks ? count_bins(h, error) : error_memory(error, "clipping");
    while (status == SRCFIND_OK && !try_clip(h, kappa, b))
        status = count_details(h, error);
    b->n_blank = 0;
    for (int t = 0; h->blanks && t < n_threads; t++)
        b->n_blank += h->blanks[t];
    histogram_free(h);
    return status;
}
