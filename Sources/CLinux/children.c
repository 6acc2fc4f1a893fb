#define _GNU_SOURCE
#include "children.h"
#include "events.h"
#include "termination_timeouts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Supervisors that are waited for: 0 free, RESERVED about to start, else a process. The child enters itself before anything
// else, so that it is never seen dead and unknown.
enum { RESERVED = -1 };
static _Atomic int32_t children[CLINUX_CHILDREN_MOST];

// Held while a child's number is used that another thread may take the status of, and for all below.
static pthread_mutex_t orphans = PTHREAD_MUTEX_INITIALIZER;

// Supervisors that go on without being waited for.
static int32_t *holders;
static int holder_count, holder_room;

// Open as long as this process runs; -1: not yet.
static int life_reading = -1, life_writing = -1;

static _Atomic int32_t *reserve_slot(void) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++) {
        int32_t expected = 0;
        if (atomic_compare_exchange_strong(&children[index], &expected, RESERVED)) return &children[index];
    }
    return NULL;
}

static void free_slot(int32_t process) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++) {
        int32_t expected = process;
        if (atomic_compare_exchange_strong(&children[index], &expected, 0)) return;
    }
}

static bool is_supervisor(int32_t process) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++)
        if (atomic_load(&children[index]) == process) return true;
    for (int index = 0; index < holder_count; index++)
        if (holders[index] == process) return true;
    return false;
}

// Orphans: children of this process that it did not start. There are three kinds: processes that existed before, processes that
// others leave to PID 1, and those of a supervisor that was killed. Only the last kind is ended. Those are spared that existed
// when the last supervisor started or ended by itself, if no killed supervisor was waiting by then.
static int32_t *spared;
static int spared_count;
// A supervisor was killed, and not all that it held has ended yet.
static bool is_ending_orphans;
// Whether this process adopts orphans.
static bool is_adopting;

int clinux_orphans_adopt(void) {
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) return -errno;
    is_adopting = true;
    return 0;
}

// False without memory.
static bool append(int32_t process, int32_t **listed, int *count, int *room) {
    if (*count == *room) {
        int larger = *room ? 2 * *room : 64;
        int32_t *moved = realloc(*listed, (size_t)larger * sizeof **listed);
        if (!moved) return false;
        *listed = moved;
        *room = larger;
    }
    (*listed)[(*count)++] = process;
    return true;
}

// Adds the orphans among one thread's children; false if /proc does not tell them, or without memory.
static bool add_orphans(const char *thread, int32_t **listed, int *count, int *room) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.16s/children", thread);
    FILE *file = fopen(path, "re");
    // A thread that has just ended has none.
    if (!file) return errno == ENOENT;
    bool is_whole = true;
    for (int process; is_whole && fscanf(file, "%d", &process) == 1;) {
        if (is_supervisor(process)) continue;
        is_whole = append(process, listed, count, room);
    }
    fclose(file);
    return is_whole;
}

// The orphans in memory to be freed, and how many; -1 if /proc does not show them. The kernel makes them children of any thread,
// of the first one if that runs.
static int list_orphans(int32_t **listed) {
    *listed = NULL;
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return -1;
    int count = 0, room = 0;
    bool is_whole = true;
    for (struct dirent *thread; is_whole && (thread = readdir(threads));)
        if (thread->d_name[0] != '.') is_whole = add_orphans(thread->d_name, listed, &count, &room);
    closedir(threads);
    if (is_whole) return count;
    free(*listed);
    *listed = NULL;
    return -1;
}

static bool is_spared(int32_t process) {
    for (int index = 0; index < spared_count; index++)
        if (spared[index] == process) return true;
    return false;
}

// Its number may become another process's.
static void forget_spared(int32_t process) {
    for (int index = 0; index < spared_count; index++)
        if (spared[index] == process) spared[index] = spared[--spared_count];
}

