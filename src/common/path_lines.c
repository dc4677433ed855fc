#include "common/path_lines.h"

enum path_line path_line_read(FILE *stream, int end, char *path, int size) {
    int length = 0, c;
    while ((c = getc(stream)) != EOF && c != end) {
        if (c == '\0')
            return PATH_LINE_WITH_NUL;
        if (length == size - 1)
            return PATH_LINE_TOO_LONG;
        path[length++] = (char)c;
    }
    if (end == '\n' && length > 0 && path[length - 1] == '\r')
        length--;
    path[length] = '\0';
    return c == EOF && length == 0 ? PATH_LINE_NONE : PATH_LINE_THERE;
}
