internal import Glibc

/// Standard input, output and error.
package enum StandardDescriptors {
    /// Keeps the numbers of closed standard descriptors from being given to files that are opened later. Otherwise text for a
    /// reader would be written into those files. Reading and writing fail as on closed ones. Once, before anything is opened.
    package static func reserve() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is taken.
            _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
