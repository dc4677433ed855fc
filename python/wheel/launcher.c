/* The commands of the wheel: srcfind and srcfind-merge in the folder of commands. Each runs the
 * program of its name in the Python package, which lies beside the libraries that it needs. Where
 * pip puts the package depends on the version of Python, and so no run path leads from the folder
 * of commands to the libraries. */
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The package of this version, seen from the folder of commands: of an environment, of a user, of
 * conda, of Debian's Python, of PyPy, or of pip install --target. */
static const char *const packages[] = {
    "../lib*/*py*/site-packages/srcfind-" VERSION ".dist-info",
    "../lib*/*py*/dist-packages/srcfind-" VERSION ".dist-info",
    "../srcfind-" VERSION ".dist-info",
};

/* Writes the name of a folder as a pattern that stands for this folder alone, also for [a]. */
static void quote(const char *folder, char pattern[2 * PATH_MAX]) {
    for (; *folder; *pattern++ = *folder++)
        if (strchr("*?[\\", *folder))
            *pattern++ = '\\';
    *pattern = '\0';
}

/* Goes on as the program of a package that the pattern names; returns if there is none. */
static void run(const char *folder, const char *pattern, const char *name, char **argv) {
    char quoted[2 * PATH_MAX], path[3 * PATH_MAX];
    glob_t found;
    quote(folder, quoted);
    const int length = snprintf(path, sizeof path, "%s/%s", quoted, pattern);
    if (length >= (int)sizeof path || glob(path, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (snprintf(path, sizeof path, "%s/srcfind/bin/%s", dirname(found.gl_pathv[i]), name) <
            (int)sizeof path)
            execv(path, argv);
    globfree(&found);
}

int main(int argc, char **argv) {
    char self[PATH_MAX], copy[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (argc < 1 || length < 0) {
        fputs("srcfind: /proc does not tell where this command is\n", stderr);
        return 1;
    }
    self[length] = '\0';
    memcpy(copy, self, (size_t)length + 1);
    const char *name = basename(self), *folder = dirname(copy);
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        run(folder, packages[i], name, argv);
    fprintf(stderr,
            "%s: the Python package srcfind " VERSION
            " is not installed beside %s: install the wheel again\n",
            name, folder);
    return 1;
}
