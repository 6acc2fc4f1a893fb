// How long a hook, or another program that the daemon runs, may take to end after the request, in milliseconds.
#pragma once

enum {
    // From SIGTERM to SIGKILL.
    CLINUX_GRACE = 2000,
    // For a supervisor to end all processes: part of it for them to clean up, the rest to end. After that the caller continues
    // without them: a process that is stuck in the kernel never dies.
    CLINUX_END_TIMEOUT = CLINUX_GRACE + 5000,
    // For processes that were sent SIGKILL.
    CLINUX_KILL_TIMEOUT = 7000,
    // For one supervisor that was sent SIGKILL, while others wait.
    CLINUX_SUPERVISOR_KILL_TIMEOUT = 500,
};
