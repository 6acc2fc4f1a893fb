// Functions of the event loop and workers that Swift does not import.
//
// Scalars only: a C struct that two modules see belongs to the first of them. Every function that can fail returns
// -errno.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Event loop. Waiting has no timeout: timers are descriptors. Interrupted waits are taken up again.
int clinux_epoll_create(void);
int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t tag);
int clinux_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t tag);
int clinux_epoll_remove(int epoll, int descriptor);
// Fills both arrays, of CLINUX_EPOLL_BATCH elements each, and returns how many.
#define CLINUX_EPOLL_BATCH 32
int clinux_epoll_wait(int epoll, uint64_t *tags, uint32_t *events);

// Timers.
int clinux_wall_timer_create(void);
// Absolute; cancelled when the clock is set. -ECANCELED: it was set before this call, and the timer is armed.
int clinux_wall_timer_arm(int timer, int64_t seconds);
int clinux_boot_timer_create(void);
// Relative; 0 disarms.
int clinux_boot_timer_arm(int timer, int64_t nanoseconds);

// Clocks.
int64_t clinux_wall_milliseconds(void);
int64_t clinux_boot_milliseconds(void);
int64_t clinux_monotonic_microseconds(void);
// 1, 0, or -errno if the kernel may not be asked.
int clinux_clock_synchronised(void);

// Signals.
// Blocks those that the descriptor tells, and has stray ones ignored.
int clinux_signals_block(void);
// Gives every signal its default action again, with system calls only.
void clinux_signals_default(void);
int clinux_signals_descriptor(void);
// The next signal's number, or 0 when none waits, and the real user of the process that sent it. That is UINT32_MAX if the kernel
// does not vouch for it.
int clinux_signals_read(int descriptor, uint32_t *user);

// Counters and notices.
int clinux_event_counter_create(void);
int clinux_inotify_create(void);
int clinux_inotify_watch(int inotify, const char *path, uint32_t mask);
int clinux_inotify_unwatch(int inotify, int watch);
// How many bytes of notices wait.
int clinux_inotify_waiting(int inotify);

// A detached thread with every signal blocked. The result of `body` is ignored. -EAGAIN: a limit on threads was reached;
// -ENOMEM: there is no memory for the stack.
int clinux_thread_start(void *(*body)(void *), void *context, size_t stack);

// Hardening of the calling process.
int clinux_forbid_inspection(void);
int clinux_forbid_new_privileges(void);
// The number of the file system that path is on, as in statfs(2).
int64_t clinux_file_system_type(const char *path);
