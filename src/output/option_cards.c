#include "output/option_cards.h"

#include <stdio.h>

void option_cards_add(struct cards *cards, const char *what, const struct options *options) {
    char text[OPTIONS_TEXT + SRCFIND_TEXT];
    struct shaping_option option;
    snprintf(text, sizeof text, "srcfind %s %s", SRCFIND_VERSION, what);
    cards_add_history(cards, text);
    for (int i = 0; options && options_next_shaping(options, &i, &option);) {
        snprintf(text, sizeof text, "srcfind option %s: %s", option.name,
                 option.is_path ? "a file" : option.value);
        if (*option.value)
            cards_add_history(cards, text);
    }
}
