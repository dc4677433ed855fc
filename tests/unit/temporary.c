#include "temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool temporary_directory(char path[TEMPORARY_PATH]) {
    const char *above = getenv("TMPDIR");
    for (int i = 0; i < 1000; i++) { /* an older process of this number may have left one */
        snprintf(path, TEMPORARY_PATH, "%.200s/srcfind-test-%ld-%d", above ? above : "/tmp",
                 (long)getpid(), i);
        if (mkdir(path, 0700) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}
