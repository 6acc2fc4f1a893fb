// The program that a supervisor runs, such as a hook: its process between vfork and execve.
#pragma once
#include <stdint.h>

// Starts arguments[0] in a session of its own, with no signal blocked. Returns its process, or -errno also when exec failed.
int32_t clinux_program_start(char *const arguments[], char *const environment[]);
