/* What a process does before all else. */
#ifndef PROCESS_H
#define PROCESS_H

/* Opens standard streams that are closed, checks that the stack is large enough, and sets how
 * memory is kept; a file that grows too large becomes an error of write(). Returns the exit status;
 * on an error the reason is on standard error. */
int process_start(void);

/* Keeps the memory of an image, but for arrays of more than 32 MiB, for the next one: the kernel
 * need not clear its pages again, which would be a twentieth of the CPU time of a search. An image
 * alone then takes more memory. Nothing fails where this is not possible. */
void process_keep_memory(void);

#endif
