// The command line of this program, as the kernel handed it over.
#pragma once

int clinux_argument_count(void);
// Of an index below the count.
const char *clinux_argument(int index);
