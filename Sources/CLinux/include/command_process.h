// A process of its own for a command.
#pragma once

// Carries a command out in a child. A thread that waits for a file system keeps its process from ending, whatever kills it
// (FUSE, once its program has read the request). The parent ends without it, so that no caller waits for the child.
//
// Returns in the child: a descriptor to which it writes its exit code, in one byte, when it ends. The parent ends as the child
// does, or with that code if the child has not ended then. -1: no process could be started, and this one is to do it.
// Only while there is one thread.
int clinux_command_begin(void);
