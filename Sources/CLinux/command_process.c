#define _GNU_SOURCE
#include "command_process.h"
#include "children.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// Milliseconds for a child that has announced its end: a process without a stuck thread needs one or two.
enum { PARTING = 500 };

// Ends this process as the child has ended.
static _Noreturn void end_like(int status) {
    if (WIFSIGNALED(status)) {
        sigset_t all;
        sigemptyset(&all);
        signal(WTERMSIG(status), SIG_DFL);
        sigprocmask(SIG_SETMASK, &all, NULL);
        raise(WTERMSIG(status));
        _exit(128 + WTERMSIG(status));
    }
    _exit(WEXITSTATUS(status));
}

static _Noreturn void follow(pid_t child, int reading) {
    struct pollfd end = {.fd = reading, .events = POLLIN};
    unsigned char code = 0;
    ssize_t count;
    do {
        while (poll(&end, 1, -1) < 0 && errno == EINTR) {}
        count = read(reading, &code, 1);
    } while (count < 0 && (errno == EINTR || errno == EAGAIN));
    int status = 0;
    if (count <= 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        end_like(status);
    }
    // The other end of the pipe closes with the child's last thread.
    poll(&end, 1, PARTING);
    if (waitpid(child, &status, WNOHANG) == child) end_like(status);
    _exit(code);
}

int clinux_command_begin(void) {
    int reading, writing;
    if (clinux_pipe(&reading, &writing) < 0) return -1;
    pid_t parent = getpid();
    pid_t child = fork();
    if (child > 0) {
        close(writing);
        follow(child, reading);
    }
    close(reading);
    if (child < 0) {
        close(writing);
        return -1;
    }
    // A signal that ends the parent is meant for the child.
    if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 || getppid() != parent) _exit(128 + SIGTERM);
    return writing;
}
