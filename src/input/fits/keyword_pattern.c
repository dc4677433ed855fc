#include "input/fits/keyword_pattern.h"

enum { KEYWORD = 8 };

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Reads a number of at most `most` digits, and moves behind it. -1 if there is none. */
static int read_number(const char *card, int most, int *at) {
    const int begin = *at;
    int number = 0;
    for (; *at < begin + most && *at < KEYWORD && is_digit(card[*at]); ++*at)
        number = 10 * number + (card[*at] - '0');
    return *at > begin ? number : -1;
}

/* Whether a card has, at *at, characters that one character of a pattern stands for. Moves *at
 * behind them. */
static bool fits_character(const char *card, char c, int n_axes, int *at) {
    if (c == '%')
        return read_number(card, KEYWORD, at) >= 0;
    if (c != '#' && c != '@')
        return *at < KEYWORD && card[(*at)++] == c;
    const int axis = read_number(card, c == '#' ? KEYWORD : 3, at);
    return axis >= 1 && axis <= n_axes;
}

/* Whether a keyword ends at a place: only blanks follow. */
static bool ends(const char *card, int at) {
    while (at < KEYWORD && card[at] == ' ')
        at++;
    return at == KEYWORD;
}

bool keyword_fits(const char *card, const char *pattern, int n_axes) {
    int at = 0;
    for (; *pattern && *pattern != ' ' && *pattern != '*'; pattern++)
        if (!fits_character(card, *pattern, n_axes, &at))
            return false;
    return *pattern == '*' || ends(card, at);
}

bool keyword_fits_one(const char *card, const char *const *patterns, int n, int n_axes) {
    for (int i = 0; i < n; i++)
        if (keyword_fits(card, patterns[i], n_axes))
            return true;
    return false;
}
