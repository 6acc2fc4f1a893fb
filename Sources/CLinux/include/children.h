// Starting a child and finding all that descends from it.
//
// Every child is marked with a hard limit on RLIMIT_RTTIME of its own, some number of centuries. Descendants inherit
// it through fork, exec, a new session, a cleared environment and a change of user; nobody can raise it again without
// a privilege, nobody has a reason to lower it, and /proc shows it to everyone.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Children that run at one time at most.
#define CLINUX_CHILDREN_MOST 256

// Starts arguments[0] in a session of its own with `input` as standard input (-1: /dev/null), `output` as standard
// output and error, no other descriptor, default signal dispositions and an empty mask. Returns 0, or -errno also when
// exec failed; -EAGAIN when CLINUX_CHILDREN_MOST run. The child is waited for by clinux_child_reap alone.
int clinux_child_start(char *const arguments[], char *const environment[], int input, int output, int32_t *process,
                       int *pidfd, uint64_t *mark);
// Takes the status of a child that has ended: *signalled and its exit code or signal number. -EAGAIN: it runs still.
int clinux_child_reap(int32_t process, int pidfd, int *signalled, int *status);
// Stops waiting for a child that cannot be ended: it is an orphan from now on.
void clinux_child_abandon(int32_t process);
int clinux_group_signal(int32_t process, int signal);

// Opens a pidfd on each living process that carries the mark and descends from the calling process, signals each
// (0: not), and returns how many; what does not fit into `capacity` is signalled too but not returned.
int clinux_marked_signal(uint64_t mark, int signal, int32_t *pidfds, int capacity);
// Takes the status of an ended descendant, where it is a child of the calling process by now.
void clinux_orphan_reap(int pidfd);
// Takes the status of every ended child that was not started by clinux_child_start.
void clinux_orphans_reap(void);

int clinux_pipe(int *reading, int *writing);
// Two ends of a Unix stream that block.
int clinux_stream_pair(int *one, int *other);
