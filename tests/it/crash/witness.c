/* Preloaded between a program and its C library. Records, in order, in the file named by WITNESS: writes and syncs of
   files, the request, its answer, and what the installation reports. Each record is one line. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int request = -1;

static void note(const char *what, int fd) {
    static __thread int inside;
    const char *witness = getenv("WITNESS");
    if (inside || !witness) return;
    inside = 1;
    char link[64], path[4096] = "", line[4200];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) path[length] = 0;
    const char *slash = strrchr(path, '/');
    what = strcspn(what, "\n") < strlen(what) ? strtok(strdupa(what), "\n") : what;
    int size = snprintf(line, sizeof line, "%s|%s\n", what, slash ? slash + 1 : path);
    int log = syscall(SYS_openat, AT_FDCWD, witness, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (log >= 0) {
        syscall(SYS_write, log, line, size);
        syscall(SYS_close, log);
    }
    inside = 0;
}

static void out(int fd, const void *bytes, size_t size) {
    if (size >= 5 && !memcmp(bytes, "POST ", 5)) {
        request = fd;
        note("send", fd);
    } else if (fd == 1) {
        const char *said = memchr(bytes, '@', size);
        if (said && size - (said - (const char *)bytes) > 7) {
            char what[8] = "";
            memcpy(what, said + 1, 7);
            note(what, -1);
        }
    } else {
        note("write", fd);
    }
}

static void in(int fd, ssize_t size) {
    if (fd == request && size > 0) note("receive", fd);
}

#define REAL(type, name, ...)                      \
    static type (*real)(__VA_ARGS__);              \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int fsync(int fd) {
    REAL(int, "fsync", int);
    int result = real(fd);
    note(result ? "failed" : "sync", fd);
    return result;
}
int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    int result = real(fd);
    note(result ? "failed" : "sync", fd);
    return result;
}
ssize_t write(int fd, const void *bytes, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    out(fd, bytes, size);
    return real(fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    out(fd, bytes, size);
    return real(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    out(fd, bytes, size);
    return real(fd, bytes, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    if (count) out(fd, parts->iov_base, parts->iov_len);
    return real(fd, parts, count);
}
ssize_t send(int fd, const void *bytes, size_t size, int flags) {
    REAL(ssize_t, "send", int, const void *, size_t, int);
    out(fd, bytes, size);
    return real(fd, bytes, size, flags);
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    REAL(ssize_t, "sendmsg", int, const struct msghdr *, int);
    if (message->msg_iovlen) out(fd, message->msg_iov->iov_base, message->msg_iov->iov_len);
    return real(fd, message, flags);
}
ssize_t recv(int fd, void *bytes, size_t size, int flags) {
    REAL(ssize_t, "recv", int, void *, size_t, int);
    ssize_t result = real(fd, bytes, size, flags);
    in(fd, result);
    return result;
}
ssize_t recvfrom(int fd, void *bytes, size_t size, int flags, struct sockaddr *from, socklen_t *length) {
    REAL(ssize_t, "recvfrom", int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t result = real(fd, bytes, size, flags, from, length);
    in(fd, result);
    return result;
}
ssize_t read(int fd, void *bytes, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    ssize_t result = real(fd, bytes, size);
    in(fd, result);
    return result;
}
