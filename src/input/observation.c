#include "input/observation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- DATE-OBS --- */

/* Whether a text begins like `form`, in which 0 stands for any digit. */
static bool begins_as(const char *text, const char *form) {
    for (; *form; text++, form++)
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    return true;
}

/* Whether two digits are a number from `least` to `most`. */
static bool is_between(const char *digits, int least, int most) {
    const int number = 10 * (digits[0] - '0') + digits[1] - '0';
    return number >= least && number <= most;
}

/* Whether a text is the time of a day, with a fraction of the second or without. */
static bool is_time(const char *text) {
    if (!begins_as(text, "T00:00:00") || !is_between(text + 1, 0, 23) ||
        !is_between(text + 4, 0, 59) || !is_between(text + 7, 0, 60))
        return false;
    text += strlen("T00:00:00");
    return !*text || (*text == '.' && !text[1 + strspn(text + 1, "0123456789")]);
}

/* Whether a text is a date as FITS spells it (FITS 4.0, section 4.4.2.1), or spelled it until 1998.
 */
static bool is_date(const char *text) {
    if (begins_as(text, "00/00/00"))
        return !text[8] && is_between(text, 1, 31) && is_between(text + 3, 1, 12);
    return begins_as(text, "0000-00-00") && is_between(text + 5, 1, 12) &&
           is_between(text + 8, 1, 31) && (!text[10] || is_time(text + 10));
}

/* --- MJD-OBS --- */

static const int64_t DAY = 86400000; /* milliseconds */

struct date {
    int16_t year;
    int8_t month, day;
};

/* The Gregorian date of a modified Julian date, a number of days from 1858-11-17 on (Fliegel & Van
 * Flandern 1968, CACM 11, 657). */
static struct date date_of(int64_t mjd) {
    const int64_t days = mjd + 2400001 + 68569, century = 4 * days / 146097;
    const int64_t of_century = days - (146097 * century + 3) / 4;
    const int64_t year = 4000 * (of_century + 1) / 1461001;
    const int64_t from_march = of_century - 1461 * year / 4 + 31, month = 80 * from_march / 2447;
    return (struct date){(int16_t)(100 * (century - 49) + year + month / 11),
                         (int8_t)(month + 2 - 12 * (month / 11)),
                         (int8_t)(from_march - 2447 * month / 80)};
}

/* Writes a modified Julian date as ISO 8601, if its year has four digits. */
static void put_mjd(double mjd, char text[SRCFIND_TEXT]) {
    static const double first = -678941, end = 2973484; /* 0000-01-01 and 10000-01-01 */
    if (!(mjd >= first && mjd < end))
        return;
    const int64_t of_day = llround((mjd - floor(mjd)) * (double)DAY); /* DAY: the next day */
    const struct date date = date_of((int64_t)floor(mjd) + of_day / DAY);
    const int ms = (int)(of_day % DAY);
    snprintf(text, SRCFIND_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", date.year, date.month,
             date.day, ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
}

/* --- all --- */

void observation_read(const struct header *header, struct srcfind_image *image) {
    double mjd;
    header_text(header, "DATE-OBS", image->date_obs, sizeof image->date_obs);
    if (!is_date(image->date_obs))
        *image->date_obs = '\0';
    if (!*image->date_obs && header_real(header, "MJD-OBS", &mjd))
        put_mjd(mjd, image->date_obs);
    header_text(header, "TELESCOP", image->telescope, sizeof image->telescope);
    header_text(header, "OBJECT", image->object, sizeof image->object);
}
