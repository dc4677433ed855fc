/* A stream that compresses what is written to it. */
#ifndef GZIP_STREAM_H
#define GZIP_STREAM_H

#include <stdio.h>

/* A stream whose text goes to `to` in gzip's format, without time and name in its header, so that
 * the same text gives the same bytes. fclose ends the compressed data, and returns EOF, with errno,
 * if that failed; `to` stays open. NULL, with errno, where memory ran out. */
FILE *gzip_stream_open(FILE *to);

#endif
