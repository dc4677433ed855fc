#include "cli/sky_models.h"

#include <math.h>

#include "api/finder.h"
#include "cli/exit_status.h"
#include "cli/messages.h"
#include "output/save.h"

/* Checks what only sky models have. */
static int check_others(const struct options *o) {
    const bool has_patches = o->patches != PATCHES_NOT_GIVEN;
    return has_patches || !isnan(o->spectral_index)
               ? messages_usage("--%s is for the formats skymodel and sagecal: choose one of these "
                                "formats, or leave the option out",
                                has_patches ? "patches" : "spectral-index")
               : EXIT_OK;
}

int sky_models_check(const struct cli *cli, const struct targets *t) {
    const struct writer *writer = writer_named(t->format->name);
    const struct options *o = &cli->find->values;
    const char *name = writer->format.name;
    if (!writer->is_sky_model)
        return check_others(o);
    if (!options_fit(o))
        return messages_usage("--format %s lists Gaussians: add --fit", name);
    if (t->to_stdout && writer->beside)
        return messages_usage("--format %s: the %s is written beside the model, so the model must "
                              "be a file: name it with -o, as model%s",
                              name, writer->beside->what, writer->format.suffixes[0]);
    return EXIT_OK;
}

int sky_models_name(struct targets *t) {
    const struct writer *writer = writer_named(t->format->name);
    struct error error;
    for (int64_t i = 0; i < t->n; i++) {
        struct target *target = &t->target[i];
        const char *catalogue = target_catalogue(target);
        if (!catalogue)
            continue;
        if (save_check_form(writer, catalogue, &error) != SRCFIND_OK)
            return messages_usage("%s", error.text);
        if (writer->beside && !target_add(target, save_beside(writer, catalogue), FILE_BESIDE, 0,
                                          writer->beside->what))
            return messages_no_memory("naming the catalogues");
    }
    return EXIT_OK;
}
