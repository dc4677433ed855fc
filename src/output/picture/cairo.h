/* The functions of cairo that draw a picture. dlopen loads them for the first picture: cairo brings
 * twenty libraries, for which every start of the program would wait. */
#ifndef PICTURE_CAIRO_H
#define PICTURE_CAIRO_H

#include <cairo.h>

#include "common/error.h"

#define CAIRO_FUNCTIONS(f)                                                                         \
    f(cairo_arc) f(cairo_clip) f(cairo_create) f(cairo_destroy) f(cairo_fill)                      \
        f(cairo_fill_preserve) f(cairo_image_surface_create_for_data) f(cairo_line_to)             \
            f(cairo_move_to) f(cairo_rectangle) f(cairo_restore) f(cairo_rotate) f(cairo_save)     \
                f(cairo_scale) f(cairo_select_font_face) f(cairo_set_dash) f(cairo_set_font_size)  \
                    f(cairo_set_line_width) f(cairo_set_source_rgb) f(cairo_show_text)             \
                        f(cairo_status) f(cairo_status_to_string) f(cairo_stroke)                  \
                            f(cairo_stroke_preserve) f(cairo_surface_destroy)                      \
                                f(cairo_surface_flush) f(cairo_text_extents) f(cairo_text_path)    \
                                    f(cairo_translate) f(cairo_version_string)

struct cairo {
#define CAIRO_MEMBER(name) __typeof__(name) *name;
    CAIRO_FUNCTIONS(CAIRO_MEMBER)
#undef CAIRO_MEMBER
};

/* Returns the functions, which stay loaded; NULL with the reason in error if cairo cannot be
 * loaded. Several threads may call it at the same time. */
const struct cairo *cairo_load(struct error *error);

#endif
