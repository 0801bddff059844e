/* Fails chosen calls of a daemon while the file exists that LOCI_FAULT_FLAG names.
 * LOCI_FAULT: operation, errno, file, number, mode. Operations: W a write fails, H half of a write is done, S a sync fails,
 * A a connection is not accepted. The file is the end of a path, or a part of it after "*". Calls are counted from 0; the mode is "once" or "sticky".
 * Each failed call adds a byte to the file named LOCI_FAULT_FLAG with ".hit". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long calls = 0;

static int is_target(int fd, const char *target) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (target[0] == '*') return strstr(path, target + 1) != 0;
    size_t tail = strlen(target);
    return (size_t)length >= tail && strcmp(path + length - tail, target) == 0;
}

/* Returns the error of this call, or 0. */
static int fault(char operation, int fd) {
    const char *plan = getenv("LOCI_FAULT"), *flag = getenv("LOCI_FAULT_FLAG");
    char wanted, target[256], mode[16];
    int error;
    long number;
    if (!plan || !flag || sscanf(plan, "%c %d %255s %ld %15s", &wanted, &error, target, &number, mode) != 5) return 0;
    if (wanted != operation || access(flag, F_OK) != 0 || !is_target(fd, target)) return 0;
    long call = atomic_fetch_add(&calls, 1);
    if (call != number && !(strcmp(mode, "sticky") == 0 && call > number)) return 0;
    char hit[4096];
    snprintf(hit, sizeof hit, "%s.hit", flag);
    int counted = syscall(SYS_openat, AT_FDCWD, hit, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (counted >= 0) {
        if (syscall(SYS_write, counted, ".", 1) < 0) abort();
        syscall(SYS_close, counted);
    }
    return error;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t length) {
    REAL(write);
    int error = fault('W', fd);
    if (error) return errno = error, -1;
    return real(fd, data, length > 1 && fault('H', fd) ? length / 2 : length);
}

#define PWRITE(name) \
    ssize_t name(int fd, const void *data, size_t length, off_t offset) { \
        REAL(name); \
        int error = fault('W', fd); \
        if (error) return errno = error, -1; \
        return real(fd, data, length > 1 && fault('H', fd) ? length / 2 : length, offset); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define SYNC(name) \
    int name(int fd) { \
        REAL(name); \
        int error = fault('S', fd); \
        if (error) return errno = error, -1; \
        return real(fd); \
    }
SYNC(fsync)
SYNC(fdatasync)

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    REAL(accept4);
    int error = fault('A', fd);
    if (error) return errno = error, -1;
    return real(fd, address, length, flags);
}
