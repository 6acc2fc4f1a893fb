#define _GNU_SOURCE
#include "children.h"
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
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

// What the child does between vfork and exec, in its parent's memory: system calls only. Returns when one failed. Signals
// stay blocked, as the supervisor wants them.
static void become(char *const arguments[], char *const environment[], int input, int output, int control) {
    clinux_signals_default();
    if (setsid() < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return;
    if (dup2(control, CLINUX_SUPERVISOR_CONTROL) < 0 || fcntl(CLINUX_SUPERVISOR_CONTROL, F_SETFD, 0) < 0) return;
    if (close_range(CLINUX_SUPERVISOR_CONTROL + 1, ~0U, 0) < 0) return;
    // The file that runs, also where its name stands for another one by now; by its name where /proc is missing.
    execve("/proc/self/exe", arguments, environment);
    const char *name = (const char *)getauxval(AT_EXECFN);
    if (errno == ENOENT && name) execve(name, arguments, environment);
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

int clinux_child_start(char *const arguments[], char *const environment[], int input, int output, int control,
                       int32_t *process, int *pidfd) {
    input = input < 0 ? above_standard(open("/dev/null", O_RDONLY | O_CLOEXEC)) : fcntl(input, F_DUPFD_CLOEXEC, 3);
    if (input < 0) return -errno;
    _Atomic int32_t *slot = reserve_slot();
    if (!slot) {
        close(input);
        return -EAGAIN;
    }
    // No handler may run in the child while it lives in this memory.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    volatile int failure = 0;
    pid_t child = vfork();
    if (child == 0) {
        atomic_store(slot, getpid());
        become(arguments, environment, input, output, control);
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
        kill(child, SIGKILL);
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

int clinux_child_report(int control, int *kind, int *value) {
    struct clinux_report report;
    ssize_t count = recv(control, &report, sizeof report, MSG_DONTWAIT);
    if (count != sizeof report) return -ENODATA;
    *kind = report.kind;
    *value = report.value;
    return 0;
}

// Whether it was an orphan, which nobody else takes the status of.
static bool reap_orphan(int32_t process) {
    siginfo_t info = {0};
    // Dead before the list is looked at: a child of ours has entered itself by then.
    if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return false;
    return !is_waited_for(process) && waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG) == 0;
}

void clinux_orphans_reap(void) {
    siginfo_t info;
    do {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return;
    } while (reap_orphan(info.si_pid));
    // One that somebody else is about to take the status of hides the others.
    int32_t listed[CLINUX_CHILDREN_LISTED];
    int count = clinux_children_list(listed);
    for (int index = 0; index < count; index++) reap_orphan(listed[index]);
}
