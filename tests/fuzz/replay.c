/* Gives a target every file of the directories that are named: what a fuzzer once found stays
 * mended. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "target.h"

/* False where a file cannot be read. */
static bool replay_file(const char *path) {
    struct stat info;
    FILE *stream = fopen(path, "rb");
    if (!stream || fstat(fileno(stream), &info) != 0)
        return false;
    uint8_t *data = malloc((size_t)info.st_size + 1);
    const bool ok = data && fread(data, 1, (size_t)info.st_size, stream) == (size_t)info.st_size;
    fclose(stream);
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)info.st_size);
    free(data);
    return ok;
}

/* How many files there were; -1 where one cannot be read. */
static int replay_directory(const char *path) {
    DIR *directory = opendir(path);
    int n = 0;
    if (!directory)
        return -1;
    for (struct dirent *entry; n >= 0 && (entry = readdir(directory));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        n = replay_file(name) ? n + 1 : -1;
    }
    closedir(directory);
    return n;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const int n = replay_directory(argv[i]);
        printf("%s: %d inputs\n", argv[i], n);
        if (n < 1)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
