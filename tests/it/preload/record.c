/* Records what a daemon does with the files of its store, in order, into the file that LOCI_RECORD names.
 * A record: operation (W write, T truncate, S sync, U unlink), file (see kind_of), offset (8 bytes), length (4 bytes), data.
 * The id of the boot is read from the file that LOCI_BOOT_ID names, so that another process takes the records for those of an earlier boot. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static int ends_with(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcmp(path + length - tail, end) == 0;
}

static int kind_of_path(const char *path) {
    static const char *const ends[] = {"/memory.db", "/memory.db-wal", "/memory.db-identity", "/memory.db-sums", "/memory.db-journal"};
    for (int kind = 0; kind < 5; kind++)
        if (ends_with(path, ends[kind])) return kind + 1;
    return 0;
}

static int kind_of(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return kind_of_path(path);
}

static void record(char operation, int kind, uint64_t offset, const void *data, uint32_t length) {
    static int log = -1;
    if (log < 0) {
        const char *path = getenv("LOCI_RECORD");
        if (!path) return;
        log = syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    }
    unsigned char head[14] = {operation, kind};
    memcpy(head + 2, &offset, 8);
    memcpy(head + 10, &length, 4);
    struct iovec parts[2] = {{head, sizeof head}, {(void *)data, data ? length : 0}};
    if (syscall(SYS_writev, log, parts, 2) < 0) abort();
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        int mode = va_arg(rest, int); \
        va_end(rest); \
        REAL(name); \
        const char *boot = getenv("LOCI_BOOT_ID"); \
        if (boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) path = boot; \
        int kind = flags & O_TRUNC ? kind_of_path(path) : 0; \
        pthread_mutex_lock(&order); \
        int fd = real(path, flags, mode); \
        if (fd >= 0 && kind) record('T', kind, 0, 0, 0); \
        pthread_mutex_unlock(&order); \
        return fd; \
    }
OPEN(open)
OPEN(open64)

ssize_t write(int fd, const void *data, size_t length) {
    REAL(write);
    int kind = kind_of(fd);
    if (!kind) return real(fd, data, length);
    pthread_mutex_lock(&order);
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t done = real(fd, data, length);
    if (done > 0) record('W', kind, offset, data, done);
    pthread_mutex_unlock(&order);
    return done;
}

#define PWRITE(name) \
    ssize_t name(int fd, const void *data, size_t length, off_t offset) { \
        REAL(name); \
        int kind = kind_of(fd); \
        if (!kind) return real(fd, data, length, offset); \
        pthread_mutex_lock(&order); \
        ssize_t done = real(fd, data, length, offset); \
        if (done > 0) record('W', kind, offset, data, done); \
        pthread_mutex_unlock(&order); \
        return done; \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define TRUNCATE(name) \
    int name(int fd, off_t length) { \
        REAL(name); \
        int kind = kind_of(fd); \
        if (!kind) return real(fd, length); \
        pthread_mutex_lock(&order); \
        int failed = real(fd, length); \
        if (!failed) record('T', kind, length, 0, 0); \
        pthread_mutex_unlock(&order); \
        return failed; \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name) \
    int name(int fd) { \
        REAL(name); \
        int kind = kind_of(fd); \
        if (!kind) return real(fd); \
        pthread_mutex_lock(&order); \
        int failed = real(fd); \
        if (!failed) record('S', kind, 0, 0, 0); \
        pthread_mutex_unlock(&order); \
        return failed; \
    }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    REAL(unlink);
    int kind = kind_of_path(path);
    pthread_mutex_lock(&order);
    int failed = real(path);
    if (!failed && kind) record('U', kind, 0, 0, 0);
    pthread_mutex_unlock(&order);
    return failed;
}
