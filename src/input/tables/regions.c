/* Regions of DS9 as a table: the centres of points, circles, ellipses, boxes and annuli in one
 * frame, and their texts as Source_id, which is what srcfind writes there. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "input/regions/ds9.h"
#include "input/tables/builder.h"
#include "input/tables/readers.h"
#include "input/tables/text_file.h"

/* What the table of the regions of a frame has. */
static const struct {
    const char *lon, *lat, *frame;
    double equinox;
} frames[] = {[SKY_ICRS] = {"RA", "DEC", "ICRS", NAN},
              [SKY_FK5] = {"RA", "DEC", "FK5", 2000},
              [SKY_FK4] = {"RA", "DEC", "FK4", 1950},
              [SKY_GALACTIC] = {"GLON", "GLAT", "", NAN}};

struct centres {
    struct builder builder;
    struct table_file *table;
    struct ds9_centre first; /* whose frame all must have */
};

/* Adds the columns of the first region's frame. */
static bool begin(struct centres *c, const struct ds9_centre *first) {
    const bool on_sky = first->system == REGION_SKY;
    const char *names[] = {on_sky ? frames[first->frame].lon : "Xposn",
                           on_sky ? frames[first->frame].lat : "Yposn", "Source_id"};
    bool ok = true;
    for (int i = 0; ok && i < 3; i++)
        ok = builder_add_column(&c->builder, names[i], strlen(names[i]));
    c->first = *first;
    if (on_sky) {
        snprintf(c->table->image.frame, sizeof c->table->image.frame, "%s",
                 frames[first->frame].frame);
        c->table->image.equinox = frames[first->frame].equinox;
    }
    return ok;
}

static bool add_row(struct builder *builder, const struct ds9_centre *centre) {
    const struct number at[] = {{.kind = NUMBER_REAL, .real = centre->at.x},
                                {.kind = NUMBER_REAL, .real = centre->at.y}};
    bool ok = builder_begin_row(builder);
    for (int i = 0; ok && i < 2; i++)
        ok = builder_set_number(builder, i, &at[i]) == BUILDER_OK;
    ok = ok && builder_set(builder, 2, centre->label.at, centre->label.length) == BUILDER_OK;
    if (ok)
        builder_end_row(builder);
    return ok;
}

static enum srcfind_status take_centre(void *context, const struct region_text *text,
                                       struct region_word command,
                                       const struct ds9_centre *centre) {
    struct centres *c = context;
    if (centre->system == REGION_PHYSICAL)
        return region_text_refuse(text, command,
                                  "is in physical pixels: save the regions in fk5 or image");
    if (c->builder.n_columns > 0 &&
        (centre->system != c->first.system || centre->frame != c->first.frame))
        return region_text_refuse(text, command,
                                  "is in another frame than the first region: save all in one");
    if (c->builder.n_columns == 0 && !begin(c, centre))
        return error_memory(text->error, "reading a catalogue");
    return add_row(&c->builder, centre) ? SRCFIND_OK
                                        : error_memory(text->error, "reading a catalogue");
}

enum srcfind_status regions_table_read(const char *path, struct table_file *table,
                                       struct error *error) {
    struct text_file file;
    struct centres c = {.table = table};
    enum srcfind_status status = text_file_open(&file, path, error);
    struct region_text text = {
        .path = path, .next = file.text, .end = file.text + file.size, .error = error};
    do {
        text.next = file.text;
        text.line = 0;
        if (status == SRCFIND_OK)
            status = ds9_read_centres(&text, take_centre, &c);
    } while (status == SRCFIND_OK && builder_restarts(&c.builder));
    if (status == SRCFIND_OK && c.builder.n_columns == 0)
        status = error_set(error, SRCFIND_ERROR_INPUT,
                           "%s: there is no region with a centre in it: point, circle, ellipse, "
                           "box or annulus",
                           path);
    if (status == SRCFIND_OK && !builder_finish(&c.builder, table))
        status = error_memory(error, "reading a catalogue");
    builder_clear(&c.builder);
    text_file_close(&file);
    return status;
}
