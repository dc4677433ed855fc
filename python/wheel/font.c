/* The cairo of the wheel takes the font of the wheel, which lies beside it: a machine may have
 * neither fonts nor a configuration of fontconfig, and so pictures look alike everywhere. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fontconfig/fontconfig.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

__attribute__((constructor)) static void use_own_font(void) {
    Dl_info self;
    char path[PATH_MAX];
    if (!dladdr((void *)use_own_font, &self))
        return;
    const char *slash = strrchr(self.dli_fname, '/');
    if (!slash || snprintf(path, sizeof path, "%.*s/fonts/DejaVuSans.ttf",
                           (int)(slash - self.dli_fname), self.dli_fname) >= (int)sizeof path)
        return;
    FcConfig *config = FcConfigCreate();
    if (config && FcConfigAppFontAddFile(config, (const FcChar8 *)path))
        FcConfigSetCurrent(config);
}
