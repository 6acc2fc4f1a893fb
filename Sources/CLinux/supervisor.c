#define _GNU_SOURCE
#include "supervisor.h"
#include "events.h"
#include "supervised_program.h"
#include "termination_timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    // Between two rounds of killing, in milliseconds. The shortest pause catches a program that forks and ends all the time
    // before it has done so again. The longest avoids polling a process that does not respond.
    SHORTEST_PAUSE = 1,
    LONGEST_PAUSE = 1000,
    // Descendants that are asked to end, rather than just killed.
    ASKED_MOST = 512,
    // No process has a number above it (PID_MAX_LIMIT).
    HIGHEST_PROCESS = 4 * 1024 * 1024,
    // Children that are looked at in one round.
    CHILDREN_LISTED = 512,
};

// Children of this process, living or ended and not waited for: how many are stored, -errno if /proc does not show them. If
// there are more, only the first are stored.
static int list_children(int32_t listed[CHILDREN_LISTED]) {
    int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    // Numbers of up to seven digits, each with a blank behind it.
    char text[CHILDREN_LISTED * 8];
    ssize_t length = read(file, text, sizeof text);
    int error = errno;
    close(file);
    if (length < 0) return -error;
    int count = 0;
    int32_t number = 0;
    for (ssize_t index = 0; index < length && count < CHILDREN_LISTED; index++) {
        if (text[index] >= '0' && text[index] <= '9') {
            number = number * 10 + (text[index] - '0');
        } else if (number) {
            listed[count++] = number;
            number = 0;
        }
    }
    return count;
}

static void send_report(struct clinux_report report) {
    send(CLINUX_SUPERVISOR_CONTROL, &report, sizeof report, MSG_NOSIGNAL);
}

static _Noreturn void fail_to_start(int error) {
    send_report((struct clinux_report){.kind = CLINUX_REPORT_NOT_STARTED, .value = error});
    _exit(1);
}

// Takes the status of every child that has ended: false when no child is left, ended or running. Enters the end of the program
// into the report.
static bool reap(pid_t *program, struct clinux_report *report) {
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        if (info.si_pid == 0) return true;
        if (info.si_pid != *program) continue;
        *program = 0;
        report->kind = info.si_code == CLD_EXITED ? CLINUX_REPORT_EXITED : CLINUX_REPORT_SIGNALLED;
        report->value = info.si_status;
    }
}

// No other process takes the status of a child, so its number is its own until this process has.
static void kill_children(void) {
    int32_t listed[CHILDREN_LISTED];
    int count = list_children(listed);
    for (int index = 0; index < count; index++) kill(listed[index], SIGKILL);
    if (count >= 0) return;
    // Without /proc every number is tried: the kernel says of each whether it is a child.
    for (pid_t process = 2; process <= HIGHEST_PROCESS; process++)
        if (waitid(P_PID, (id_t)process, NULL, WEXITED | WNOHANG | WNOWAIT) == 0) kill(process, SIGKILL);
}

// Asks each process to end that became a child of this process since the last call. The program's own group was asked as a whole.
static void ask_children(pid_t group) {
    static int32_t asked[ASKED_MOST];
    static int asked_count;
    int32_t listed[CHILDREN_LISTED];
    int count = list_children(listed);
    for (int index = 0; index < count; index++) {
        bool is_asked = getpgid(listed[index]) == group;
        for (int other = 0; other < asked_count && !is_asked; other++) is_asked = asked[other] == listed[index];
        if (is_asked || asked_count == ASKED_MOST) continue;
        asked[asked_count++] = listed[index];
        kill(listed[index], SIGTERM);
    }
}

// Waits until a child ends, at most for this time.
static void wait_for_child(int ended, int64_t milliseconds) {
    struct pollfd child = {.fd = ended, .events = POLLIN};
    if (milliseconds > 0) poll(&child, 1, (int)milliseconds);
    struct signalfd_siginfo info;
    while (read(ended, &info, sizeof info) > 0) {}
}

// Ends all descendants, beginning with the group of a program that still runs: the number of one that has ended may be another
// process's.
static _Noreturn void end_all(pid_t program, int ended) {
    struct clinux_report unsent;
    pid_t group = program;
    int64_t deadline = clinux_monotonic_microseconds() / 1000 + CLINUX_GRACE;
    if (group) kill(-group, SIGTERM);
    for (int64_t left = CLINUX_GRACE; left > 0; left = deadline - clinux_monotonic_microseconds() / 1000) {
        if (!reap(&program, &unsent)) _exit(0);
        ask_children(group);
        wait_for_child(ended, left);
    }
    int pause = SHORTEST_PAUSE;
    while (reap(&program, &unsent)) {
        kill_children();
        wait_for_child(ended, pause);
        if (pause < LONGEST_PAUSE) pause *= 2;
    }
    _exit(0);
}

// Waits for one of these and for a child that ends. Returns the events of the first.
static short wait_for(int descriptor, int ended) {
    struct pollfd waited[] = {{.fd = descriptor, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
    if (poll(waited, 2, -1) < 0) return 0;
    if (!waited[0].revents) wait_for_child(ended, 0);
    return waited[0].revents;
}

// Holds the program's remaining processes, until the process ends that started this one.
static _Noreturn void hold(int ended) {
    struct clinux_report unsent;
    pid_t none = 0;
    while (reap(&none, &unsent)) {
        short seen = wait_for(CLINUX_SUPERVISOR_LIFE, ended);
        // It may go on.
        if (seen & POLLIN) break;
        if (seen) end_all(none, ended);
    }
    _exit(0);
}

void clinux_supervise(char *const arguments[], char *const environment[]) {
    sigset_t all, child;
    sigfillset(&all);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    int ended = -1;
    // The supervised processes run as its own user. None of them may inspect it, take its descriptors or stop it by any signal
    // but two.
    if (sigprocmask(SIG_SETMASK, &all, NULL) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || fcntl(CLINUX_SUPERVISOR_CONTROL, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl(CLINUX_SUPERVISOR_LIFE, F_SETFD, FD_CLOEXEC) < 0 ||
        (ended = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK)) < 0)
        fail_to_start(errno);
    prctl(PR_SET_NAME, "clientsecretd", 0, 0, 0);
    pid_t program = clinux_program_start(arguments, environment);
    if (program < 0) fail_to_start(-program);
    // Only the program has these from now on, so that the other side sees when it closes its standard input.
    close_range(0, 2, 0);
    struct clinux_report report = {0};
    while (program) {
        if (wait_for(CLINUX_SUPERVISOR_CONTROL, ended)) end_all(program, ended);
        report.is_holding = reap(&program, &report);
    }
    send_report(report);
    if (!report.is_holding) _exit(0);
    hold(ended);
}
