#include "output/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <threads.h>

#include "output/catalogue.h"

enum { BLOCK = 512 }; /* rows that a thread formats at a time */

const struct writer *const writers[] = {&csv_writer,  &json_writer, &votable_writer, &fits_writer,
                                        &ecsv_writer, &reg_writer,  &crtf_writer,    &table_writer};
const int n_writers = sizeof writers / sizeof *writers;

const struct writer *writer_named(const char *name) {
    for (int i = 0; i < n_writers; i++)
        if (!name || strcasecmp(name, writers[i]->format.name) == 0)
            return writers[i];
    return NULL;
}

/* Threads format blocks of rows in parallel, and write them to the stream in their order. */
struct blocks {
    const struct writer *writer;
    const struct srcfind_catalogue *catalogue;
    FILE *stream;
    mtx_t lock;
    cnd_t turn;
    int64_t n, taken, written; /* blocks; the lock protects these and all that follows */
    int failed;                /* errno of the first call that failed; 0 if none has */
};

/* Takes the next block; false if there is none left or writing has failed. */
static bool take_block(struct blocks *b, int64_t *block) {
    mtx_lock(&b->lock);
    const bool more = !b->failed && b->taken < b->n;
    *block = b->taken;
    b->taken += more;
    mtx_unlock(&b->lock);
    return more;
}

/* Waits until all blocks before this one have been written; false if writing has failed. */
static bool wait_for_turn(struct blocks *b, int64_t block) {
    mtx_lock(&b->lock);
    while (!b->failed && b->written < block)
        cnd_wait(&b->turn, &b->lock);
    const bool ok = !b->failed;
    mtx_unlock(&b->lock);
    return ok;
}

static void end_turn(struct blocks *b, int failed) {
    mtx_lock(&b->lock);
    b->written++;
    b->failed = b->failed ? b->failed : failed;
    cnd_broadcast(&b->turn);
    mtx_unlock(&b->lock);
}

/* Cannot deadlock: blocks are taken in order, so that each block that a thread waits for is already
 * being formatted or written by another thread. */
static void write_blocks(void *context, int worker) {
    struct blocks *b = context;
    const int64_t n_rows = b->catalogue->n_sources;
    char *text = malloc(BLOCK * b->writer->row_bytes);
    int64_t block;
    (void)worker;
    if (!text)
        end_turn(b, ENOMEM);
    while (text && take_block(b, &block)) {
        const int64_t first = block * BLOCK, n_left = n_rows - first;
        const size_t size =
            b->writer->rows(b->catalogue, first, first + (n_left < BLOCK ? n_left : BLOCK), text);
        if (wait_for_turn(b, block))
            end_turn(b, fwrite(text, 1, size, b->stream) == size ? 0 : errno ? errno : EIO);
    }
    free(text);
}

/* Returns false if this failed on any thread, with errno of the thread that failed. */
static bool write_rows(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                       struct threads *threads, FILE *stream) {
    struct blocks b = {.writer = writer,
                       .catalogue = catalogue,
                       .stream = stream,
                       .n = (catalogue->n_sources + BLOCK - 1) / BLOCK};
    if (mtx_init(&b.lock, mtx_plain) != thrd_success) {
        errno = ENOMEM;
        return false;
    }
    b.failed = cnd_init(&b.turn) == thrd_success ? 0 : ENOMEM;
    if (!b.failed) {
        threads_run(threads, threads_parts(threads, b.n, 1), write_blocks, &b);
        cnd_destroy(&b.turn);
    }
    mtx_destroy(&b.lock);
    if (b.failed)
        errno = b.failed;
    return !b.failed;
}

bool writer_write(const struct writer *writer, const struct srcfind_catalogue *catalogue,
                  struct threads *threads, FILE *stream) {
    if (!writer->begin(catalogue, stream) || !write_rows(writer, catalogue, threads, stream))
        return false;
    if (writer->end)
        writer->end(catalogue, stream);
    return !ferror(stream);
}
