/* Pixels of a file on their way to the threads: borrowed where that is possible, else read. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "input/chunks.h"
#include "input/fits/reader.h"
#include "unit.h"

enum { WIDTH = 1300, HEIGHT = 1000, PIXELS = WIDTH * HEIGHT, BLOCK = 2880 };

static const char plain[] = "lending.fits", packed[] = "lending.fits.gz";

static uint32_t pixel_at(int64_t i) {
    return (uint32_t)i * 0x9e3779b9u;
}

/* A file with pixels of any bits; gzip lets most of them stay as they are. */
static bool write_file(const char *path, const char *mode) {
    static const char *const cards[] = {"SIMPLE  = T",    "BITPIX  = -32",  "NAXIS   = 2",
                                        "NAXIS1  = 1300", "NAXIS2  = 1000", "END"};
    static uint32_t pixels[PIXELS];
    char header[BLOCK];
    memset(header, ' ', BLOCK);
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
        memcpy(header + 80 * i, cards[i], strlen(cards[i]));
    for (int64_t i = 0; i < PIXELS; i++)
        pixels[i] = pixel_at(i);
    const gzFile file = gzopen(path, mode);
    const bool written = file && gzwrite(file, header, BLOCK) == BLOCK &&
                         gzwrite(file, pixels, sizeof pixels) == sizeof pixels;
    return gzclose(file) == Z_OK && written;
}

static int write_files(void **state) {
    (void)state;
    return write_file(plain, "wT") && write_file(packed, "w1") ? 0 : -1; /* T: not packed */
}

static int remove_files(void **state) {
    (void)state;
    return unlink(plain) | unlink(packed);
}

/* An open file, and what came of its pixels. */
struct lent {
    struct fits_file file;
    struct hdu hdu;
    struct reader reader;
    struct pixel_source source;
    atomic_int n_pieces, n_borrowed, n_wrong;
    uint32_t *room;
    int writer; /* opened while pixels are read to the room */
};

static struct lent *open_file(const char *path) {
    struct lent *l = calloc(1, sizeof *l);
    struct error error;
    bool found;
    assert_non_null(l);
    l->writer = -1;
    assert_int_equal(fits_file_open(&l->file, path, &error), SRCFIND_OK);
    assert_int_equal(hdu_next(&l->file, &l->hdu, &found, &error), SRCFIND_OK);
    assert_true(found);
    assert_int_equal(reader_open(&l->reader, &l->file, &l->hdu, 0, &l->source, &error), SRCFIND_OK);
    return l;
}

static void close_file(struct lent *l) {
    reader_close(&l->reader);
    hdu_clear(&l->hdu);
    fits_file_close(&l->file);
    free(l->room);
    free(l);
}

static int open_writer(void) {
    return open(plain, O_WRONLY | O_NONBLOCK);
}

static bool look_at(void *context, int worker, const struct piece *piece) {
    struct lent *l = context;
    (void)worker;
    l->n_pieces++;
    l->n_borrowed += piece->borrowed;
    for (int64_t i = 0; i < piece->count; i++)
        l->n_wrong += memcmp(&piece->pixels[i], &(uint32_t){pixel_at(piece->first + i)}, 4) != 0;
    return true;
}

static uint32_t *room(void *context, int worker) {
    struct lent *l = context;
    (void)worker;
    if (l->writer < 0)
        l->writer = open_writer();
    return l->room;
}

static void run(struct lent *l, int n_threads) {
    const struct piece_work work = {look_at, l->room ? room : NULL, l};
    struct error error;
    l->n_pieces = l->n_borrowed = 0;
    assert_int_equal(pieces_run(&l->source, n_threads, &work, &error), SRCFIND_OK);
    assert_int_equal(l->n_pieces, pieces_count(&l->source));
    assert_int_equal(l->n_wrong, 0);
}

/* Of a file that was just written, again and again; then writers wait no longer. */
static void borrowed(void **state) {
    struct lent *l = open_file(plain);
    (void)state;
    l->source.lender->begin(l->source.state);
    const bool lends = l->reader.mapping.start;
    l->source.lender->end(l->source.state);
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        run(l, n_threads);
        assert_true((l->n_borrowed > 0) == lends);
    }
    const int writer = open_writer();
    assert_true(writer >= 0);
    run(l, 2);
    assert_int_equal(l->n_borrowed, 0);
    close(writer);
    close_file(l);
    if (!lends)
        skip();
}

/* Who has room of his own, as a device has, keeps nobody waiting. */
static void read_to_room(void **state) {
    struct lent *l = open_file(plain);
    (void)state;
    l->room = malloc((size_t)l->source.piece * sizeof *l->room);
    assert_non_null(l->room);
    run(l, 1);
    assert_int_equal(l->n_borrowed, 0);
    assert_true(l->writer >= 0);
    close(l->writer);
    close_file(l);
}

/* What is gzipped lies nowhere as it is. */
static void unpacked(void **state) {
    struct lent *l = open_file(packed);
    (void)state;
    run(l, 1);
    assert_int_equal(l->n_borrowed, 0);
    close_file(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borrowed),
        cmocka_unit_test(read_to_room),
        cmocka_unit_test(unpacked),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
