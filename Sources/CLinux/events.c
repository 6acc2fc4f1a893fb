#define _GNU_SOURCE
#include "events.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

// The numbers that Swift's Readiness and Inotify.Mask repeat.
_Static_assert(EPOLLIN == 0x1 && EPOLLOUT == 0x4 && EPOLLERR == 0x8 && EPOLLHUP == 0x10 &&
                   EPOLLONESHOT == 1u << 30,
               "Readiness");
_Static_assert(IN_MODIFY == 0x2 && IN_ATTRIB == 0x4 && IN_CLOSE_WRITE == 0x8 && IN_MOVED_FROM == 0x40 &&
                   IN_MOVED_TO == 0x80 && IN_CREATE == 0x100 && IN_DELETE == 0x200 && IN_DELETE_SELF == 0x400 &&
                   IN_MOVE_SELF == 0x800 && IN_UNMOUNT == 0x2000 && IN_Q_OVERFLOW == 0x4000 && IN_IGNORED == 0x8000 &&
                   IN_ONLYDIR == 0x1000000 && IN_EXCL_UNLINK == 0x4000000 &&
                   IN_ISDIR == 0x40000000 && IN_MASK_ADD == 0x20000000,
               "Inotify.Mask");
_Static_assert(sizeof(struct inotify_event) == 16, "Inotify.read");

static int result(int value) { return value < 0 ? -errno : value; }

int clinux_epoll_create(void) { return result(epoll_create1(EPOLL_CLOEXEC)); }

static int control(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event = {.events = events, .data.u64 = tag};
    return result(epoll_ctl(epoll, operation, descriptor, &event));
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t tag) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events, tag);
}

int clinux_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t tag) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events, tag);
}

int clinux_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int clinux_epoll_wait(int epoll, uint64_t *tags, uint32_t *events) {
    struct epoll_event batch[CLINUX_EPOLL_BATCH];
    int count;
    do count = epoll_wait(epoll, batch, CLINUX_EPOLL_BATCH, -1);
    while (count < 0 && errno == EINTR);
    for (int index = 0; index < count; index++) {
        tags[index] = batch[index].data.u64;
        events[index] = batch[index].events;
    }
    return result(count);
}

int clinux_wall_timer_create(void) {
    return result(timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

int clinux_wall_timer_arm(int timer, int64_t seconds) {
    struct itimerspec when = {.it_value.tv_sec = seconds};
    return result(timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL));
}

int clinux_boot_timer_create(void) {
    return result(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

int clinux_boot_timer_arm(int timer, int64_t nanoseconds) {
    struct itimerspec when = {.it_value.tv_sec = nanoseconds / 1000000000,
                              .it_value.tv_nsec = nanoseconds % 1000000000};
    return result(timerfd_settime(timer, 0, &when, NULL));
}

static struct timespec read_clock(clockid_t clock) {
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return now;
}

int64_t clinux_wall_milliseconds(void) {
    struct timespec now = read_clock(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clinux_boot_milliseconds(void) {
    struct timespec now = read_clock(CLOCK_BOOTTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clinux_monotonic_microseconds(void) {
    struct timespec now = read_clock(CLOCK_MONOTONIC);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int clinux_clock_synchronised(void) {
    struct timex state = {.modes = 0};
    if (adjtimex(&state) < 0) return -errno;
    return (state.status & STA_UNSYNC) == 0;
}

static void handled_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGCHLD);
}

// As the kernel takes it, because the C library's function leaves out the signals that the library keeps for itself.
static int dispose(int signal, void (*handler)(int)) {
    uintptr_t action[4] = {(uintptr_t)handler};
    return result((int)syscall(SYS_rt_sigaction, signal, action, NULL, sizeof(uint64_t)));
}

void clinux_signals_default(void) {
    for (int signal = 1; signal < NSIG; signal++) dispose(signal, SIG_DFL);
}

// Those that mean nothing to a daemon but would end it. The C library has a handler for SIGSETXID (33), which checks the sender.
static bool is_stray(int signal) {
    switch (signal) {
    case SIGUSR1: case SIGUSR2: case SIGPIPE: case SIGALRM: case SIGVTALRM: case SIGPROF: case SIGIO: case SIGPWR:
    case SIGSTKFLT: case SIGXFSZ: return true;
    default: return signal > SIGSYS && signal != 33;
    }
}

int clinux_signals_block(void) {
    sigset_t set;
    handled_signals(&set);
    for (int signal = 1; signal < NSIG; signal++)
        if (is_stray(signal)) dispose(signal, SIG_IGN);
    // An inherited "ignore" of SIGCHLD would make the kernel throw the status of every child away.
    int error = dispose(SIGCHLD, SIG_DFL);
    return error ? error : -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int clinux_signals_descriptor(void) {
    sigset_t set;
    handled_signals(&set);
    return result(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int clinux_signals_read(int descriptor, uint32_t *user) {
    struct signalfd_siginfo info;
    ssize_t count;
    do count = read(descriptor, &info, sizeof info);
    while (count < 0 && errno == EINTR);
    if (count < 0) return errno == EAGAIN ? 0 : -errno;
    // With any other code the sender may have written the user itself (rt_sigqueueinfo(2)).
    *user = info.ssi_code == SI_USER ? info.ssi_uid : UINT32_MAX;
    return (int)info.ssi_signo;
}

int clinux_event_counter_create(void) { return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int clinux_inotify_create(void) { return result(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)); }

int clinux_inotify_watch(int inotify, const char *path, uint32_t mask) {
    return result(inotify_add_watch(inotify, path, mask));
}

int clinux_inotify_unwatch(int inotify, int watch) { return result(inotify_rm_watch(inotify, watch)); }

int clinux_inotify_waiting(int inotify) {
    int count = 0;
    return ioctl(inotify, FIONREAD, &count) < 0 ? -errno : count;
}

int clinux_thread_start(void *(*body)(void *), void *context, size_t stack) {
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    int error = pthread_attr_init(&attributes);
    if (error) return -error;
    pthread_t thread;
    error = pthread_attr_setstacksize(&attributes, stack);
    if (!error) error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (!error) error = pthread_attr_setsigmask_np(&attributes, &all);
    if (!error) error = pthread_create(&thread, &attributes, body, context);
    pthread_attr_destroy(&attributes);
    // glibc reports EAGAIN without memory for the stack, too.
    if (error == EAGAIN) {
        void *memory = mmap(NULL, stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED) error = errno;
        else munmap(memory, stack);
    }
    return -error;
}

int clinux_forbid_inspection(void) {
    struct rlimit none = {0, 0};
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || setrlimit(RLIMIT_CORE, &none) < 0) return -errno;
    return 0;
}

int clinux_forbid_new_privileges(void) { return result(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); }

int64_t clinux_file_system_type(const char *path) {
    struct statfs system;
    if (statfs(path, &system) < 0) return -errno;
    return (int64_t)(uint32_t)system.f_type;
}
