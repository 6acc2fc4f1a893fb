import CLinux

/// The running program.
package enum OwnProgram {
    /// Its command line, beginning with the program's name; empty if the kernel was given none.
    ///
    /// `CommandLine.arguments` is empty after a preloaded library has changed the environment, and without /proc.
    package static var arguments: [String] {
        (0..<clinux_argument_count()).map { index in
            unsafe clinux_argument(index).map { unsafe String(cString: $0) } ?? ""
        }
    }

    /// Its file's path, as the kernel reports it (`/proc/self/exe`): followed by ` (deleted)` if the file has been
    /// replaced; nil if /proc is not mounted.
    package static func path() -> String? { ForeignFile.linkAtOnce("/proc/self/exe") }
}
