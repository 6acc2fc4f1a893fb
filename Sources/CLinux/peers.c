#define _GNU_SOURCE
#include "peers.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int result(int value) { return value < 0 ? -errno : value; }

static int socket_address(const char *path, struct sockaddr_un *address) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

// Makes the name with exactly `mode`. The kernel takes the mode from the socket's own inode, less the umask. All threads share
// the umask, but a child of vfork has its own one and binds the same socket. The mode is never set by path, because by then the
// name may mean something else.
static int bind_with_mode(int descriptor, const struct sockaddr_un *address, uint32_t mode) {
    if (fchmod(descriptor, mode) < 0) return -errno;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    volatile int error = 0;
    pid_t child = vfork();
    if (child == 0) {
        umask(0);
        if (bind(descriptor, (const struct sockaddr *)address, sizeof *address) < 0) error = -errno;
        _exit(0);
    }
    if (child < 0) error = -errno;
    // Other code may have reaped it; its result is known already.
    else while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int clinux_unix_listen(const char *path, uint32_t mode, int backlog) {
    struct sockaddr_un address;
    int error = socket_address(path, &address);
    if (error) return error;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    error = bind_with_mode(descriptor, &address, mode);
    if (!error && listen(descriptor, backlog) < 0) {
        error = -errno;
        unlink(path);
    }
    if (error) {
        close(descriptor);
        return error;
    }
    return descriptor;
}

int clinux_unix_accept(int listener) {
    int descriptor;
    do descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    while (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED));
    return result(descriptor);
}

int clinux_unix_connect(const char *path, int64_t timeout_seconds) {
    struct sockaddr_un address;
    int error = socket_address(path, &address);
    if (error) return error;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    struct timeval timeout = {.tv_sec = timeout_seconds};
    if (setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) < 0 ||
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) < 0)
        error = -errno;
    while (!error && connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0)
        if (errno != EINTR) error = -errno;
    if (error) {
        close(descriptor);
        return error;
    }
    return descriptor;
}

int clinux_datagram_create(void) {
    return result(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int clinux_datagram_connect(int descriptor, const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int is_abstract = name[0] == '@';
    // A path ends with a NUL; an abstract address begins with one, and every byte of it counts.
    size_t length = strlen(name) + !is_abstract;
    if (!is_abstract && name[0] != '/') return -EAFNOSUPPORT;
    if (length > sizeof address.sun_path) return -ENAMETOOLONG;
    memcpy(address.sun_path, name, length);
    if (is_abstract) address.sun_path[0] = '\0';
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return result(connect(descriptor, (struct sockaddr *)&address, size));
}

int clinux_datagram_send(int descriptor, const void *bytes, size_t count, int passed) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof passed)];
    } control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof passed), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    ssize_t sent;
    do sent = sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int clinux_socket_kind(int descriptor, int *is_listening, int *is_on_loopback) {
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    int type = 0, accepts = 0;
    socklen_t type_length = sizeof type, accepts_length = sizeof accepts;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return -errno;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &type_length) < 0 ||
        getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &accepts_length) < 0)
        return -errno;
    *is_listening = type == SOCK_STREAM && accepts;
    *is_on_loopback = 0;
    if (address.ss_family == AF_UNIX) return CLINUX_SOCKET_UNIX;
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)&address;
        *is_on_loopback = ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        return CLINUX_SOCKET_INTERNET;
    }
    if (address.ss_family == AF_INET6) {
        *is_on_loopback = IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&address)->sin6_addr) != 0;
        return CLINUX_SOCKET_INTERNET;
    }
    return CLINUX_SOCKET_OTHER;
}

int clinux_socket_path(int descriptor, char *path, size_t size) {
    struct sockaddr_un address = {0};
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) < 0) return -errno;
    if (address.sun_family != AF_UNIX || length > sizeof address) return 0;
    // The longest path has no NUL. An abstract address begins with one.
    size_t count = strnlen(address.sun_path, sizeof address.sun_path);
    if (count >= size) return 0;
    memcpy(path, address.sun_path, count);
    path[count] = 0;
    return (int)count;
}

int clinux_socket_permit(const char *path, uint64_t device, uint64_t inode, uint32_t mode, int64_t group) {
    int descriptor = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    // A descriptor of this kind has its mode changed only by this name (fchmodat2 came with Linux 6.6).
    char name[sizeof "/proc/self/fd/-2147483648"];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    struct stat status;
    int error = fstat(descriptor, &status) < 0 ? -errno : 0;
    if (!error && (!S_ISSOCK(status.st_mode) || status.st_dev != device || status.st_ino != inode)) error = -ESTALE;
    // The new group never gets the rights of the old one, or the reverse.
    if (!error && (chmod(name, mode & S_IRWXU) < 0 ||
                   (group >= 0 && fchownat(descriptor, "", (uid_t)-1, (gid_t)group, AT_EMPTY_PATH) < 0) ||
                   chmod(name, mode) < 0))
        error = -errno;
    close(descriptor);
    return error;
}

_Static_assert(sizeof((struct sockaddr_un *)0)->sun_path == CLINUX_UNIX_ADDRESS, "Peer.address");

int clinux_peer_address(int descriptor, void *address) {
    struct sockaddr_un peer;
    socklen_t length = sizeof peer;
    if (getpeername(descriptor, (struct sockaddr *)&peer, &length) < 0) return -errno;
    if (peer.sun_family != AF_UNIX) return -EAFNOSUPPORT;
    size_t before = offsetof(struct sockaddr_un, sun_path);
    if (length <= before) return 0;
    // The kernel says one more than fits for a path that fills all of it.
    size_t count = length - before < sizeof peer.sun_path ? length - before : sizeof peer.sun_path;
    memcpy(address, peer.sun_path, count);
    return (int)count;
}

int clinux_peer_identity(int descriptor, uint32_t *user, uint32_t *group, int32_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -errno;
    *user = peer.uid;
    *group = peer.gid;
    *process = peer.pid;
    return 0;
}

int clinux_peer_groups(int descriptor, uint32_t *groups, int capacity) {
    socklen_t length = (socklen_t)((size_t)capacity * sizeof *groups);
    // With ERANGE the kernel has stored the length that it needs.
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0 && errno != ERANGE) return -errno;
    return (int)(length / sizeof *groups);
}
