/* What a process does before all else. */
#ifndef PROCESS_H
#define PROCESS_H

/* Opens standard streams that are closed, checks that the stack is large enough, and sets how
 * memory is kept; a file that grows too large becomes an error of write(). Returns the exit status;
 * on an error the reason is on standard error. */
int process_start(void);

#endif
