#include "input/chunks.h"

#include <stdlib.h>
#include <threads.h>

#include "common/threads.h"

struct reading {
    const struct pixel_source *source;
    const struct piece_work *work;
    const struct pixel_lender *lender; /* NULL: all is read */
    int64_t n_pieces;
    mtx_t lock;
    int64_t next; /* under lock, and so are those below */
    enum srcfind_status status;
    int64_t failed;      /* the first piece that failed */
    struct error *error; /* of that */
};

int64_t pieces_count(const struct pixel_source *source) {
    const int64_t n = source->width * source->height;
    return (n + source->piece - 1) / source->piece;
}

/* Whoever comes first, the error that stays is that of the first piece: all before it were taken
 * before, and are read to their end. */
static void fail(struct reading *r, int64_t piece, enum srcfind_status status,
                 const struct error *error) {
    if (r->status == SRCFIND_OK || piece < r->failed) {
        r->status = status;
        r->failed = piece;
        *r->error = *error;
    }
}

/* Borrows a piece or reads it. */
static void read_piece(const struct reading *r, struct piece *piece, uint32_t *buffer,
                       struct error *error) {
    const struct pixel_source *s = r->source;
    const int64_t rest = s->width * s->height - piece->number * s->piece;
    piece->first = piece->number * s->piece;
    piece->count = rest < s->piece ? rest : s->piece;
    piece->pixels = r->lender ? r->lender->borrow(s->state, piece->first, piece->count) : NULL;
    piece->borrowed = piece->pixels;
    if (!piece->borrowed)
        piece->pixels = s->read(s->state, piece->first, piece->count, buffer, error);
}

/* Takes and reads the next piece; false where there is none, or something failed. */
static bool next_piece(struct reading *r, struct piece *piece, uint32_t *buffer) {
    struct error error;
    mtx_lock(&r->lock);
    const bool more = r->status == SRCFIND_OK && r->next < r->n_pieces;
    if (!more) {
        mtx_unlock(&r->lock);
        return false;
    }
    piece->number = r->next++;
    if (r->source->parallel)
        mtx_unlock(&r->lock);
    read_piece(r, piece, buffer, &error);
    if (r->source->parallel)
        mtx_lock(&r->lock);
    if (!piece->pixels)
        fail(r, piece->number, SRCFIND_ERROR_INPUT, &error);
    mtx_unlock(&r->lock);
    return piece->pixels != NULL;
}

static void read_and_work(void *context, int worker) {
    struct reading *r = context;
    struct piece piece;
    struct error error;
    const enum srcfind_status memory = error_memory(&error, "working through the image");
    const struct piece_work *w = r->work;
    uint32_t *own = w->room ? NULL : malloc((size_t)r->source->piece * sizeof *own);
    uint32_t *buffer = w->room ? w->room(w->context, worker) : own;
    while (buffer && next_piece(r, &piece, buffer)) {
        const bool ok = w->work(w->context, worker, &piece);
        if (piece.borrowed)
            r->lender->give_back(r->source->state, piece.first, piece.count);
        buffer = !ok ? NULL : w->room ? w->room(w->context, worker) : own;
    }
    if (!buffer) {
        mtx_lock(&r->lock);
        fail(r, r->n_pieces, memory, &error);
        mtx_unlock(&r->lock);
    }
    free(own);
}

enum srcfind_status pieces_run(const struct pixel_source *source, int n_threads,
                               const struct piece_work *work, struct error *error) {
    struct reading r = {.source = source,
                        .work = work,
                        .lender = work->room ? NULL : source->lender,
                        .n_pieces = pieces_count(source),
                        .error = error};
    if (mtx_init(&r.lock, mtx_plain) != thrd_success)
        return error_memory(error, "starting to read the image");
    if (r.lender)
        r.lender->begin(source->state);
    parallel_run(n_threads < r.n_pieces ? n_threads : (int)r.n_pieces, read_and_work, &r);
    if (r.lender)
        r.lender->end(source->state);
    mtx_destroy(&r.lock);
    return r.status;
}
