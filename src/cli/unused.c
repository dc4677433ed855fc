#include "cli/unused.h"

#include <string.h>

#include "api/finder.h"
#include "cli/command_line.h"
#include "gpu/module.h"
#include "input/regions/region_file.h"
#include "output/writer.h"

static void note(const struct messages *messages, const struct cli *cli, const char *option,
                 const char *why) {
    if (command_line_gives(cli, option))
        messages_note(messages, "--%s has no effect %s", option, why);
}

/* Notes a catalogue whose suffix is that of another format than its own. In a directory, suffixes
 * are those of the format. */
static void note_suffix(const struct messages *messages, const struct targets *targets) {
    const char *path = targets->n > 0 ? target_catalogue(&targets->target[0]) : NULL;
    const struct srcfind_format *of_suffix = path ? srcfind_format_of(path) : NULL;
    if (of_suffix && strcmp(of_suffix->name, targets->format->name) != 0)
        messages_note(messages,
                      "%s: the format is %s (--format), but the suffix is that of %s, and programs "
                      "may go by the suffix: rename the file",
                      path, targets->format->name, of_suffix->name);
}

/* Whether --mask names a file of regions; the search complains of one that cannot be read. */
static bool mask_has_regions(const struct cli *cli) {
    const char *path = cli->find->values.mask;
    struct error error;
    bool has = false;
    return *path && region_file_is(path, &has, &error) == SRCFIND_OK && has;
}

void unused_note(const struct messages *messages, const struct cli *cli,
                 const struct targets *targets) {
    note_suffix(messages, targets);
    static const char *const of_islands[] = {"threshold", "island", "connectivity", "min-pixels"};
    const bool finds_none = cli->at_positions && !cli->find->values.at_search;
    for (size_t i = 0; finds_none && i < sizeof of_islands / sizeof *of_islands; i++)
        note(messages, cli, of_islands[i], "with --at, which measures at all positions");
    if (finds_none && !cli->find->values.mask_noise && mask_has_regions(cli))
        note(messages, cli, "mask",
             "with --at, which measures outside of regions, too; with --mask-noise the noise is "
             "measured inside of them alone");
    if (cli->find->values.at_fixed) {
        note(messages, cli, "flux-error", "with --at-fixed: fluxes have no errors");
        note(messages, cli, "position-error", "with --at-fixed: positions have no errors");
    }
    if (writer_named(targets->format->name)->is_sky_model && !cli->merge)
        note(messages, cli, "sort", "with sky models, which keep the order of the islands");
    if (!cli->output)
        note(messages, cli, "skip-existing", "without -o, which names the catalogues");
    if (!cli->save.maps[MAP_MASK]) {
        note(messages, cli, "mask-dilate", "without --save mask");
        note(messages, cli, "mask-fill", "without --save mask");
        note(messages, cli, "regions-as", "without --save mask");
    }
    if (command_line_has_device(cli, "cpu"))
        note(messages, cli, "device-memory", "with --cpu");
    else if (!gpu_module_exists() || !gpu_driver_exists())
        note(messages, cli, "device-memory", "without a GPU");
}
