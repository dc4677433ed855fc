#include "output/picture/stretch.h"

#include <math.h>

#include "common/format_double.h"

static const double WHITE = -3; /* rms */
static const float LEAST_BLACK = 10;
static const double SOFT = 3; /* rms: the stretch is linear well below, logarithmic well above */
static const uint32_t BLANK = 0xd6e2f0;

struct stretch stretch_of_noise(const struct result *result) {
    const struct srcfind_background *b = &result->background;
    const double median = isfinite(b->median) ? b->median : 0;
    const double rms = b->box > 0 ? b->rms_median : b->rms;
    return (struct stretch){.zero = median, .unit = rms > 0 ? rms : median != 0 ? fabs(median) : 1};
}

void stretch_to(struct stretch *s, const struct block_means *means) {
    float highest = LEAST_BLACK; /* no double: gcc 12 for AArch64 fails at a loop that has both */
    for (int64_t i = 0; i < means->width * means->height; i++)
        highest = fmaxf(highest, means->means[i]); /* fmaxf skips NaN */
    s->low = asinh(WHITE / SOFT);
    s->high = asinh((double)highest / SOFT);
}

double stretch_value(const struct stretch *s, double level) {
    return SOFT * sinh(s->low + level * (s->high - s->low));
}

void stretch_label(const struct stretch *s, double level, char label[STRETCH_LABEL]) {
    enum { LEAST = 3, MOST = 7 };
    const double more = log10(fabs(s->zero) / s->unit); /* -infinity for 0 */
    const int digits = (int)fmax(LEAST, fmin(LEAST + more, MOST));
    snprintf(label, STRETCH_LABEL, "%.*g", digits, s->zero + stretch_value(s, level) * s->unit);
    format_point(label);
}

uint32_t stretch_colour(const struct stretch *s, double value) {
    if (isnan(value))
        return BLANK;
    const double level = (asinh(value / SOFT) - s->low) / (s->high - s->low);
    const uint32_t grey = (uint32_t)lrint(255 * fmax(0, fmin(1 - level, 1)));
    return grey << 16 | grey << 8 | grey;
}
