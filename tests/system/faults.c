/* A command whose luck runs out: srcfind, linked so that calls which may fail come here first, and
 * one of them fails.
 *
 * FAULT         KIND:N   the N-th call of a kind (the names below) fails
 *               change:N somebody writes to the image before its N-th read
 *               shrink:N, grow:N  somebody makes it a third as long, or twice
 *               signal:N the signal FAULT_SIGNAL comes before the N-th call, of any kind but read
 *                        and memory
 *               signals  every second read is interrupted
 *               shorts   every second read is not given all
 *               where:KIND  nothing fails; FAULT_MARK gets MOST_CALLERS addresses for each call
 *                        of a kind, those of its callers; in the program, from its beginning
 * FAULT_MARK    a file that is made when it does
 *
 * Allocations are those of nearly all libraries, too, unless a sanitizer watches over them:
 * then they are srcfind's own. */
#define _GNU_SOURCE /* asprintf, dl_iterate_phdr */
#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

enum { MOST_CALLERS = 32 };

static _Thread_local bool lucky; /* nothing fails */

/* Appends where a call comes from. What looks for that may allocate. */
static void note_place(const char *path) {
    extern const char __executable_start, etext; /* of the linker */
    const uintptr_t from = (uintptr_t)&__executable_start, to = (uintptr_t)&etext;
    uintptr_t callers[MOST_CALLERS] = {0};
    lucky = true;
    const int n = backtrace((void **)callers, MOST_CALLERS);
    for (int i = 0; i < n; i++)
        callers[i] -= callers[i] >= from && callers[i] < to ? from : 0;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (write(file, callers, sizeof callers) != sizeof callers)
        abort();
    close(file);
    lucky = false;
}

/* Whether this call of a kind is the one. Nothing in here allocates, if one is to fail. */
static bool fails(const char *kind, int code) {
    static atomic_llong calls;
    const char *fault = getenv("FAULT"), *mark = getenv("FAULT_MARK");
    const size_t length = strlen(kind);
    if (lucky || !fault)
        return false;
    if (strncmp(fault, "where:", 6) == 0 && strcmp(fault + 6, kind) == 0)
        note_place(mark);
    if (strncmp(fault, kind, length) != 0 || fault[length] != ':' ||
        atomic_fetch_add(&calls, 1) + 1 != atoll(fault + length + 1))
        return false;
    if (mark)
        close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    errno = code;
    return true;
}

/* As fails; a signal may come first, unless the call is of a kind that there are very many of. */
static bool call_fails(const char *kind, int code) {
    const char *number = getenv("FAULT_SIGNAL");
    const bool many = strcmp(kind, "memory") == 0 || strcmp(kind, "read") == 0;
    if (number && !many && fails("signal", errno))
        raise(atoi(number));
    return fails(kind, code);
}

/* Whether something is to happen to every second call. */
static bool is_every_second(const char *fault) {
    static atomic_uint calls;
    const char *given = getenv("FAULT");
    return given && strcmp(given, fault) == 0 && atomic_fetch_add(&calls, 1) % 2 == 1;
}

/* As another process would: the file is open only for reading here. */
static void change_length(int file, off_t times, off_t parts) {
    char path[40];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (fstat(file, &facts) != 0 || truncate(path, facts.st_size * times / parts) != 0)
        abort();
}

ssize_t __real_pread64(int file, void *buffer, size_t count, off_t offset);
ssize_t __wrap_pread64(int file, void *buffer, size_t count, off_t offset);
ssize_t __wrap_pread64(int file, void *buffer, size_t count, off_t offset) {
    if (is_every_second("signals")) {
        errno = EINTR;
        return -1;
    }
    if (is_every_second("shorts"))
        count = (count + 2) / 3;
    if (fails("change", 0)) /* at a time that file systems can tell from the one before */
        futimens(file, (const struct timespec[]){{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}});
    if (fails("shrink", 0))
        change_length(file, 1, 3);
    if (fails("grow", 0))
        change_length(file, 2, 1);
    return fails("read", EIO) ? -1 : __real_pread64(file, buffer, count, offset);
}

/* A twin of a function that fails with a value and errno. */
#define WRAP(type, name, kind, failure, code, parameters, arguments)                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        return call_fails(kind, code) ? (failure) : __real_##name arguments;                       \
    }

WRAP(ssize_t, pwrite64, "write", -1, ENOSPC, (int f, const void *b, size_t n, off_t o),
     (f, b, n, o))
WRAP(int, open64, "open", -1, EMFILE, (const char *p, int f, mode_t m), (p, f, m))
WRAP(FILE *, fopen64, "open", NULL, EMFILE, (const char *p, const char *m), (p, m))
WRAP(FILE *, fdopen, "open", NULL, ENOMEM, (int d, const char *m), (d, m))
WRAP(int, stat64, "stat", -1, EACCES, (const char *p, struct stat *s), (p, s))
WRAP(int, rename, "rename", -1, EXDEV, (const char *a, const char *b), (a, b))
WRAP(int, mkdir, "mkdir", -1, EROFS, (const char *p, mode_t m), (p, m))
WRAP(int, thrd_create, "thread", thrd_nomem, ENOMEM, (thrd_t * t, thrd_start_t s, void *a),
     (t, s, a))
