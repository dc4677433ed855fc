/* The example of README.md, built against the installed library. */
#include <srcfind.h>

int main(int argc, char **argv) {
    struct srcfind_options options = srcfind_default_options();
    struct srcfind *finder;
    struct srcfind_catalogue *catalogue = NULL;
    int status = 1;
    if (argc == 2 && srcfind_create(&options, &finder) == SRCFIND_OK &&
        srcfind_find_file(finder, argv[1], &catalogue) == SRCFIND_OK) {
        printf("%lld sources\n", (long long)catalogue->n_sources);
        status = 0;
    } else if (argc == 2) {
        fprintf(stderr, "%s\n", srcfind_message(finder));
    }
    srcfind_catalogue_destroy(catalogue);
    if (argc == 2)
        srcfind_destroy(finder);
    return status;
}
