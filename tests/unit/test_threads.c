/* A team of threads does each part of its work once, again and again, and ends. Where parts fail,
 * the error is that of the lowest. */
#include <stdatomic.h>
#include <string.h>
#include <threads.h>

#include "unit.h"

enum { PARTS = 200, TEAM = 5 };

struct counts {
    atomic_int done[PARTS];
};

static void count(void *context, int i) {
    struct counts *c = context;
    atomic_fetch_add(&c->done[i], 1);
}

static void each_part_is_done_once(void **state) {
    static const int parts[] = {1, 2, TEAM, TEAM + 1, PARTS};
    (void)state;
    for (int n = 1; n <= TEAM; n++) {
        struct threads *team = threads_create(n);
        assert_int_equal(threads_count(team), n);
        for (int k = 0; k < 5 * 400; k++) {
            struct counts c = {0};
            threads_run(team, parts[k % 5], count, &c);
            for (int i = 0; i < PARTS; i++)
                assert_int_equal(c.done[i], i < parts[k % 5]);
        }
        threads_destroy(team);
    }
}

static void no_team_is_one_thread(void **state) {
    struct counts c = {0};
    (void)state;
    threads_run(NULL, PARTS, count, &c);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(c.done[i], 1);
    assert_int_equal(threads_count(NULL), 1);
    threads_destroy(NULL);
    threads_destroy(threads_create(TEAM)); /* one that never worked */
}

/* Which thread did each part; a part waits until another thread is at work. */
struct meeting {
    atomic_int n_there;
    thrd_t threads[2];
};

static void meet(void *context, int i) {
    struct meeting *m = context;
    m->threads[i] = thrd_current();
    atomic_fetch_add(&m->n_there, 1);
    while (m->n_there < 2)
        thrd_yield();
}

static void parts_are_done_at_the_same_time(void **state) {
    struct threads *team = threads_create(2);
    struct meeting m = {0};
    (void)state;
    threads_run(team, 2, meet, &m);
    assert_false(thrd_equal(m.threads[0], m.threads[1]));
    threads_destroy(team);
}

/* From one thread to more, two of which work at the same time, and back. */
static void a_team_changes_its_size(void **state) {
    struct threads *team = threads_create(1);
    struct counts c = {0};
    (void)state;
    threads_run(team, PARTS, count, &c);
    for (int n = 2; n <= TEAM; n++) {
        struct meeting m = {0};
        threads_resize(team, n);
        assert_int_equal(threads_count(team), n);
        threads_run(team, 2, meet, &m);
        assert_false(thrd_equal(m.threads[0], m.threads[1]));
        threads_resize(team, 1);
        assert_int_equal(threads_count(team), 1);
        m.n_there = 2;
        threads_run(team, 2, meet, &m);
        assert_true(thrd_equal(m.threads[0], thrd_current()));
        assert_true(thrd_equal(m.threads[1], thrd_current()));
        threads_run(team, PARTS, count, &c);
    }
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(c.done[i], TEAM);
    threads_destroy(team);
}

/* Parts that fail, from the one `first` on; each is done at most once. */
struct failures {
    struct counts counts;
    int first, slow; /* the part `slow` waits until another one has failed, or all were done */
    atomic_int n_failed;
};

static enum srcfind_status fail_from(void *context, int i, struct error *error) {
    struct failures *f = context;
    count(&f->counts, i);
    if (i < f->first)
        return SRCFIND_OK;
    while (i == f->slow && f->n_failed == 0)
        thrd_yield();
    f->n_failed++;
    return error_set(error, i % 2 ? SRCFIND_ERROR_INPUT : SRCFIND_ERROR_MEMORY, "part %d", i);
}

static void assert_part(enum srcfind_status status, const struct error *error, int i) {
    char text[32];
    snprintf(text, sizeof text, "part %d", i);
    assert_int_equal(status, i % 2 ? SRCFIND_ERROR_INPUT : SRCFIND_ERROR_MEMORY);
    assert_string_equal(error->text, text);
}

static void the_lowest_error_wins(void **state) {
    (void)state;
    for (int n = 1; n <= TEAM; n++) {
        struct threads *team = threads_create(n);
        for (int first = 0; first < PARTS; first++) {
            struct failures f = {.first = first, .slow = -1};
            struct error error = {.text = ""};
            assert_part(threads_try(team, PARTS, fail_from, &f, &error), &error, first);
            for (int i = 0; i < PARTS; i++)
                assert_in_range(f.counts.done[i], i <= first, n > 1 || i <= first);
        }
        threads_destroy(team);
    }
}

static void a_lower_error_wins_later(void **state) {
    struct threads *team = threads_create(TEAM);
    (void)state;
    for (int first = 0; first < PARTS - 1; first++) {
        struct failures f = {.first = first, .slow = first};
        struct error error = {.text = ""};
        assert_part(threads_try(team, PARTS, fail_from, &f, &error), &error, first);
        assert_true(f.n_failed > 1);
    }
    threads_destroy(team);
}

static void no_error_leaves_none(void **state) {
    struct threads *team = threads_create(TEAM);
    struct failures f = {.first = PARTS, .slow = -1};
    struct error error = {.text = "before"};
    (void)state;
    assert_int_equal(threads_try(team, 0, fail_from, &f, &error), SRCFIND_OK);
    assert_int_equal(threads_try(team, PARTS, fail_from, &f, &error), SRCFIND_OK);
    assert_int_equal(threads_try(NULL, PARTS, fail_from, &f, &error), SRCFIND_OK);
    for (int i = 0; i < PARTS; i++)
        assert_int_equal(f.counts.done[i], 2);
    assert_string_equal(error.text, "before");
    f.first = 3;
    assert_part(threads_try(NULL, PARTS, fail_from, &f, &error), &error, 3);
    assert_int_equal(f.counts.done[4], 2);
    threads_destroy(team);
}

static void shares_of_items(void **state) {
    struct threads *team = threads_create(TEAM);
    (void)state;
    assert_int_equal(threads_shares(team, 0, 10), 1);
    assert_int_equal(threads_shares(team, 19, 10), 1);
    assert_int_equal(threads_shares(team, 20, 10), 2);
    assert_int_equal(threads_shares(team, 1000, 10), TEAM);
    assert_int_equal(threads_shares(NULL, 1000, 10), 1);
    for (int64_t n = 0; n < 40; n++) {
        for (int n_shares = 1; n_shares < 9; n_shares++) {
            assert_int_equal(threads_share(n, n_shares, 0), 0);
            assert_int_equal(threads_share(n, n_shares, n_shares), n);
            for (int i = 0; i < n_shares; i++) {
                const int64_t size =
                    threads_share(n, n_shares, i + 1) - threads_share(n, n_shares, i);
                assert_true(size == n / n_shares || size == n / n_shares + 1);
            }
        }
    }
    threads_destroy(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_done_once),
        cmocka_unit_test(no_team_is_one_thread),
        cmocka_unit_test(parts_are_done_at_the_same_time),
        cmocka_unit_test(a_team_changes_its_size),
        cmocka_unit_test(the_lowest_error_wins),
        cmocka_unit_test(a_lower_error_wins_later),
        cmocka_unit_test(no_error_leaves_none),
        cmocka_unit_test(shares_of_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
