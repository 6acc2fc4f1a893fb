/// The meaning of the kernel's error numbers, in plain words and without the C library.
package enum ErrorNumber {
    /// Words for the Linux numbers (asm-generic/errno.h) that file systems, sockets and exec return; else the number.
    package static func words(for number: Int32) -> String {
        known[number] ?? "errno \(number)"
    }

    /// Ends a call that was cancelled (`ECANCELED`).
    package static let cancelled: Int32 = 125

    /// What ends a call that took too long (`ETIMEDOUT`).
    package static let timedOut: Int32 = 110

    private static let known: [Int32: String] = [
        1: "not permitted", 2: "no such file or directory", 4: "interrupted", 5: "input/output error",
        6: "no such device or address", 7: "arguments too long", 8: "not a program that this machine can run",
        11: "temporarily unavailable", 12: "out of memory", 13: "permission denied", 16: "in use",
        17: "exists already", 18: "on another file system", 19: "no such device", 20: "not a directory",
        21: "a directory", 22: "invalid argument", 23: "too many files open on this machine", 24: "too many files open",
        26: "the program is being written", 27: "file too large", 28: "no space left", 30: "read-only file system",
        31: "too many links", 32: "the other side has closed", 36: "name too long", 38: "not supported by this kernel",
        39: "directory not empty", 40: "too many levels of links", 61: "no such attribute",
        75: "value too large", 88: "not a socket", 90: "message too long", 95: "not supported here",
        97: "address family not supported", 98: "address in use",
        99: "address not available", 101: "network unreachable", 104: "connection reset", 107: "not connected",
        110: "timed out", 111: "connection refused", 112: "host is down", 113: "no route to host",
        116: "stale file handle", 122: "disk quota exceeded", 125: "cancelled",
    ]
}
