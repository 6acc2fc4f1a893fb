// Starting a child under a supervisor, which ends all that descends from it.
//
// The supervisor is this program executed again, so that it holds none of this process's memory: a constructor recognises it by
// its first word. Orphans among the child's descendants become the supervisor's own children (PR_SET_CHILD_SUBREAPER), even if
// they changed their session, limits, user or visibility in /proc. It kills its children until it has none, and then no process
// is left.
//
// When the child ends by itself, the supervisor keeps the child's remaining processes until this process ends, however it does.
//
// A child can kill its supervisor, which is its own user's. Then this process, once it adopts orphans, ends the supervisor's
// processes. It could be killed as well, but under systemd the whole service ends with it.
#pragma once
#include "supervisor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Children that run at one time at most.
#define CLINUX_CHILDREN_MOST 256

// Executes this program again as a supervisor, in its own session, with default signal dispositions. Its standard input is
// `input` (-1: /dev/null), and its standard output and error are `output`. It also gets `control` and the pipe, but no other
// descriptor. `arguments` begin with CLINUX_SUPERVISOR. Returns 0, or -errno also when exec failed; -EAGAIN when
// CLINUX_CHILDREN_MOST run. Only clinux_child_reap waits for the supervisor.
int clinux_child_start(char *const arguments[], char *const environment[], int input, int output, int control,
                       int32_t *process, int *pidfd);
// Its report, if it has given one. -EAGAIN: nothing yet. -ENODATA: nothing, because it was asked to end everything, or was killed.
int clinux_child_report(int control, struct clinux_report *report);
// Takes the status of a supervisor that has ended: *signalled and its exit code or signal number. -EAGAIN: it runs still. After
// one that was killed call clinux_orphans_end until it returns false.
int clinux_child_reap(int32_t process, int pidfd, int *signalled, int *status);
// Whether a supervisor was stopped (SIGSTOP): it ends nothing then, and has to be killed.
bool clinux_child_is_stopped(int32_t process);
// Has the orphans among all descendants become children of this process: 0, or -errno. From then on it has to reap them. To
// be called before children and threads are started.
int clinux_orphans_adopt(void);
// Kills the processes of supervisors that were killed themselves: orphans that no program left running when it ended by itself.
// False when there is none left, or if /proc does not show them. clinux_orphans_reap does the same.
bool clinux_orphans_end(void);
// Stops waiting for a supervisor that continues: clinux_orphans_reap takes its status. True if that one, or another, turns out to
// have been killed: then call clinux_orphans_end until it returns false.
bool clinux_child_abandon(int32_t process);
// Kills the supervisors that go on and were stopped (SIGSTOP), which would not see this process end. True: then call
// clinux_orphans_end until it returns false.
bool clinux_stopped_holders_kill(void);
// Has the remaining processes of children go on when this process ends.
void clinux_children_release(void);
// Takes the status of every ended child that was not started by clinux_child_start, as PID 1 and a subreaper have to.
void clinux_orphans_reap(void);

int clinux_pipe(int *reading, int *writing);
// Two ends of a Unix stream that block.
int clinux_stream_pair(int *one, int *other);
