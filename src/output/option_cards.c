#include "output/option_cards.h"

#include <stdio.h>

void option_cards_add(struct cards *cards, const char *what, const struct options *options) {
    char text[OPTIONS_TEXT + SRCFIND_TEXT], value[OPTIONS_TEXT];
    snprintf(text, sizeof text, "srcfind %s %s", SRCFIND_VERSION, what);
    cards_add_history(cards, text);
    for (int i = 0; options && options_describe(i); i++) {
        const struct srcfind_option *option = options_describe(i);
        options_get(options, option->name, value);
        if (!option->shapes_catalogue || !*value)
            continue;
        snprintf(text, sizeof text, "srcfind option %s: %s", option->name,
                 options_is_path(i) ? "a file" : value);
        cards_add_history(cards, text);
    }
}
