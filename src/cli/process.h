/* What a process does before all else. */
#ifndef PROCESS_H
#define PROCESS_H

/* Opens standard streams that are closed, and sets how memory is kept; a file that grows too large
 * becomes an error of write(). */
void process_start(void);

#endif
