/* How the rows of a table are written:
 *
 * 1. Each thread takes the next block of 510 rows, and waits only if its slot is still in use.
 * 2. It reads the rows, if they are in a store, formats them (the writer's `rows`), and compresses
 *    the text for .gz (gzip.c).
 * 3. It hands the block over. The thread whose block is next writes it, and all blocks behind it
 *    that are there.
 *
 * Blocks are always written in the order of the rows: the bytes do not depend on the number of
 * threads. After an error no further block is taken, and the first error is kept. Memory: two slots
 * a thread, each with the text of a block, and one if there is one thread. */
#include "output/write_table.h"

#include <errno.h>
#include <stdlib.h>
#include <threads.h>

#include "common/text_stream.h"
#include "output/gzip.h"

enum { ROWS = 510 }; /* rows of a block: a multiple of three, as writer.h promises */

_Static_assert(ROWS % 3 == 0, "rows of any size fill blocks without a gap in base64");

/* Room for a block: it is formatted here, and waits to be written. */
struct slot {
    char *text;
    void *rows; /* room for rows of a store, and for their images */
    const struct row_image **images;
    size_t size;
    struct gzip_piece piece;
    bool is_done; /* the block is formatted, and is to be written */
};

/* Block k is in slot k % n_slots. The lock protects the members below it, and is_done of the slots.
 */
struct blocks {
    const struct writer *writer;
    const struct table *table;
    FILE *stream;
    struct gzip *gzip;
    struct slot *slots;
    int64_t n, n_slots;
    mtx_t lock;
    cnd_t room;
    int64_t taken, written; /* blocks */
    bool is_writing;        /* one thread writes at a time */
    int failed;             /* errno of the first call that failed; 0 if none has */
};

/* Takes the next block, as soon as its slot is free. False if no block is left, or writing has
 * failed. There is no deadlock: a thread that has a slot formats or writes, and waits for no other.
 */
static bool take_block(struct blocks *b, int64_t *block) {
    mtx_lock(&b->lock);
    while (!b->failed && b->taken < b->n && b->taken - b->written == b->n_slots)
        cnd_wait(&b->room, &b->lock);
    const bool more = !b->failed && b->taken < b->n;
    *block = b->taken;
    b->taken += more;
    mtx_unlock(&b->lock);
    return more;
}

/* Allocates the memory of a slot, unless it has been. */
static bool allocate(const struct blocks *b, struct slot *slot) {
    if (!slot->text)
        slot->text = malloc(ROWS * writer_row_bytes(b->writer, b->table));
    if (!slot->rows)
        slot->rows = malloc(ROWS * b->table->row_bytes);
    if (!slot->images)
        slot->images = malloc(ROWS * sizeof *slot->images);
    return slot->text && slot->rows && slot->images;
}

/* Returns 0, or errno. */
static int fill_slot(const struct blocks *b, int64_t block, struct slot *slot) {
    const int64_t first = block * ROWS, n_left = b->table->n_rows - first;
    struct rows rows;
    if (!allocate(b, slot))
        return ENOMEM;
    if (!table_read(b->table, first, n_left < ROWS ? n_left : ROWS, slot->rows, slot->images,
                    &rows))
        return errno;
    slot->size = b->writer->rows.format(b->table, &rows, slot->text);
    return b->gzip && !gzip_compress(slot->text, slot->size, &slot->piece) ? ENOMEM : 0;
}

static int write_slot(const struct blocks *b, struct slot *slot) {
    errno = EIO;
    const bool ok = b->gzip ? gzip_add(b->gzip, &slot->piece)
                            : fwrite(slot->text, 1, slot->size, b->stream) == slot->size;
    const int failed = ok ? 0 : errno;
    gzip_clear(&slot->piece);
    return failed;
}

/* Hands a block over to be written. If no other thread writes, this one does, as long as the next
 * blocks are there: so no thread sleeps until its block is next. */
static void end_block(struct blocks *b, struct slot *slot, int failed) {
    mtx_lock(&b->lock);
    slot->is_done = true;
    b->failed = b->failed ? b->failed : failed;
    while (!b->is_writing && !b->failed && b->slots[b->written % b->n_slots].is_done) {
        struct slot *next = &b->slots[b->written % b->n_slots];
        b->is_writing = true;
        mtx_unlock(&b->lock);
        failed = write_slot(b, next);
        mtx_lock(&b->lock);
        b->is_writing = next->is_done = false;
        b->written++;
        b->failed = b->failed ? b->failed : failed;
        cnd_signal(&b->room);
    }
    if (b->failed || b->taken == b->n)
        cnd_broadcast(&b->room); /* there is nothing left to wait for */
    mtx_unlock(&b->lock);
}

