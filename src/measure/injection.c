#include "measure/injection.h"

#include <stdlib.h>

void injections_clear(struct injections *list) {
    free(list->all);
    free(list->entry_id);
    free(list->first);
    *list = (struct injections){0};
}