static bool is_killed(int32_t supervisor) {
    siginfo_t info = {0};
    return supervisor > 0 && waitid(P_PID, (id_t)supervisor, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid &&
           info.si_code != CLD_EXITED;
}

// Whether a supervisor was killed whose status was not taken yet.
static bool is_any_killed(void) {
    for (int index = 0; index < CLINUX_CHILDREN_MOST; index++)
        if (is_killed(atomic_load(&children[index]))) return true;
    for (int index = 0; index < holder_count; index++)
        if (is_killed(holders[index])) return true;
    return false;
}

static void spare_orphans(void) {
    int32_t *listed = NULL;
    int count = !is_adopting || is_ending_orphans ? -1 : list_orphans(&listed);
    // After the list was read: none of it is of a supervisor that had been killed by then.
    if (count < 0 || is_any_killed()) {
        free(listed);
        return;
    }
    free(spared);
    spared = listed;
    spared_count = count;
}

// Kills the orphans that are not spared; false when there is none left. One that this process may not kill is left to
// itself.
static bool end_orphans(void) {
    int32_t *listed = NULL;
    int count = list_orphans(&listed);
    bool is_any_left = false;
    for (int index = 0; index < count; index++) {
        siginfo_t info = {0};
        if (is_spared(listed[index])) continue;
        if (waitid(P_PID, (id_t)listed[index], &info, WEXITED | WNOHANG) == 0 && info.si_pid) {
            // Its own children are orphans now.
            is_any_left = true;
            continue;
        }
        if (kill(listed[index], SIGKILL) == 0) is_any_left = true;
    }
    free(listed);
    is_ending_orphans = is_any_left;
    return is_any_left;
}

bool clinux_orphans_end(void) {
    pthread_mutex_lock(&orphans);
    bool is_any_left = is_ending_orphans && end_orphans();
    pthread_mutex_unlock(&orphans);
    return is_any_left;
}

// Takes the status of supervisors that have ended without being waited for.
static void reap_holders(void) {
    for (int index = holder_count - 1; index >= 0; index--) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)holders[index], &info, WEXITED | WNOHANG) == 0 && !info.si_pid) continue;
        if (info.si_pid && info.si_code != CLD_EXITED) is_ending_orphans = is_adopting;
        holders[index] = holders[--holder_count];
    }
}

bool clinux_child_abandon(int32_t process) {
    pthread_mutex_lock(&orphans);
    // Without memory it is an orphan.
    append(process, &holders, &holder_count, &holder_room);
    free_slot(process);
    // It may have ended meanwhile.
    reap_holders();
    bool is_any_left = is_ending_orphans;
    pthread_mutex_unlock(&orphans);
    return is_any_left;
}

bool clinux_stopped_holders_kill(void) {
    pthread_mutex_lock(&orphans);
    for (int index = 0; index < holder_count; index++) {
        if (!clinux_child_is_stopped(holders[index])) continue;
        kill(holders[index], SIGKILL);
        // It dies at once, and its processes become orphans by then.
        for (int rest = CLINUX_SUPERVISOR_KILL_TIMEOUT; rest > 0 && !is_killed(holders[index]); rest--) usleep(1000);
    }
    reap_holders();
    bool is_any_left = is_ending_orphans;
    pthread_mutex_unlock(&orphans);
    return is_any_left;
}

// Moves a descriptor above `highest`, so that it survives when others are moved to these numbers.
static int above(int descriptor, int highest) {
    if (descriptor < 0 || descriptor > highest) return descriptor;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, highest + 1);
    int error = errno;
    close(descriptor);
    errno = error;
    return moved;
}

// Moves both ends: 0, or -errno, and then both are closed.
static int move_above(int ends[2], int highest) {
    ends[0] = above(ends[0], highest);
    int error = ends[0] < 0 ? errno : 0;
    ends[1] = above(ends[1], highest);
    if (ends[1] < 0) error = errno;
    if (!error) return 0;
    if (ends[0] >= 0) close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    return -error;
}

// Opens the pipe by which supervisors see this process end: 0, or -errno.
static int open_life(void) {
    int ends[2];
    if (life_reading >= 0) return 0;
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    // Above the numbers that a supervisor has its own descriptors at.
    int error = move_above(ends, CLINUX_SUPERVISOR_LIFE);
    if (error) return error;
    life_reading = ends[0];
    life_writing = ends[1];
    return 0;
}

