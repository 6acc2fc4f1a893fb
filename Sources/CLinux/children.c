#define _GNU_SOURCE
#include "children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Who is waited for: 0 free, RESERVED about to start, else a process. The child enters itself before anything else, so
// that it is never seen dead and unknown.
enum { RESERVED = -1 };
static _Atomic int32_t children[CLINUX_CHILDREN_MOST];

static _Atomic int32_t *reserve_slot(void) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++) {
        int32_t expected = 0;
        if (atomic_compare_exchange_strong(&children[index], &expected, RESERVED)) return &children[index];
    }
    return NULL;
}

static bool is_waited_for(int32_t process) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++)
        if (atomic_load(&children[index]) == process) return true;
    return false;
}

void clinux_child_abandon(int32_t process) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++) {
        int32_t expected = process;
        if (atomic_compare_exchange_strong(&children[index], &expected, 0)) return;
    }
}

// A number that nobody else carries, below the limit this process has, so that it may be set. Drawn and not counted: an
// ancestor or a descendant of this process may mark its children in the same way. 0: the limit leaves no room.
static uint64_t next_mark(void) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_RTTIME, &limit);
    uint64_t most = limit.rlim_max > (UINT64_C(1) << 62) ? UINT64_C(1) << 62 : limit.rlim_max;
    uint64_t drawn;
    if (most < (UINT64_C(1) << 32) || getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) return 0;
    return most / 2 + drawn % (most / 2);
}

// What the child does between vfork and exec, in its parent's memory: system calls only. Returns when one failed.
static void become(char *const arguments[], char *const environment[], int input, int output, uint64_t mark) {
    struct sigaction plain = {.sa_handler = SIG_DFL};
    for (int signal = 1; signal < NSIG; signal++) sigaction(signal, &plain, NULL);
    struct rlimit limit = {mark, mark};
    if (mark && setrlimit(RLIMIT_RTTIME, &limit) < 0) return;
    if (setsid() < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return;
    if (close_range(3, ~0U, 0) < 0) return;
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) return;
    execve(arguments[0], arguments, environment);
}

// Descriptors that survive being moved to 0, 1 and 2 lie above them.
static int above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > 2) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

int clinux_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    ends[0] = above_standard(ends[0]);
    int error = ends[0] < 0 ? errno : 0;
    ends[1] = above_standard(ends[1]);
    if (ends[1] < 0) error = errno;
    if (!error && fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) error = errno;
    if (error) {
        if (ends[0] >= 0) close(ends[0]);
        if (ends[1] >= 0) close(ends[1]);
        return -error;
    }
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int clinux_stream_pair(int *one, int *other) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -errno;
    ends[0] = above_standard(ends[0]);
    int error = ends[0] < 0 ? errno : 0;
    ends[1] = above_standard(ends[1]);
    if (ends[1] < 0) error = errno;
    if (error) {
        if (ends[0] >= 0) close(ends[0]);
        if (ends[1] >= 0) close(ends[1]);
        return -error;
    }
    *one = ends[0];
    *other = ends[1];
    return 0;
}

int clinux_child_start(char *const arguments[], char *const environment[], int input, int output, int32_t *process,
                       int *pidfd, uint64_t *mark) {
    input = input < 0 ? above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC)) : fcntl(input, F_DUPFD_CLOEXEC, 3);
    if (input < 0) return -errno;
    _Atomic int32_t *slot = reserve_slot();
    if (!slot) {
        close(input);
        return -EAGAIN;
    }
    *mark = next_mark();
    // No handler may run in the child while it lives in this memory.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    volatile int failure = 0;
    pid_t child = vfork();
    if (child == 0) {
        atomic_store(slot, getpid());
        become(arguments, environment, input, output, *mark);
        failure = errno;
        _exit(127);
    }
    int error = child < 0 ? errno : failure;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(input);
    if (child >= 0 && !error) {
        *process = child;
        *pidfd = pidfd_open(child, 0);
        if (*pidfd >= 0) return 0;
        error = errno;
        kill(-child, SIGKILL);
    }
    if (child >= 0)
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    atomic_store(slot, 0);
    return -error;
}

