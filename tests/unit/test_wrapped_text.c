/* Texts that are wrapped: the width of lines, indents, and all words in their order. */
#include <stdlib.h>
#include <string.h>

#include "common/wrapped_text.h"
#include "pictures.h"
#include "unit.h"

enum { WIDTH = 80 };

/* Wraps a text; to be freed. */
static char *wrapped(const char *text, int at, int indent) {
    char *shown = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&shown, &size);
    wrapped_text_write(text, strlen(text), at, indent, stream);
    fclose(stream);
    return shown;
}

/* Words of random lengths: as many on each line as there is room for. */
static void lines_are_full(void **state) {
    struct random r = {1};
    (void)state;
    for (int i = 0; i < 500; i++) {
        const int at = random_below(&r, 40), indent = random_below(&r, 40);
        char text[1024] = "", *shown, *rest;
        for (int n = 1 + random_below(&r, 60); n > 0; n--)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", *text ? " " : "",
                     1 + random_below(&r, 14), "abcdefghijklmno");
        shown = wrapped(text, at, indent);
        const char *word = text;
        int column = at;
        for (char *line = strtok_r(shown, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            const int blanks = (int)strspn(line, " ");
            const size_t length = strlen(line + blanks);
            assert_int_equal(blanks, line == shown ? 0 : indent);
            assert_true(column + (int)length <= WIDTH);
            assert_memory_equal(line + blanks, word, length);
            word += length + (word[length] == ' ');
            assert_true(!*word || column + (int)(length + 1 + strcspn(word, " ")) > WIDTH);
            column = indent;
        }
        assert_false(*word);
        free(shown);
    }
}

/* A word that is too long for any line has one of its own, and is whole. */
static void long_words(void **state) {
    char text[202] = "a ";
    (void)state;
    memset(text + 2, 'b', 100);
    char *shown = wrapped(text, 0, 2);
    assert_memory_equal(shown, "a\n  b", 5);
    assert_int_equal(strlen(shown), 2 + 2 + 100 + 1);
    free(shown);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_full),
        cmocka_unit_test(long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