WRAP(int, mtx_init, "lock", thrd_error, ENOMEM, (mtx_t * m, int type), (m, type))
WRAP(int, cnd_init, "lock", thrd_error, ENOMEM, (cnd_t * c), (c))
WRAP(locale_t, newlocale, "locale", (locale_t)0, ENOMEM, (int m, const char *n, locale_t b),
     (m, n, b))
WRAP(DIR *, opendir, "open", NULL, EMFILE, (const char *p), (p))
WRAP(char *, strndup, "memory", NULL, ENOMEM, (const char *s, size_t n), (s, n))
WRAP(char *, strdup, "memory", NULL, ENOMEM, (const char *s), (s))
WRAP(FILE *, open_memstream, "memory", NULL, ENOMEM, (char **t, size_t *n), (t, n))
WRAP(FILE *, fopencookie, "memory", NULL, ENOMEM, (void *c, const char *m, cookie_io_functions_t f),
     (c, m, f))

/* A descriptor is copied; nothing else that fcntl does can fail. */
int __real_fcntl64(int file, int command, ...);
int __wrap_fcntl64(int file, int command, ...);
int __wrap_fcntl64(int file, int command, ...) {
    va_list args;
    va_start(args, command);
    const int argument = va_arg(args, int);
    va_end(args);
    if (command == F_DUPFD_CLOEXEC && call_fails("open", EMFILE))
        return -1;
    return __real_fcntl64(file, command, argument);
}

static void find_libraries(void);

/* What a library does when it is loaded is its own affair. */
void *__real_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags) {
    if (fails("load", ENOMEM))
        return NULL;
    lucky = true;
    void *handle = __real_dlopen(name, flags);
    find_libraries();
    lucky = false;
    return handle;
}

/* What is written fails late, as on a full disk. */
int __real_fflush(FILE *stream);
int __wrap_fflush(FILE *stream);
int __wrap_fflush(FILE *stream) {
    const int result = __real_fflush(stream);
    return call_fails("flush", ENOSPC) ? EOF : result;
}

int __real_fclose(FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fclose(FILE *stream) {
    const int result = __real_fclose(stream);
    return call_fails("close", ENOSPC) ? EOF : result;
}

static int print_new(char **text, const char *format, va_list args) {
    if (!fails("memory", ENOMEM))
        return vasprintf(text, format, args);
    *text = NULL;
    return -1;
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = print_new(text, format, args);
    va_end(args);
    return length;
}

int __wrap___asprintf_chk(char **text, int flag, const char *format, ...);
int __wrap___asprintf_chk(char **text, int flag, const char *format, ...) {
    va_list args;
    (void)flag;
    va_start(args, format);
    const int length = print_new(text, format, args);
    va_end(args);
    return length;
}

WRAP(void *, aligned_alloc, "memory", NULL, ENOMEM, (size_t alignment, size_t n), (alignment, n))

#ifdef SANITIZED
static void find_libraries(void) {
}
WRAP(void *, malloc, "memory", NULL, ENOMEM, (size_t n), (n))
WRAP(void *, calloc, "memory", NULL, ENOMEM, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, "memory", NULL, ENOMEM, (void *p, size_t n), (p, n))
#else
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t m);
void *__libc_realloc(void *p, size_t n);

/* Who always gets memory: WCSLIB's parser, the loader of libraries, and what draws texts for cairo
 * (with what the C library allocates for it), which end the process where they do not. */
static const char *const lucky_libraries[] = {"/libwcs.so",     "/ld-linux",    "/libcairo.so",
                                              "/libfontconfig", "/libfreetype", "/libexpat",
                                              "/libpixman",     "/libc.so"};
enum { LIBRARIES = sizeof lucky_libraries / sizeof *lucky_libraries, C_LIBRARY = LIBRARIES - 1 };
static bool cairo_is_loaded;
static uintptr_t library_from[LIBRARIES], library_to[LIBRARIES];

static int look_for_libraries(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size, (void)context;
    cairo_is_loaded = cairo_is_loaded || strstr(library->dlpi_name, "/libcairo.so");
    for (int i = 0; i < LIBRARIES; i++) {
        if (!strstr(library->dlpi_name, lucky_libraries[i]))
            continue;
        library_from[i] = library->dlpi_addr;
        for (int j = 0; j < library->dlpi_phnum; j++) {
            const uintptr_t end =
                library->dlpi_addr + library->dlpi_phdr[j].p_vaddr + library->dlpi_phdr[j].p_memsz;
            if (library->dlpi_phdr[j].p_type == PT_LOAD && end > library_to[i])
                library_to[i] = end;
        }
    }
    return 0;
}

__attribute__((constructor)) static void find_libraries(void) {
    dl_iterate_phdr(look_for_libraries, NULL);
}

static bool memory_fails(const void *caller) {
    const uintptr_t at = (uintptr_t)caller;
    for (int i = 0; i < (cairo_is_loaded ? LIBRARIES : C_LIBRARY); i++)
        if (at >= library_from[i] && at < library_to[i])
            return false;
    return fails("memory", ENOMEM);
}

#define MEMORY_FAILS memory_fails(__builtin_return_address(0))

__attribute__((visibility("default"))) void *malloc(size_t n) {
    return MEMORY_FAILS ? NULL : __libc_malloc(n);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t m) {
    return MEMORY_FAILS ? NULL : __libc_calloc(n, m);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t n) {
    return MEMORY_FAILS ? NULL : __libc_realloc(p, n);
}
#endif
