/* Files in memory: what is handed out, and that nobody takes it away meanwhile. */
#define _GNU_SOURCE /* splice */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "input/fits/mapping.h"
#include "unit.h"

/* What is mapped of the file begins within a page, as data do. */
enum {
    START = 15 * 2880,
    SIZE = 14 << 20,
    PIECE = 1 << 18,
    UNIT = 4 << 20,
    AROUND = 1 << 16,
    HOLE = 5 << 20,
    SMALL = 1 << 16
};

static const char path[] = "mapping.bin";

static char byte_at(int64_t i) {
    return (char)((uint64_t)i * 0x9e3779b97f4a7c15u >> 56);
}

/* SIZE bytes from START on, with a hole at their start. */
static int make_file(void **state) {
    char piece[PIECE];
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    bool written = file >= 0;
    (void)state;
    for (int64_t at = HOLE; written && at < SIZE; at += PIECE) {
        for (int64_t i = 0; i < PIECE; i++)
            piece[i] = byte_at(at + i);
        written = pwrite(file, piece, PIECE, START + at) == PIECE;
    }
    return close(file) == 0 && written ? 0 : -1;
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static struct mapping mapping;
static int opened = -1; /* what is mapped */

/* Also after a test that failed, so that the next one need not wait for the lease. */
static int close_after(void **state) {
    (void)state;
    mapping_close(&mapping);
    if (opened >= 0)
        close(opened);
    opened = -1;
    return 0;
}

/* Maps the file, or skips the test where there are no leases. All but the hole is read, since the
 * system may have taken it out of its memory. */
static void open_mapped(void) {
    char piece[PIECE];
    opened = open(path, O_RDONLY);
    mapping_open(&mapping, opened, START, SIZE);
    if (!mapping.start)
        skip();
    for (int64_t at = HOLE; at < SIZE; at += PIECE)
        assert_int_equal(pread(opened, piece, PIECE, START + at), PIECE);
}

static int open_writer(void) {
    return open(path, O_WRONLY | O_NONBLOCK);
}

static void assert_bytes(const char *bytes, int64_t offset, int64_t count) {
    assert_non_null(bytes);
    for (int64_t i = 0; i < count; i++)
        if (bytes[i] != byte_at(offset + i))
            fail_msg("byte %lld is wrong", (long long)(offset + i));
}

static void bytes(void **state) {
    static const int64_t places[][2] = {{HOLE, 1}, {HOLE + PIECE, PIECE}, {SIZE - PIECE, PIECE}};
    (void)state;
    open_mapped();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_bytes(mapping_borrow(&mapping, places[i][0], places[i][1]), places[i][0],
                     places[i][1]);
    assert_null(mapping_borrow(&mapping, SIZE - PIECE, PIECE + 1));
    assert_null(mapping_borrow(&mapping, HOLE, SIZE - HOLE)); /* more than a piece */
}

/* What is not in memory has to be read: the disk may fail. */
static void holes(void **state) {
    (void)state;
    open_mapped();
    assert_null(mapping_borrow(&mapping, 0, PIECE));
    assert_null(mapping_borrow(&mapping, HOLE - PIECE, PIECE));
    assert_non_null(mapping_borrow(&mapping, HOLE, PIECE));
}

/* How many bytes of the mapping take memory of this process. */
static int64_t mapped_now(void) {
    const unsigned long long start = (uintptr_t)(mapping.start - mapping.before);
    unsigned long long place = 0;
    char line[4096];
    long long kilobytes = -1;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (kilobytes < 0 && fgets(line, sizeof line, maps))
        if (place != start)
            sscanf(line, "%llx-", &place);
        else
            sscanf(line, "Rss: %lld", &kilobytes);
    fclose(maps);
    assert_true(kilobytes >= 0);
    return kilobytes << 10;
}

static void borrow(int64_t at) {
    if (at < HOLE)
        assert_null(mapping_borrow(&mapping, at, PIECE));
    else
        assert_bytes(mapping_borrow(&mapping, at, PIECE), at, PIECE);
}

static bool ends_unit(int64_t at) {
    return (at + PIECE) % UNIT == 0 || at + PIECE == SIZE;
}

/* What was given back takes no memory, where all of a unit was, and can be borrowed again. */
static void little_stays(void **state) {
    (void)state;
    open_mapped();
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t at = 0; at < SIZE; at += PIECE)
            borrow(at);
        for (int64_t at = SIZE - PIECE; at >= HOLE; at -= PIECE)
            if (!ends_unit(at))
                mapping_give_back(&mapping, at, PIECE);
        assert_true(mapped_now() >= SIZE - HOLE);
        for (int64_t at = HOLE; at < SIZE; at += PIECE)
            if (ends_unit(at))
                mapping_give_back(&mapping, at, PIECE);
        assert_true(mapped_now() <= AROUND);
    }
}

