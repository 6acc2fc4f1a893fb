#include "arguments.h"
#include "supervisor.h"

#include <string.h>

static int count;
static char **words;

// The C library calls this before main. The Swift runtime looks for the command line on the stack with the help of /proc. It
// finds none if /proc is not mounted, or after a preloaded library has changed the environment (swiftlang/swift#76080).
__attribute__((constructor)) static void begin(int argument_count, char **arguments, char **environment) {
    count = argument_count;
    words = arguments;
    if (count > 1 && strcmp(words[0], CLINUX_SUPERVISOR) == 0) clinux_supervise(words + 1, environment);
}

int clinux_argument_count(void) { return count; }

const char *clinux_argument(int index) { return words[index]; }
