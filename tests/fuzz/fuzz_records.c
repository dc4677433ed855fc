/* Cards of distortions, and others of which WCSLIB's structs are made, copied and used. The lines
 * of the input are cards. libwcs is not instrumented: what it writes to memory, valgrind sees where
 * it runs this target on the headers of records.py (test_distortions). */
#include <stdlib.h>
#include <string.h>

#include "input/wcs.h"
#include "input/wcs_cards.h"
#include "target.h"

/* Makes a header of the lines of a text; to be cleared. */
static struct header header_of(const uint8_t *data, size_t size) {
    size_t n_lines = 1;
    for (size_t i = 0; i < size; i++)
        n_lines += data[i] == '\n';
    struct header header = {malloc(n_lines * CARD + 1), (int64_t)n_lines};
    memset(header.cards, ' ', n_lines * CARD);
    char *card = header.cards;
    for (size_t i = 0, column = 0; i < size; i++) {
        const bool is_end = data[i] == '\n';
        if (!is_end && column < CARD)
            card[column] = (char)data[i];
        column = is_end ? 0 : column + 1;
        card += is_end ? CARD : 0;
    }
    header.cards[n_lines * CARD] = '\0';
    return header;
}

/* No record reaches WCSLIB, nor a card of alternate coordinates: a keyword of a distortion's
 * convention, a letter behind a number. */
static void check_cards(const struct header *header) {
    static const char *const records[] = {"CPDIS", "CQDIS", "DP",    "DQ",
                                          "CPERR", "CQERR", "DVERR", "D2IM"};
    char left_out[SRCFIND_REASON];
    int n;
    char *cards = wcs_cards_make(header, &n, left_out);
    if (strlen(left_out) >= sizeof left_out)
        abort();
    for (int i = 0; i < n; i++) {
        const char *card = cards + (size_t)CARD * (size_t)i;
        for (size_t k = 0; k < sizeof records / sizeof *records; k++)
            if (strncmp(card, records[k], strlen(records[k])) == 0)
                abort();
        for (int k = 1; k < 8; k++)
            if (card[k - 1] >= '0' && card[k - 1] <= '9' && card[k] >= 'A' && card[k] <= 'Z')
                abort();
    }
    free(cards);
}

/* A copy gives the same positions and pixels. */
static void check_copy(struct wcs *wcs, struct wcs *copy) {
    static const double x[] = {0, 1, 50, -3, 1e6}, y[] = {0, 1, 60, -5, 1e6};
    enum { N = sizeof x / sizeof *x };
    struct wcs *both[] = {wcs, copy};
    double sky[2][2 * N], pixels[2][2 * N];
    struct error error;
    for (int i = 0; i < 2; i++)
        if (wcs_positions(both[i], N, x, y, sky[i], sky[i] + N, &error) != SRCFIND_OK ||
            wcs_pixels(both[i], N, sky[i], sky[i] + N, pixels[i], pixels[i] + N, &error) !=
                SRCFIND_OK)
            return;
    if (memcmp(sky[0], sky[1], sizeof *sky) != 0 ||
        memcmp(pixels[0], pixels[1], sizeof *pixels) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct header header = header_of(data, size);
    struct srcfind_image metadata = {.n_axes = 4, .plane = {1, 3}};
    struct wcs *wcs = NULL;
    struct error error;
    check_cards(&header);
    if (wcs_open(&header, &metadata, &wcs, &error) == SRCFIND_OK && wcs) {
        struct wcs *copy = wcs_copy(wcs);
        if (copy)
            check_copy(wcs, copy);
        wcs_close(copy);
    }
    wcs_close(wcs);
    header_clear(&header);
    return 0;
}
