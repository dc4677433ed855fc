#include "options/path_list.h"

/* The character behind the first path: a comma, or the end of the list. */
static const char *end_of(const char *list) {
    while (*list && (*list != ',' || list[1] == ','))
        list += *list == ',' ? 2 : 1;
    return list;
}

int path_list_count(const char *list) {
    int n = 0;
    for (; *list; n++) {
        list = end_of(list);
        list += *list == ',';
    }
    return n;
}

const char *path_list_next(const char *list, char *path) {
    const char *end = end_of(list);
    while (list < end) {
        *path++ = *list;
        list += *list == ',' ? 2 : 1;
    }
    *path = '\0';
    return *end ? end + 1 : end;
}

bool path_list_is_valid(const char *list) {
    for (bool more = true; more; list++) {
        const char *end = end_of(list);
        if (end == list)
            return false;
        more = *end;
        list = end;
    }
    return true;
}
