#include "output/reliability.h"

#include <math.h>

void reliability_count(const struct result *result, struct reliability_bin bins[RELIABILITY_BINS]) {
    static const double edges[RELIABILITY_BINS + 1] = {0, 4, 5, 6, 8, 10, 20, 60, INFINITY};
    const bool is_fit = options_fit(&result->options);
    for (int i = 0; i < RELIABILITY_BINS; i++)
        bins[i] = (struct reliability_bin){.low = edges[i], .high = edges[i + 1]};
    for (int64_t k = 0; k < result->sources.n; k++) {
        const struct srcfind_source *source = &result->sources.rows[k];
        const double snr = fabs(is_fit ? source->pix_snr : source->snr);
        for (int i = 0; i < RELIABILITY_BINS; i++) {
            const bool is_here = snr >= bins[i].low && snr < bins[i].high;
            const bool is_negative = source->flags & SRCFIND_FLAG_NEGATIVE;
            const bool is_artefact = source->flags & SRCFIND_FLAG_ARTEFACT;
            int64_t *counts[2][2] = {{&bins[i].positive, &bins[i].negative},
                                     {&bins[i].artefacts, &bins[i].negative_artefacts}};
            *counts[is_artefact][is_negative] += is_here;
        }
    }
    for (int i = 0; i < RELIABILITY_BINS; i++)
        bins[i].reliability = bins[i].positive > 0
                                  ? 1 - (double)bins[i].negative / (double)bins[i].positive
                                  : (double)NAN;
}
