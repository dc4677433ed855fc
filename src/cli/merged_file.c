#include "cli/merged_file.h"

#include <string.h>

#include "cli/directories.h"
#include "cli/earlier.h"
#include "cli/exit_status.h"
#include "common/plural.h"

const char *merged_file_path(const char *path) {
    return strcmp(path, "-") == 0 ? NULL : path;
}

int merged_file_check_path(const char *path, const char *made) {
    const struct writer *writer;
    struct error error;
    if (merge_choose_writer(merged_file_path(path), &writer, &error) != SRCFIND_OK)
        return messages_usage("%s", error.text);
    return merged_file_path(path) ? directory_check_for(path, "merged catalogue", made) : EXIT_OK;
}

int merged_file_check(const struct merge_options *options) {
    struct error error;
    return merge_check_output(options, &error) == SRCFIND_OK ? EXIT_OK
                                                             : messages_usage("%s", error.text);
}

void merged_file_say(const struct messages *messages, const char *path,
                     const struct srcfind_merge_counts *counts, bool keep, const char *of,
                     const char *radius_option) {
    const char *name = strcmp(path, "-") == 0 ? "merged" : path;
    char artefacts[96] = "";
    if (counts->artefacts > 0)
        snprintf(artefacts, sizeof artefacts,
                 ", %lld %s%s may be artefacts of brighter sources (flag 2048)",
                 (long long)counts->artefacts, messages->row, plural(counts->artefacts));
    messages_note(messages, "%s: %lld %s%s of %lld %s%s, %lld duplicate%s %s%s", name,
                  (long long)counts->rows, messages->row, plural(counts->rows),
                  (long long)counts->images, of, plural(counts->images),
                  (long long)counts->duplicates, plural(counts->duplicates),
                  keep ? "marked" : "left out", artefacts);
    if (counts->without_sky > 0 && counts->images > 1)
        messages_note(messages,
                      "%s: %lld of them %s no sky coordinates (%s%s), so duplicates of their rows "
                      "are not found",
                      name, (long long)counts->without_sky,
                      counts->without_sky == 1 ? "has" : "have", counts->first_without_sky,
                      counts->without_sky == 1 ? "" : ", ...");
    if (counts->without_beam > 1)
        messages_note(messages,
                      "%s: %lld images have no beam (%s, ...), so duplicates among their rows are "
                      "not found: give %s",
                      name, (long long)counts->without_beam, counts->first_without_beam,
                      radius_option);
}

void merged_file_remove_earlier(const struct merge_options *o, const char *const read[2],
                                const struct messages *messages) {
    struct replaced replaced = {.catalogue = o->path, .n_kept = 4};
    const char *const kept[] = {o->gaussians, o->completeness, read[0], read[1]};
    struct error ignored;
    replaced.kept = kept;
    if (merge_choose_writer(o->path, &replaced.writer, &ignored) == SRCFIND_OK)
        earlier_remove(&replaced, messages);
}
