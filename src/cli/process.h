/* What a process does before all else. */
#ifndef PROCESS_H
#define PROCESS_H

/* Opens standard streams that are closed, checks that the stack is large enough, and sets how
 * memory is kept; a file that grows too large becomes an error of write(). Returns the exit status;
 * on an error the reason is on standard error. */
int process_start(void);

/* Says that images will be searched one after another: the memory of one, but for arrays of more
 * than 32 MiB, is kept for the next. The kernel need not clear its pages again, which would be a
 * twentieth of the CPU time of a search; but each search takes more memory than alone. Nothing
 * fails where this is not possible. */
void process_expect_images(void);

#endif