static void write_blocks(void *context, int worker) {
    struct blocks *b = context;
    int64_t block;
    (void)worker;
    while (take_block(b, &block)) {
        struct slot *slot = &b->slots[block % b->n_slots];
        end_block(b, slot, fill_slot(b, block, slot));
    }
}

static void clear_slots(struct blocks *b) {
    for (int64_t i = 0; b->slots && i < b->n_slots; i++) {
        gzip_clear(&b->slots[i].piece);
        free(b->slots[i].text);
        free(b->slots[i].rows);
        free(b->slots[i].images);
    }
    free(b->slots);
}

/* Makes the lock and the condition; false with errno. */
static bool make_lock(struct blocks *b) {
    errno = ENOMEM;
    if (mtx_init(&b->lock, mtx_plain) != thrd_success)
        return false;
    const bool ok = cnd_init(&b->room) == thrd_success;
    if (!ok)
        mtx_destroy(&b->lock);
    return ok;
}

/* Writes all rows to the stream, or, if gzip is not NULL, adds them to the compressed file. False
 * with errno if memory ran out or writing failed. */
static bool write_rows(const struct writer *writer, const struct table *table,
                       struct threads *threads, FILE *stream, struct gzip *gzip) {
    struct blocks b = {.writer = writer,
                       .table = table,
                       .stream = stream,
                       .gzip = gzip,
                       .n = (table->n_rows + ROWS - 1) / ROWS};
    const int n_shares = threads_shares(threads, b.n, 1);
    b.n_slots = n_shares > 1 ? 2 * (int64_t)n_shares : 1;
    b.slots = calloc((size_t)b.n_slots, sizeof *b.slots);
    const bool made = b.slots && make_lock(&b);
    if (made) {
        threads_run(threads, n_shares, write_blocks, &b);
        cnd_destroy(&b.room);
        mtx_destroy(&b.lock);
    }
    clear_slots(&b);
    errno = made ? b.failed : ENOMEM;
    return made && !b.failed;
}

/* --- a table --- */

static bool write_begin(const struct writer *writer, const struct table *table, FILE *stream) {
    return writer->begin(table, stream) && !ferror(stream);
}

static bool write_end(const struct writer *writer, const struct table *table, FILE *stream) {
    if (writer->after)
        fputs(writer->after, stream);
    if (writer->end)
        writer->end(table, stream);
    return !ferror(stream);
}

static bool write_plain(const struct writer *writer, const struct table *table,
                        struct threads *threads, FILE *stream) {
    return write_begin(writer, table, stream) && write_rows(writer, table, threads, stream, NULL) &&
           write_end(writer, table, stream);
}

/* Adds the text that `write` writes to a compressed file. */
static bool add_text(const struct writer *writer, const struct table *table,
                     bool (*write)(const struct writer *writer, const struct table *table,
                                   FILE *stream),
                     struct gzip *gzip) {
    struct text text = {0};
    struct gzip_piece piece = {0};
    FILE *stream = text_stream_open(&text);
    bool ok = stream && write(writer, table, stream);
    ok = stream && fclose(stream) == 0 && ok && gzip_compress(text.at, (size_t)text.size, &piece) &&
         gzip_add(gzip, &piece);
    gzip_clear(&piece);
    free(text.at);
    return ok;
}

static bool write_compressed(const struct writer *writer, const struct table *table,
                             struct threads *threads, FILE *stream) {
    struct gzip gzip;
    return gzip_begin(&gzip, stream) && add_text(writer, table, write_begin, &gzip) &&
           write_rows(writer, table, threads, stream, &gzip) &&
           add_text(writer, table, write_end, &gzip) && gzip_end(&gzip);
}

bool table_write(const struct writer *writer, const struct table *table, struct threads *threads,
                 FILE *stream, bool compressed) {
    return compressed ? write_compressed(writer, table, threads, stream)
                      : write_plain(writer, table, threads, stream);
}
