#define _GNU_SOURCE
#include "supervised_program.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

// Nothing but system calls: the child lives in its parent's memory. Returns when one failed.
static void become_program(char *const arguments[], char *const environment[]) {
    sigset_t none;
    sigemptyset(&none);
    // Not to run on without a supervisor that was killed.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || setsid() < 0) return;
    // The daemon's working directory may be one that the program's user may not look into.
    if (chdir("/") < 0) return;
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) return;
    execve(arguments[0], arguments, environment);
}

int32_t clinux_program_start(char *const arguments[], char *const environment[]) {
    volatile int failure = 0;
    pid_t program = vfork();
    if (program == 0) {
        become_program(arguments, environment);
        failure = errno;
        _exit(127);
    }
    if (program < 0) return -errno;
    return failure ? -failure : program;
}
