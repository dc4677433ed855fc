/* What libFuzzer, or replay.c, calls with each input. It ends the process where a promise is
 * broken.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
