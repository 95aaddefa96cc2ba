/* Calls of the file system that fail, or at which the process is killed: preloaded by `python -m fuzz.crash`.

   faults_arm(folder, at, mode) counts the calls that touch files below `folder` from then on. At the call number
   `at` the process is killed, in the middle of the write if it is one (mode 0), or the call fails with "input/output
   error" (mode 1), or all writing calls from it on fail with "no space left" (mode 2). at = 0 only counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL, FAIL, FULL };
static char folder[4096];
static size_t length;
static atomic_long count;
static long strike_at;
static int mode;

void faults_arm(const char* where, long at, int how) {
    snprintf(folder, sizeof folder, "%s", where);
    length = strlen(folder), count = 0, strike_at = at, mode = how;
}
long faults_count(void) { return count; }

static int below(const char* path) { return length && path && strncmp(path, folder, length) == 0; }

static int below_fd(int fd) {
    char link[64], path[4096];
    if (!length) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Whether the call that comes is to fail; errno is set. */
static int strikes(int writes, int* dies) {
    long now = atomic_fetch_add(&count, 1) + 1;
    *dies = 0;
    if (!strike_at || now < strike_at || (now > strike_at && mode != FULL)) return 0;
    if (mode == KILL) return *dies = 1;
    if (mode == FULL && !writes) return 0;
    errno = mode == FULL ? ENOSPC : EIO;
    return 1;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define GUARD(touches, writes) \
    int dies; \
    if ((touches) && strikes(writes, &dies)) { \
        if (dies) die(); \
        return -1; \
    }

ssize_t write(int fd, const void* data, size_t n) {
    REAL(write);
    int dies;
    if (below_fd(fd) && strikes(1, &dies)) {
        if (dies) real(fd, data, n / 2), die();
        return -1;
    }
    return real(fd, data, n);
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
    REAL(pwrite);
    int dies;
    if (below_fd(fd) && strikes(1, &dies)) {
        if (dies) real(fd, data, n / 2, at), die();
        return -1;
    }
    return real(fd, data, n, at);
}
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) {
    REAL(pwrite64);
    int dies;
    if (below_fd(fd) && strikes(1, &dies)) {
        if (dies) real(fd, data, n / 2, at), die();
        return -1;
    }
    return real(fd, data, n, at);
}
ssize_t read(int fd, void* data, size_t n) {
    REAL(read);
    GUARD(below_fd(fd), 0)
    return real(fd, data, n);
}
ssize_t pread(int fd, void* data, size_t n, off_t at) {
    REAL(pread);
    GUARD(below_fd(fd), 0)
    return real(fd, data, n, at);
}
ssize_t pread64(int fd, void* data, size_t n, off64_t at) {
    REAL(pread64);
    GUARD(below_fd(fd), 0)
    return real(fd, data, n, at);
}
int fsync(int fd) {
    REAL(fsync);
    GUARD(below_fd(fd), 1)
    return real(fd);
}
int fdatasync(int fd) {
    REAL(fdatasync);
    GUARD(below_fd(fd), 1)
    return real(fd);
}
int ftruncate(int fd, off_t n) {
    REAL(ftruncate);
    GUARD(below_fd(fd), 1)
    return real(fd, n);
}
int ftruncate64(int fd, off64_t n) {
    REAL(ftruncate64);
    GUARD(below_fd(fd), 1)
    return real(fd, n);
}
int rename(const char* from, const char* to) {
    REAL(rename);
    GUARD(below(to), 1)
    return real(from, to);
}
int unlink(const char* path) {
    REAL(unlink);
    GUARD(below(path), 0)
    return real(path);
}
int mkdir(const char* path, mode_t bits) {
    REAL(mkdir);
    GUARD(below(path), 1)
    return real(path, bits);
}

#define OPENED(call) \
    mode_t bits = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        bits = va_arg(more, mode_t); \
        va_end(more); \
    } \
    GUARD(below(path), flags & O_CREAT) \
    return call;

int open(const char* path, int flags, ...) {
    REAL(open);
    OPENED(real(path, flags, bits))
}
int open64(const char* path, int flags, ...) {
    REAL(open64);
    OPENED(real(path, flags, bits))
}
int openat(int where, const char* path, int flags, ...) {
    REAL(openat);
    OPENED(real(where, path, flags, bits))
}
int openat64(int where, const char* path, int flags, ...) {
    REAL(openat64);
    OPENED(real(where, path, flags, bits))
}
