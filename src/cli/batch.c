#include "cli/batch.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/report.h"
#include "cli/targets.h"
#include "clock.h"

int batch_exit_status(enum srcfind_status status) {
    switch (status) {
    case SRCFIND_OK:
        return EXIT_OK;
    case SRCFIND_ERROR_OPTIONS:
        return EXIT_USAGE;
    case SRCFIND_ERROR_DEVICE:
        return EXIT_DEVICE;
    case SRCFIND_ERROR_INPUT:
    case SRCFIND_ERROR_OUTPUT:
    case SRCFIND_ERROR_MEMORY:
        return EXIT_IMAGE;
    }
    return EXIT_IMAGE;
}

/* Saves with the signals that end a process held back, so that none can leave a half-written file
 * beside the catalogue. A pipe or device may take for ever and is left open to them. */
static enum srcfind_status save(struct srcfind *finder, const struct srcfind_catalogue *catalogue,
                                enum srcfind_format format, const char *path) {
    struct stat facts;
    const bool special = stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
    sigset_t ending, before;
    sigemptyset(&ending);
    if (!special) {
        sigaddset(&ending, SIGHUP);
        sigaddset(&ending, SIGINT);
        sigaddset(&ending, SIGTERM);
    }
    sigprocmask(SIG_BLOCK, &ending, &before);
    const enum srcfind_status status = srcfind_catalogue_save(finder, catalogue, format, path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* One image. Adds its sources to the totals. */
static enum srcfind_status search(struct srcfind *finder, const struct target *target,
                                  enum srcfind_format format, struct report *report,
                                  struct totals *totals) {
    struct srcfind_catalogue *catalogue;
    const double start = clock_seconds();
    enum srcfind_status status = srcfind_find_file(finder, target->image, &catalogue);
    report_clear(report);
    if (status == SRCFIND_OK)
        status = target->catalogue ? save(finder, catalogue, format, target->catalogue)
                                   : srcfind_catalogue_write(finder, catalogue, format, stdout);
    if (status == SRCFIND_OK) {
        totals->sources += catalogue->n_sources;
        report_image(report, catalogue, clock_seconds() - start);
    } else {
        report_error(report, "%s", srcfind_message(finder));
    }
    srcfind_catalogue_destroy(catalogue);
    return status;
}

static int search_all(const struct cli *cli, const struct targets *targets, struct srcfind *finder,
                      struct report *report) {
    const double start = clock_seconds();
    struct totals totals = {0};
    int worst = EXIT_OK;
    for (int64_t i = 0; i < targets->n && !(cli->fail_fast && totals.failed); i++) {
        const struct target *target = &targets->target[i];
        totals.images++;
        if (cli->skip_existing && target->catalogue && access(target->catalogue, F_OK) == 0) {
            report_skipped(report, target->image, target->catalogue);
            totals.skipped++;
            continue;
        }
        report_next(report, i, targets->n, target->image);
        const int status =
            batch_exit_status(search(finder, target, targets->format, report, &totals));
        totals.failed += status != EXIT_OK;
        worst = status > worst ? status : worst;
        if (status == EXIT_DEVICE && !srcfind_device_is_usable(finder)) {
            report_given_up(report, targets->n - i - 1);
            break;
        }
    }
    totals.seconds = clock_seconds() - start;
    report_totals(report, &totals);
    return worst;
}

int batch_run(const struct cli *cli) {
    struct report report = report_for(cli);
    struct targets targets = {0};
    struct srcfind *finder;
    int status = targets_make(cli, &targets);
    if (status == EXIT_OK) {
        status = batch_exit_status(srcfind_create(&cli->find, &finder));
        if (status == EXIT_OK)
            status = search_all(cli, &targets, finder, &report);
        else
            report_error(&report, "%s", srcfind_message(finder));
        srcfind_destroy(finder);
    }
    targets_free(&targets);
    return status;
}
