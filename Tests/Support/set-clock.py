"""set-clock.py: sets the machine's clock, one nanosecond ahead and back again. Whoever sleeps until a moment of that clock and
wants to know when it is set is woken by each, and nobody else notices. Needs CAP_SYS_TIME."""
import ctypes
import os
import struct
import sys

ADJ_SETOFFSET, ADJ_NANO = 0x0100, 0x2000
TIME_OFFSET, SIZE = 72, 208  # of `struct timex` on 64-bit Linux

libc = ctypes.CDLL(None, use_errno=True)
for seconds, nanoseconds in (0, 1), (-1, 999_999_999):
    adjustment = bytearray(SIZE)
    struct.pack_into("I", adjustment, 0, ADJ_SETOFFSET | ADJ_NANO)
    struct.pack_into("qq", adjustment, TIME_OFFSET, seconds, nanoseconds)
    if libc.adjtimex((ctypes.c_char * SIZE).from_buffer(adjustment)) < 0:
        sys.exit(f"cannot set the clock: {os.strerror(ctypes.get_errno())}")
