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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_apart),
        cmocka_unit_test(too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
