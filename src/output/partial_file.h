/* A temporary file in the directory of a catalogue or map. The catalogue is written to it, and it
 * is then renamed. It is locked while a process writes, so that files of killed processes can be
 * recognised. */
#ifndef PARTIAL_FILE_H
#define PARTIAL_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct partial_file {
    char *path;
    FILE *stream;
    int lock; /* a descriptor */
};

/* Makes a temporary file in the directory of a path, with the permissions of an existing file of
 * that path. False with errno set on an error. On success, one of the next four calls must follow.
 */
bool partial_file_open(const char *path, struct partial_file *file);

/* Closes the file and renames it to the path. On an error it is removed; false with errno set. */
bool partial_file_finish(struct partial_file *file, const char *path);

/* Closes the stream and renames the file to the path, but keeps its descriptor with the lock.
 * Returns the descriptor, at the end of the file, to be closed; -1 with errno set on an error, and
 * the file is removed. */
int partial_file_keep(struct partial_file *file, const char *path);

/* Removes the file, but keeps it open, for reading, too. Returns its descriptor, to be closed; -1
 * with errno set on an error. */
int partial_file_forget(struct partial_file *file);

/* Closes and removes the file. */
void partial_file_discard(struct partial_file *file);

/* Removes temporary files of killed processes from the directory of a path: files that no process
 * has locked, and files older than a day, since some file systems do not show locks of other
 * machines. */
void partial_file_remove_abandoned(const char *path);

#endif
