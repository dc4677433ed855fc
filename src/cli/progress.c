#include "cli/progress.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/clean.h"
#include "common/clock.h"
#include "common/plural.h"
#include "common/texts.h"
#include "options/options.h"

enum { LINE = 512, USUAL_COLUMNS = 80, LEAST_PATH = 16 };

struct progress progress_for(const struct cli *cli) {
    return (struct progress){
        .is_wanted = cli->progress == PROGRESS_ALWAYS ||
                     (cli->progress == PROGRESS_AUTO && !cli->quiet && isatty(STDERR_FILENO))};
}

void progress_clear(struct progress *progress) {
    if (progress->is_drawn)
        fputs("\r\033[K", stderr);
    progress->is_drawn = false;
}

/* Columns for a line: one that wraps could not be cleared. */
static size_t count_columns(void) {
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const size_t columns = known ? size.ws_col : USUAL_COLUMNS;
    return (columns < LINE ? columns : LINE) - 1;
}

static void add_time(char *line, double seconds) {
    const int64_t minutes = (int64_t)(seconds / 60);
    if (minutes < 2)
        texts_append(line, LINE, ", %.0f s left", seconds);
    else if (minutes < 120)
        texts_append(line, LINE, ", %lld min left", (long long)minutes);
    else
        texts_append(line, LINE, ", %lld h %lld min left", (long long)minutes / 60,
                     (long long)minutes % 60);
}

/* Adds how many images a second were searched, and what the others will take. Those that are
 * skipped take no time. */
static void add_rate(char *line, const struct totals *done, int64_t n, double seconds) {
    const int64_t searched = done->images - done->skipped;
    if (searched < 1 || !(seconds > 0))
        return;
    const double rate = (double)searched / seconds;
    texts_append(line, LINE, rate < 1 ? ", %.2f images/s" : ", %.0f images/s", rate);
    add_time(line, (double)(n - done->images) / rate);
}

/* Adds a path, or its end, if a line of so many columns has room for some of it. */
static void add_path(char *line, const char *path, size_t columns) {
    const struct clean shown = clean_text(path);
    const size_t length = strlen(shown.text), used = strlen(line) + strlen(" ...");
    if (used + LEAST_PATH > columns)
        return;
    const bool cut = length > columns - used;
    texts_append(line, LINE, " %s%s", cut ? "..." : "",
                 cut ? shown.text + length - (columns - used) : shown.text);
}

void progress_show(struct progress *progress, int64_t i, int64_t n, const struct totals *done,
                   const char *row, const char *path) {
    char line[LINE] = "";
    const size_t columns = count_columns();
    if (!progress->is_wanted)
        return;
    progress->start = progress->start > 0 ? progress->start : clock_seconds();
    texts_append(line, LINE, "[%lld/%lld]", (long long)i + 1, (long long)n);
    if (done->failed > 0)
        texts_append(line, LINE, " %lld failed,", (long long)done->failed);
    if (done->images > 0) {
        texts_append(line, LINE, " %lld %s%s", (long long)done->sources, row,
                     plural(done->sources));
        add_rate(line, done, n, clock_seconds() - progress->start);
    }
    add_path(line, path, columns);
    progress_clear(progress);
    fprintf(stderr, "%.*s", (int)columns, line);
    fflush(stderr);
    progress->is_drawn = true;
}