/* Also of what is mapped around a piece, in a unit that was unmapped before. */
static void nothing_gathers(void **state) {
    (void)state;
    open_mapped();
    for (int64_t at = 0; at < SIZE; at += PIECE) {
        borrow(at);
        if (at >= HOLE)
            mapping_give_back(&mapping, at, PIECE);
    }
    assert_true(mapped_now() <= AROUND);
}

/* Nobody opens the file to write to it, nor shortens it, while it is mapped; and when somebody
 * waits for that, the rest is read. */
static void writers_wait(void **state) {
    (void)state;
    open_mapped();
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    close(reader);
    assert_bytes(mapping_borrow(&mapping, HOLE, PIECE), HOLE, PIECE);
    assert_int_equal(open_writer(), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    assert_int_equal(open(path, O_RDWR | O_TRUNC | O_NONBLOCK), -1);
    assert_null(mapping_borrow(&mapping, HOLE + PIECE, PIECE));
    mapping_close(&mapping);
    const int writer = open_writer(); /* though the file is open still */
    assert_true(writer >= 0);
    close(writer);
}

static void not_while_written(void **state) {
    const int writer = open_writer();
    (void)state;
    assert_true(writer >= 0);
    opened = open(path, O_RDONLY);
    mapping_open(&mapping, opened, START, SIZE);
    close(writer);
    assert_null(mapping.start);
    assert_null(mapping_borrow(&mapping, HOLE, PIECE));
}

static void small_files(void **state) {
    (void)state;
    opened = open(path, O_RDONLY);
    mapping_open(&mapping, opened, START, SMALL);
    assert_null(mapping.start);
    assert_null(mapping_borrow(&mapping, 0, 1));
    const int writer = open_writer(); /* no lease is left behind */
    assert_true(writer >= 0);
    close(writer);
}

/* A file that was shortened before it was mapped is left alone. A page that is in use keeps those
 * around it in memory, also those that are behind the file's end now. */
static void shortened(void **state) {
    const int64_t page = sysconf(_SC_PAGESIZE), end = (START + SIZE - 4 * PIECE) / page * page;
    loff_t last_page = end - page;
    int ends[2];
    (void)state;
    opened = open(path, O_RDONLY);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(splice(opened, &last_page, ends[1], NULL, (size_t)page, 0), page);
    assert_int_equal(truncate(path, end), 0);
    mapping_open(&mapping, opened, START, SIZE);
    close(ends[0]);
    close(ends[1]);
    assert_null(mapping_borrow(&mapping, SIZE - 6 * PIECE, PIECE));
    assert_null(mapping_borrow(&mapping, SIZE - 4 * PIECE, PIECE));
    const int writer = open_writer(); /* no lease is left behind */
    assert_true(writer >= 0);
    close(writer);
}

#define CLOSED(test) cmocka_unit_test_teardown(test, close_after)

int main(void) {
    const struct CMUnitTest tests[] = {
        CLOSED(bytes),           CLOSED(holes),        CLOSED(little_stays),
        CLOSED(nothing_gathers), CLOSED(writers_wait), CLOSED(not_while_written),
        CLOSED(small_files),     CLOSED(shortened), /* the last one */
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
