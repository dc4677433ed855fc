/* The order of the rows of a merged catalogue, where it is not that of the images. */
#ifndef MERGED_ORDER_H
#define MERGED_ORDER_H

#include "merge/merged_rows.h"

/* Makes m->order, of the m->n rows that stay. False with errno. */
bool merged_order_make(struct merged_rows *m, int sort);

#endif
