/* The sources of an island: Gaussians that belong together, and what could not be fitted. */
#ifndef GROUPED_H
#define GROUPED_H

#include "measure/composite.h"
#include "measure/group.h"

/* A source. Its Gaussians are members[first] and so on of grouped_sources, the brightest first. */
struct grouped_source {
    int64_t first, n;            /* n 1 if it is not fitted, too */
    double peak;                 /* by which sources are sorted, the highest first */
    struct composite *composite; /* NULL if it is one Gaussian or not fitted */
};

struct grouped_sources {
    struct grouped_source *source;
    int64_t n;
    int32_t *members; /* numbers in `fitted` */
};

/* Groups the results of a fit, by the tolerance of group.h; drop: tolerance x island threshold x
 * rms. noise: see composite.h. Replaces each number in fitted->source_of by the number of the
 * grouped source. */
bool grouped_sources_make(const struct island_fit *fit, const struct fit_frame *frame,
                          const struct correlation *noise, const struct fit_job *jobs,
                          struct fitted_sources *fitted, const struct group_rule *rule,
                          struct arena *arena, struct grouped_sources *grouped);

#endif
