#include "measure/batches.h"

/* The islands of a share, as indices in the batch. */
static int64_t share_first(int share) {
    return (int64_t)share * ISLANDS_A_SHARE;
}

static int64_t share_end(const struct batches *b, int share) {
    const int64_t end = share_first(share) + ISLANDS_A_SHARE;
    return end < b->n ? end : b->n;
}

int batches_shares(int64_t n_islands) {
    return (int)((n_islands + ISLANDS_A_SHARE - 1) / ISLANDS_A_SHARE);
}

/* Takes an arena that no other thread has. It is only read whether others are taken. */
static struct thread_arena *take_arena(const struct batches *b) {
    const int n = threads_count(b->threads);
    for (int i = 0;; i = (i + 1) % n)
        if (!atomic_load_explicit(&b->arenas[i].is_taken, memory_order_relaxed) &&
            !atomic_exchange(&b->arenas[i].is_taken, true))
            return &b->arenas[i];
}

static enum srcfind_status work_on_share(void *context, int i_share, struct error *error) {
    struct batches *b = context;
    const int share = b->order ? b->order[i_share].share : i_share;
    struct thread_arena *own = take_arena(b);
    bool ok = true;
    for (int64_t i = share_first(share); ok && i < share_end(b, share); i++) {
        b->items[i].arena = &own->arena;
        ok = b->work(b, &b->items[i], b->first + i);
    }
    atomic_store(&own->is_taken, false);
    return ok ? SRCFIND_OK : error_memory(error, b->doing);
}

bool batches_each(struct batches *b, bool (*work)(struct batches *, struct item *, int64_t)) {
    b->work = work;
    b->status = threads_try(b->threads, batches_shares(b->n), work_on_share, b, b->error);
    return b->status == SRCFIND_OK;
}

/* Counts what a share has. */
static void count_share(void *context, int share) {
    const struct batches *b = context;
    struct counts all = {{0}};
    for (int64_t i = share_first(share); i < share_end(b, share); i++) {
        struct counts own = {{0}};
        b->count(b, &b->items[i], b->first + i, own.of);
        for (int k = b->from; k <= (int)b->to; k++)
            all.of[k] += own.of[k];
    }
    b->shares[share] = all;
}

/* Sets where the islands of a share begin. */
static void place_share(void *context, int share) {
    const struct batches *b = context;
    struct counts at = b->shares[share];
    for (int64_t i = share_first(share); i < share_end(b, share); i++) {
        struct item *item = &b->items[i];
        struct counts own = {{0}};
        b->count(b, item, b->first + i, own.of);
        for (int k = b->from; k <= (int)b->to; k++) {
            item->first.of[k] = at.of[k];
            at.of[k] += own.of[k];
        }
    }
}

void batches_place(struct batches *b, enum element from, enum element to,
                   void (*count)(const struct batches *, const struct item *, int64_t, int64_t *)) {
    const int n = batches_shares(b->n);
    b->from = from;
    b->to = to;
    b->count = count;
    threads_run(b->threads, n, count_share, b);
    for (int k = from; k <= (int)to; k++) {
        b->total.of[k] = 0;
        for (int share = 0; share < n; share++) {
            const int64_t own = b->shares[share].of[k];
            b->shares[share].of[k] = b->total.of[k];
            b->total.of[k] += own;
        }
    }
    threads_run(b->threads, n, place_share, b);
}
