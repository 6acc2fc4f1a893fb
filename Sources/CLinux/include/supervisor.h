// The process between this one and a child: it runs the child's program and ends all that descends from it (children.h).
#pragma once
#include <stdbool.h>
#include <stdint.h>

// The first word of a supervisor's command line, before those of the program that it runs.
#define CLINUX_SUPERVISOR "clientsecretd-supervisor"
// Its end of the stream on which it reports. That the stream has ended at the other end, also because that process was
// killed, tells it to end everything.
#define CLINUX_SUPERVISOR_CONTROL 3
// The reading end of a pipe that all supervisors share and this process holds open as long as it runs.
#define CLINUX_SUPERVISOR_LIFE 4

// A supervisor's report, given once. The program could not be started (errno), or it ended by itself (its exit code, or the
// number of the signal).
#define CLINUX_REPORT_NOT_STARTED 0
#define CLINUX_REPORT_EXITED 1
#define CLINUX_REPORT_SIGNALLED 2
struct clinux_report {
    int32_t kind, value;
    // Whether the supervisor continues, because the program has left something running.
    bool is_holding;
};

// Is the supervisor: runs arguments[0], reports, and does not return.
_Noreturn void clinux_supervise(char *const arguments[], char *const environment[]);
