/* Any header: its values, and what WCSLIB makes of it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/fits/header.h"
#include "input/wcs.h"
#include "target.h"

static void read_values(const struct header *header) {
    static const char *const keywords[] = {"SIMPLE", "BITPIX", "NAXIS1", "BSCALE",
                                           "BUNIT",  "OBJECT", "CTYPE1", "HISTORY"};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        char text[SRCFIND_TEXT] = "";
        int64_t integer;
        double real = 0;
        bool logical;
        header_integer(header, keywords[i], &integer);
        header_logical(header, keywords[i], &logical);
        if (header_real(header, keywords[i], &real) && !isfinite(real))
            abort();
        header_text(header, keywords[i], text, sizeof text);
        if (strlen(text) >= sizeof text)
            abort();
    }
}

/* Positions are on the wcs, or not at all. */
static void read_positions(struct wcs *wcs) {
    const double x[] = {0, 1, 50, -3, 1e6, 2147483646}, y[] = {0, 1, 60, -5, 1e6, 2147483646};
    enum { N = sizeof x / sizeof *x };
    double lon[N], lat[N];
    struct error error;
    if (wcs_positions(wcs, N, x, y, lon, lat, &error) != SRCFIND_OK)
        return;
    for (int i = 0; i < N; i++)
        if (!(isnan(lon[i]) || (lon[i] >= 0 && lon[i] < 360)))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct header header = {.n_cards = (int64_t)(size / CARD)};
    struct srcfind_image metadata = {.n_axes = 4, .plane = {1, 3}};
    struct wcs *wcs = NULL;
    struct error error;
    header.cards = malloc((size_t)header.n_cards * CARD + 1);
    memcpy(header.cards, data, (size_t)header.n_cards * CARD);
    header.cards[header.n_cards * CARD] = '\0';
    read_values(&header);
    if (wcs_open(&header, &metadata, &wcs, &error) == SRCFIND_OK && wcs)
        read_positions(wcs);
    wcs_close(wcs);
    header_clear(&header);
    return 0;
}
