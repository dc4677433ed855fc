#include "measure/owners.h"

#include <stdlib.h>

static int64_t count_pixels(const struct segments *s, int64_t first, int64_t end) {
    int64_t n = 0;
    for (int64_t i = first; i < end; i++)
        n += s->islands[i].n_pixels;
    return n;
}

/* Numbers the pixels of a batch down from 0: the sources of islands before are not counted yet. */
static void add_batch(struct owners *o, const struct components *c, int64_t first, int64_t n) {
    o->n += c->n;
    for (int64_t i = 0; i < n; i++)
        o->owner[first + i] = (int32_t)(c->owner[i] - o->n);
}

/* Batches begin with the last islands, as for a catalogue. */
static enum srcfind_status find(const struct dividing *dividing, const struct segments *s,
                                struct threads *threads, struct owners *o, struct error *error) {
    struct dividing keeping = *dividing;
    enum srcfind_status status = SRCFIND_OK;
    int64_t at = count_pixels(s, 0, s->n);
    keeping.keep_owners = true;
    for (int64_t end = s->n, first; status == SRCFIND_OK && end > 0; end = first) {
        struct components components;
        first = components_batch_first(dividing, s, end);
        status = components_find(&keeping, s, first, end, threads, &components, error);
        if (status == SRCFIND_OK)
            add_batch(o, &components, at -= count_pixels(s, first, end),
                      count_pixels(s, first, end));
        components_clear(&components);
    }
    return status;
}

enum srcfind_status owners_find(const struct dividing *dividing, const struct segments *segments,
                                struct threads *threads, struct owners *owners,
                                struct error *error) {
    const int64_t n_pixels = count_pixels(segments, 0, segments->n);
    *owners = (struct owners){.owner = malloc((size_t)n_pixels * sizeof *owners->owner + 1)};
    if (!owners->owner)
        return error_memory(error, "dividing islands");
    const enum srcfind_status status = find(dividing, segments, threads, owners, error);
    for (int64_t i = 0; status == SRCFIND_OK && i < n_pixels; i++)
        owners->owner[i] += (int32_t)owners->n + 1;
    return status;
}

void owners_clear(struct owners *owners) {
    free(owners->owner);
    *owners = (struct owners){0};
}