void clinux_children_release(void) {
    pthread_mutex_lock(&orphans);
    // No supervisor reads the byte: each only sees that there is one.
    if (life_writing >= 0)
        while (write(life_writing, "", 1) < 0 && errno == EINTR) {}
    pthread_mutex_unlock(&orphans);
}

// The child's work between vfork and exec, in its parent's memory: system calls only. Returns when one failed. Signals stay
// blocked, as the supervisor wants them.
static void become(char *const arguments[], char *const environment[], int input, int output, int control) {
    clinux_signals_default();
    if (setsid() < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return;
    if (dup2(control, CLINUX_SUPERVISOR_CONTROL) < 0 || fcntl(CLINUX_SUPERVISOR_CONTROL, F_SETFD, 0) < 0) return;
    if (dup2(life_reading, CLINUX_SUPERVISOR_LIFE) < 0) return;
    if (close_range(CLINUX_SUPERVISOR_LIFE + 1, ~0U, 0) < 0) return;
    // The file that runs, even if another one has its name by now; by its name if /proc is missing.
    execve("/proc/self/exe", arguments, environment);
    const char *name = (const char *)getauxval(AT_EXECFN);
    if (errno == ENOENT && name) execve(name, arguments, environment);
}

int clinux_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    // Of an open pipe this cannot fail.
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int error = move_above(ends, STDERR_FILENO);
    if (error) return error;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int clinux_stream_pair(int *one, int *other) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -errno;
    int error = move_above(ends, STDERR_FILENO);
    if (error) return error;
    *one = ends[0];
    *other = ends[1];
    return 0;
}

int clinux_child_start(char *const arguments[], char *const environment[], int input, int output, int control,
                       int32_t *process, int *pidfd) {
    input = input < 0 ? above(open("/dev/null", O_RDONLY | O_CLOEXEC), STDERR_FILENO) : fcntl(input, F_DUPFD_CLOEXEC, 3);
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
    pthread_mutex_lock(&orphans);
    spare_orphans();
    pid_t child = -1;
    int error = -open_life();
    if (!error) {
        child = vfork();
        if (child == 0) {
            atomic_store(slot, getpid());
            become(arguments, environment, input, output, control);
            failure = errno;
            _exit(127);
        }
        error = child < 0 ? errno : failure;
    }
    pthread_mutex_unlock(&orphans);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(input);
    if (child >= 0 && !error) {
        *process = child;
        // glibc has a function for it since 2.36; scripts/glibc-floor allows 2.34.
        *pidfd = (int)syscall(SYS_pidfd_open, child, 0);
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
    int error = 0;
    pthread_mutex_lock(&orphans);
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0) {
        error = errno;
        if (error != EINTR) break;
        error = 0;
    }
    if (!error && info.si_pid) {
        free_slot(process);
        *signalled = info.si_code != CLD_EXITED;
        *status = info.si_status;
        if (*signalled) is_ending_orphans = is_adopting;
        spare_orphans();
    }
    pthread_mutex_unlock(&orphans);
    if (error) return -error;
    return info.si_pid ? 0 : -EAGAIN;
}

bool clinux_child_is_stopped(int32_t process) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)process, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

int clinux_child_report(int control, struct clinux_report *report) {
    ssize_t count = recv(control, report, sizeof *report, MSG_DONTWAIT);
    if (count == sizeof *report) return 0;
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? -EAGAIN : -ENODATA;
}

// Whether it was an orphan, whose status no other code takes.
static bool reap_orphan(int32_t process) {
    siginfo_t info = {0};
    // Ended before the list is read: our own child has entered itself by then.
    if (waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return false;
    if (is_supervisor(process)) return false;
    forget_spared(process);
    return waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG) == 0;
}

static void reap_orphans(void) {
    reap_holders();
    siginfo_t info;
    do {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0) return;
    } while (reap_orphan(info.si_pid));
    // One whose status other code is about to take hides the others.
    int32_t *listed = NULL;
    int count = list_orphans(&listed);
    for (int index = 0; index < count; index++) reap_orphan(listed[index]);
    free(listed);
}

void clinux_orphans_reap(void) {
    pthread_mutex_lock(&orphans);
    reap_orphans();
    if (is_ending_orphans) end_orphans();
    pthread_mutex_unlock(&orphans);
}
