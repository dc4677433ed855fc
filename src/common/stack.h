/* The stack of the process, after whose limit the C library sizes those of threads, too. */
#ifndef STACK_H
#define STACK_H

#include "common/error.h"

/* An error if the limit is below what a run may need, which would end in a crash. */
enum srcfind_status stack_check(struct error *error);

#endif
