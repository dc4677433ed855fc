/* Arrays of an arena are aligned, apart from each other, and stay as they were written. */
#include <stdalign.h>
#include <stdint.h>

#include "common/arena.h"
#include "unit.h"

static void arrays_are_apart(void **state) {
    enum { ARRAYS = 3000 };
    static unsigned char *arrays[ARRAYS];
    static size_t sizes[ARRAYS];
    struct random r = {1};
    struct arena arena = {0};
    (void)state;
    for (int i = 0; i < ARRAYS; i++) {
        sizes[i] = random_below(&r, 50) == 0 ? random_below(&r, 300000) : random_below(&r, 200);
        arrays[i] = arena_take(&arena, sizes[i], 1);
        assert_non_null(arrays[i]);
        assert_int_equal((uintptr_t)arrays[i] % alignof(max_align_t), 0);
        memset(arrays[i], i % 251, sizes[i]);
    }
    for (int i = 0; i < ARRAYS; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(arrays[i][k], i % 251);
    arena_clear(&arena);
    assert_null(arena.chunks);
}

static void too_much(void **state) {
    struct arena arena = {0};
    (void)state;
    assert_null(arena_take(&arena, SIZE_MAX / 4, 8));
    assert_null(arena_take(&arena, SIZE_MAX - 5, 1));
    assert_null(arena_take(&arena, SIZE_MAX / 2, 1));
    assert_non_null(arena_take(&arena, 0, 8));
    arena_clear(&arena);
}

/* An array that grows keeps its elements: in place where it is the newest one, else elsewhere. */
static void extended(void **state) {
    struct arena arena = {0};
    int *array = NULL;
    int64_t n = 0;
    (void)state;
    while (n < 100000) {
        const int64_t more = 2 * n + 1;
        int *const before = array;
        const bool is_newest = n > 0 && (char *)(before + (n + 3) / 4 * 4) == arena.next;
        array = arena_extend(&arena, array, (size_t)n, (size_t)more, sizeof *array);
        assert_non_null(array);
        if (is_newest && more < 1000)
            assert_ptr_equal(array, before);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(array[i], i);
        for (; n < more; n++)
            array[n] = (int)n;
        if (n % 3 == 0) {
            char *other = arena_take(&arena, 10, 1);
            assert_non_null(other);
            memset(other, -1, 10);
        }
    }
    assert_null(arena_extend(&arena, array, (size_t)n, SIZE_MAX / 2, sizeof *array));
    arena_clear(&arena);
}

/* Chunks of a cleared arena serve another one; those for one large array are freed. */
static void from_a_pool(void **state) {
    struct arena_pool pool;
    (void)state;
    assert_true(arena_pool_make(&pool));
    struct arena a = {.pool = &pool}, b = {.pool = &pool};
    char *first = arena_take(&a, 1000, 1), *large = arena_take(&a, 1 << 20, 1);
    assert_true(first && large);
    assert_null(pool.chunks);
    arena_clear(&a);
    assert_non_null(pool.chunks);
    assert_ptr_equal(a.pool, &pool);
    assert_ptr_equal(arena_take(&b, 10, 1), first);
    assert_null(pool.chunks);
    assert_non_null(arena_take(&b, 1 << 20, 1));
    arena_clear(&b);
    arena_clear(&a);
    arena_pool_clear(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_apart),
        cmocka_unit_test(too_much),
        cmocka_unit_test(extended),
        cmocka_unit_test(from_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