int clinux_child_reap(int32_t process, int pidfd, int *signalled, int *status) {
    siginfo_t info = {0};
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0)
        if (errno != EINTR) return -errno;
    if (info.si_pid == 0) return -EAGAIN;
    clinux_child_abandon(process);
    *signalled = info.si_code != CLD_EXITED;
    *status = info.si_status;
    return 0;
}

int clinux_group_signal(int32_t process, int signal) { return kill(-process, signal) < 0 ? -errno : 0; }

// Reads /proc/PROCESS/NAME as a string; false when there is no such process any more.
static bool read_about(int32_t process, const char *name, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    ssize_t length = read(descriptor, text, size - 1);
    close(descriptor);
    if (length <= 0) return false;
    text[length] = 0;
    return true;
}

static bool carries(int32_t process, uint64_t mark) {
    char text[4096];
    if (!read_about(process, "limits", text, sizeof text)) return false;
    const char *line = strstr(text, "Max realtime timeout");
    unsigned long long hard;
    return line && sscanf(line, "Max realtime timeout %*s %llu", &hard) == 1 && hard == mark;
}

static int32_t parent_of(int32_t process) {
    char text[512];
    if (!read_about(process, "stat", text, sizeof text)) return 0;
    // The name in parentheses may hold anything, parentheses too.
    const char *after = strrchr(text, ')');
    int parent;
    return after && sscanf(after, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool descends_from(int32_t process, int32_t ancestor) {
    enum { DEEPEST = 4096 };
    for (int depth = 0; depth < DEEPEST && process > 0; depth++) {
        process = parent_of(process);
        if (process == ancestor) return true;
    }
    return false;
}

static bool has_ended(int pidfd) {
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    return poll(&ended, 1, 0) > 0;
}

// All processes in ascending order, a few at a time: who forks and ends while the list is walked is followed by a
// child of a higher number, which the walk comes to later. readdir(3) would read a thousand in advance.
struct walk {
    int descriptor, length, offset;
    _Alignas(struct dirent64) char entries[128];
};

static bool begin_walk(struct walk *walk) {
    *walk = (struct walk){.descriptor = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    return walk->descriptor >= 0;
}

// 0 at the end, where the walk is closed.
static int32_t next_process(struct walk *walk) {
    for (;;) {
        if (walk->offset == walk->length) {
            walk->length = (int)syscall(SYS_getdents64, walk->descriptor, walk->entries, sizeof walk->entries);
            walk->offset = 0;
        }
        if (walk->length <= 0) {
            close(walk->descriptor);
            return 0;
        }
        struct dirent64 *entry = (struct dirent64 *)(walk->entries + walk->offset);
        walk->offset += entry->d_reclen;
        long process = strtol(entry->d_name, NULL, 10);
        if (process > 0) return (int32_t)process;
    }
}

int clinux_marked_signal(uint64_t mark, int signal, int32_t *pidfds, int capacity) {
    struct walk walk;
    if (!mark || !begin_walk(&walk)) return 0;
    int count = 0;
    for (int32_t process; (process = next_process(&walk));) {
        if (!carries(process, mark)) continue;
        // Held first and looked at again, so that no stranger with the same number is signalled.
        int pidfd = pidfd_open(process, 0);
        if (pidfd < 0) continue;
        bool ours = carries(process, mark) && descends_from(process, getpid()) && !has_ended(pidfd);
        if (ours && signal) pidfd_send_signal(pidfd, signal, NULL, 0);
        if (ours && count < capacity) pidfds[count++] = pidfd;
        else close(pidfd);
    }
    return count;
}

void clinux_orphan_reap(int pidfd) {
    siginfo_t info = {0};
    // Dead before the list is looked at: a child of ours has entered itself by then.
    if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return;
    if (!is_waited_for(info.si_pid)) waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
}

void clinux_orphans_reap(void) {
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return;
    struct walk walk;
    if (!begin_walk(&walk)) return;
    for (int32_t process; (process = next_process(&walk));) {
        if (parent_of(process) != getpid()) continue;
        int pidfd = pidfd_open(process, 0);
        if (pidfd < 0) continue;
        clinux_orphan_reap(pidfd);
        close(pidfd);
    }
}
