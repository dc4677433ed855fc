#include "common/near_word.h"

#include <string.h>

#include "common/ascii.h"

/* The edit distance of two words: the least number of letters to insert, delete or change. Words
 * have up to 31 letters; longer ones are 32 apart. (Wagner and Fischer 1974, J. ACM 21, 168.) */
static int distance(const char *a, const char *b, size_t b_length) {
    enum { CAPACITY = 32 };
    int row[CAPACITY], before;
    if (strlen(a) >= CAPACITY || b_length >= CAPACITY)
        return CAPACITY;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 0; a[i]; i++) {
        before = row[0]++;
        for (size_t j = 0; j < b_length; j++) {
            const int changed = before + (ascii_lower(a[i]) != ascii_lower(b[j]));
            const int other = 1 + (row[j] < row[j + 1] ? row[j] : row[j + 1]);
            before = row[j + 1];
            row[j + 1] = changed < other ? changed : other;
        }
    }
    return row[b_length];
}

const char *near_word(const char *const *words, int n, const char *given, size_t length) {
    const char *similar = NULL;
    int least = length < 6 ? 2 : 3; /* the smallest distance so far; these are too large */
    for (int i = 0; i < n; i++) {
        const int d = distance(words[i], given, length);
        if (d < least) {
            least = d;
            similar = words[i];
        }
    }
    return similar;
}
