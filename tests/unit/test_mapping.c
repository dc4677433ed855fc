/* Files in memory: what is handed out, and that nobody takes it away meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fits/mapping.h"
#include "unit.h"

/* What is mapped of the file begins within a page, as data do. */
enum {
    START = 15 * 2880,
    SIZE = 40 << 20,
    PIECE = 1 << 18,
    UNIT = 4 << 20,
    HOLE = 5 << 20,
    SMALL = 1 << 16
};

static int kept;      /* keeps the file, which has no name, for reading */
static char path[64]; /* leads to it */

static char byte_at(int64_t i) {
    return (char)((uint64_t)i * 0x9e3779b97f4a7c15u >> 56);
}

/* SIZE bytes from START on, with a hole at their start. */
static int make_file(void **state) {
    char piece[PIECE], name[] = "mapping-XXXXXX";
    const int file = mkstemp(name);
    (void)state;
    kept = open(name, O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", kept);
    unlink(name);
    for (int64_t at = HOLE; file >= 0 && at < SIZE; at += PIECE) {
        for (int64_t i = 0; i < PIECE; i++)
            piece[i] = byte_at(at + i);
        if (pwrite(file, piece, PIECE, START + at) != PIECE)
            return -1;
    }
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state) {
    (void)state;
    return close(kept);
}

/* Maps the file, or skips the test where there are no leases. */
static int open_mapped(struct mapping *m) {
    const int file = open(path, O_RDONLY);
    mapping_open(m, file, START, SIZE);
    if (!m->start) {
        close(file);
        skip();
    }
    return file;
}

static void assert_bytes(const char *bytes, int64_t offset, int64_t count) {
    assert_non_null(bytes);
    for (int64_t i = 0; i < count; i++)
        if (bytes[i] != byte_at(offset + i))
            fail_msg("byte %lld is wrong", (long long)(offset + i));
}

static void bytes(void **state) {
    static const int64_t places[][2] = {{HOLE, 1}, {HOLE + PIECE, PIECE}, {SIZE - PIECE, PIECE}};
    struct mapping m;
    const int file = open_mapped(&m);
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_bytes(mapping_borrow(&m, places[i][0], places[i][1]), places[i][0], places[i][1]);
    assert_null(mapping_borrow(&m, SIZE - PIECE, PIECE + 1));
    assert_null(mapping_borrow(&m, HOLE, SIZE - HOLE)); /* more than a piece */
    mapping_close(&m);
    close(file);
}

/* What is not in memory has to be read: the disk may fail. */
static void holes(void **state) {
    struct mapping m;
    const int file = open_mapped(&m);
    (void)state;
    assert_null(mapping_borrow(&m, 0, PIECE));
    assert_null(mapping_borrow(&m, HOLE - PIECE, PIECE));
    assert_non_null(mapping_borrow(&m, HOLE, PIECE));
    mapping_close(&m);
    close(file);
}

static int64_t mapped_now(void) {
    char line[256];
    long long kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && kilobytes < 0 && fgets(line, sizeof line, status))
        sscanf(line, "RssFile: %lld", &kilobytes);
    if (status)
        fclose(status);
    return kilobytes << 10;
}

/* What was given back takes no memory, where all of a unit was, and can be borrowed again. */
static void little_stays(void **state) {
    const int64_t little = 1 << 18;
    struct mapping m;
    const int file = open_mapped(&m);
    const int64_t before = mapped_now();
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t at = 0; at < HOLE; at += PIECE)
            assert_null(mapping_borrow(&m, at, PIECE));
        for (int64_t at = HOLE; at < SIZE; at += PIECE)
            assert_bytes(mapping_borrow(&m, at, PIECE), at, PIECE);
        for (int64_t at = SIZE - PIECE; at >= HOLE; at -= PIECE)
            if (at % UNIT != UNIT - PIECE)
                mapping_give_back(&m, at, PIECE);
        assert_true(mapped_now() >= before + SIZE - HOLE);
        for (int64_t at = 2 * UNIT - PIECE; at < SIZE; at += UNIT)
            mapping_give_back(&m, at, PIECE);
        assert_true(mapped_now() <= before + little);
    }
    mapping_close(&m);
    close(file);
}

/* Nobody opens the file to write to it, nor shortens it, while it is mapped. */
static void writers_wait(void **state) {
    struct mapping m;
    const int file = open_mapped(&m);
    (void)state;
    assert_int_equal(open(path, O_WRONLY | O_NONBLOCK), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    assert_int_equal(open(path, O_RDWR | O_TRUNC | O_NONBLOCK), -1);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_bytes(mapping_borrow(&m, HOLE, PIECE), HOLE, PIECE);
    mapping_close(&m);
    close(file);
    close(reader);
    const int writer = open(path, O_WRONLY | O_NONBLOCK);
    assert_true(writer >= 0);
    close(writer);
}

static void not_while_written(void **state) {
    struct mapping m;
    const int writer = open(path, O_WRONLY), file = open(path, O_RDONLY);
    (void)state;
    mapping_open(&m, file, START, SIZE);
    assert_null(m.start);
    assert_null(mapping_borrow(&m, HOLE, PIECE));
    mapping_close(&m);
    close(file);
    close(writer);
}

static void small_files(void **state) {
    struct mapping m;
    const int file = open(path, O_RDONLY);
    (void)state;
    mapping_open(&m, file, START, SMALL);
    assert_null(m.start);
    assert_null(mapping_borrow(&m, 0, 1));
    close(file);
    const int writer = open(path, O_WRONLY | O_NONBLOCK); /* no lease is left behind */
    assert_true(writer >= 0);
    close(writer);
}

/* A file that was shortened before it was mapped: no signal. */
static void shortened(void **state) {
    struct mapping m;
    (void)state;
    assert_int_equal(truncate(path, START + SIZE / 2 - START % sysconf(_SC_PAGESIZE)), 0);
    const int file = open_mapped(&m);
    assert_non_null(mapping_borrow(&m, SIZE / 2 - 2 * PIECE, PIECE));
    assert_null(mapping_borrow(&m, SIZE / 2 - PIECE, PIECE)); /* but for its last page */
    assert_null(mapping_borrow(&m, SIZE / 2, PIECE));
    mapping_close(&m);
    close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes),
        cmocka_unit_test(holes),
        cmocka_unit_test(little_stays),
        cmocka_unit_test(writers_wait),
        cmocka_unit_test(not_while_written),
        cmocka_unit_test(small_files),
        cmocka_unit_test(shortened), /* the last one */
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
